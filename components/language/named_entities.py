"""Named entities of a text by a token-classification model of a hub, and the kinds that its labels mean.

A word has the label of its first token, as such models are trained (Devlin et al. 2019, §5.3). Labels are CoNLL's (PER, LOC, ORG,
MISC) or OntoNotes', with or without the prefixes of BIO and BIOES.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.hub.chosen import ChosenModel
from components.hub.loading import load_model, load_part

PLACES = frozenset({"GPE", "LOC", "FAC"})
OTHERS = frozenset({"NORP", "EVENT", "WORK_OF_ART", "PRODUCT", "LAW"})
KINDS = {
    **dict.fromkeys(("PER", "PERSON"), frozenset({"PERSON"})),
    **dict.fromkeys(("ORG", "ORGANIZATION"), frozenset({"ORG"})),
    **dict.fromkeys(("LOCATION", *PLACES), PLACES),
    **{kind: frozenset({kind}) for kind in OTHERS},
    "MISC": OTHERS,
}
"""Label of a model → the OntoNotes types of names that it may mean; places are not told apart."""

Named = tuple[int, int, str, float]
"""Characters ``start`` to ``end`` (exclusive), the label without its prefix, and its probability."""


class NamedEntities:
    """Annotator: text → its names as :data:`Named`, in order."""

    name = "names.hub"
    version = 1
    codec = "json"

    def __init__(self, project: Path, chosen: ChosenModel) -> None:
        self.project, self.chosen, self.model = project, chosen, chosen.identity

    def compute(self, payload: str) -> list[Named]:
        """Return the names of one text; raise HearsightError if the model cannot be used."""
        return self.compute_many([payload])[0]

    def compute_many(self, payloads: Sequence[str]) -> list[list[Named]]:
        """Return the names of each text, in batches as the settings say; raises as :meth:`compute`."""
        import torch  # here: slow to load

        torch.set_num_threads(1)
        network, tokenizer, longest = _loaded(self.project, self.chosen)
        labels, found = network.config.id2label, []
        for start in range(0, len(payloads), self.chosen.batch):
            texts = list(payloads[start : start + self.chosen.batch])
            tokens = tokenizer(
                texts, padding=True, truncation=True, max_length=longest, return_offsets_mapping=True, return_tensors="pt"
            )
            offsets = tokens.pop("offset_mapping").tolist()
            with torch.inference_mode():
                scores, best = network(**tokens.to(network.device)).logits.softmax(-1).max(-1)
            for at, text in enumerate(texts):
                words = _words(text, tokens.word_ids(at), offsets[at])
                found.append(
                    _join(text, [(*span, labels[int(best[at, token])], float(scores[at, token])) for token, span in words])
                )
        return found


def _words(text: str, word_ids: Sequence[int | None], offsets: Sequence[Sequence[int]]) -> list[tuple[int, tuple[int, int]]]:
    """Return the first token and the characters of each word, without the space that some tokenizers count to it."""
    words: dict[int, tuple[int, tuple[int, int]]] = {}
    for token, (word, (start, end)) in enumerate(zip(word_ids, offsets, strict=True)):
        if word is not None:
            first, (begin, _) = words.get(word, (token, (start, end)))
            words[word] = (first, (begin, end))
    trimmed = ((token, (end - len(text[start:end].lstrip()), end)) for token, (start, end) in words.values())
    return [(token, (start, end)) for token, (start, end) in trimmed if start < end]


def _join(text: str, words: Sequence[tuple[int, int, str, float]]) -> list[Named]:
    """Return the names of labelled words: neighbours of one kind are one name, unless a prefix says that another begins."""
    names: list[list[Any]] = []
    open_kind = ""
    for start, end, label, score in words:
        prefix, _, kind = label.rpartition("-")
        kind = "" if kind == "O" else kind
        if kind and kind == open_kind and prefix not in ("B", "S", "U"):
            names[-1][1], names[-1][3] = end, min(names[-1][3], score)
        elif kind:
            names.append([start, end, kind, score])
        open_kind = kind
    return [(start, end, kind, round(score, 4)) for start, end, kind, score in names]


@lru_cache(maxsize=1)
def _loaded(project: Path, chosen: ChosenModel) -> tuple[Any, Any, int]:
    """Return network, tokenizer and the most tokens of a text."""
    found = chosen.find(project)
    network = load_model(found, "AutoModelForTokenClassification", chosen.device)
    labels = {label.rpartition("-")[2].upper() for label in network.config.id2label.values()}
    if not labels & KINDS.keys():
        hint = "name a model that was trained for named entities; its labels are PER, LOC, ORG, … or those of OntoNotes"
        raise HearsightError(f"knows no kind of name, only {', '.join(sorted(labels))[:80]}", where=chosen.model, hint=hint)
    tokenizer = load_part(found, "AutoTokenizer")
    return network, tokenizer, min(tokenizer.model_max_length, getattr(network.config, "max_position_embeddings", 512))
