"""The uses that statements refuse or allow, and the words that name them."""

from __future__ import annotations

import re

Uses = frozenset[str]
USES = ("train", "generate", "input", "search")
"""Training of models; of models that generate; input of models that answer; an index for search."""
NONE, ALL = Uses(), Uses(USES)
TRAIN, GENERATE, INPUT, SEARCH = (Uses([name]) for name in USES)
TRAINING, AI = TRAIN | GENERATE, ALL - SEARCH
KEYS: dict[str, Uses] = {
    "train-ai": TRAINING,
    "ai-train": TRAINING,
    "train-genai": GENERATE,
    "ai-use": INPUT,
    "ai-input": INPUT,
    "ai-output": INPUT,
    "ai-index": INPUT,
    "genai": INPUT | GENERATE,
    "search": SEARCH,
    "ai": AI,
    "ai-all": AI,
    "tdm": ALL,
    "bots": ALL,
    "all": ALL,
    "*": ALL,
}
"""Label → uses: aipref (also of earlier drafts), content signals, RSL."""
_TRAINING = re.compile(r"train|mining|(?:^|[-.])(?:ai|ml|llms?|tdm|genai)(?:$|[-.])")


def names_training(label: str) -> bool:
    """Return whether an unknown label seems to be about training; a refusal of it counts."""
    return _TRAINING.search(label) is not None
