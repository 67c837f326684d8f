"""Hallucinated objects: named by a caption, but neither in its references nor among its image's labels.

Source: CC §5.3 and §5.4.2. Rates are those of CHAIR (Rohrbach et al. 2018, section 2.1), the share of named objects and the share
of captions, but this is not CHAIR: CHAIR knows 80 kinds of objects and uses human segmentations; here any noun counts, and the
evidence is what references and a classifier name. So objects that are present but unnamed count as hallucinated, and with
references alone rates rise as their number falls. ``counterparts.py`` has the rules for one noun. English.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from components.metrics.counterparts import Counterpart, Evidence, Mention, find_counterpart, find_mentions, gather_evidence
from components.metrics.lexicon import Lexicon
from components.metrics.parses import Sentence


@dataclass(frozen=True)
class JudgedCaption:
    """One caption's objects in order."""

    caption: str
    mentions: Sequence[tuple[Mention, Counterpart | None]]
    """Each with its counterpart; None: it is hallucinated."""

    @property
    def hallucinated(self) -> tuple[Mention, ...]:
        """The objects without a counterpart."""
        return tuple(mention for mention, counterpart in self.mentions if counterpart is None)


@dataclass(frozen=True)
class Rates:
    """Rates over judged captions."""

    named: int
    """Number of objects named."""
    hallucinated: int
    object_rate: float | None
    """Hallucinated objects divided by all named (CHAIR_i); None if no object was named."""
    caption_rate: float | None
    """Share of captions with a hallucinated object (CHAIR_s); None without captions."""
    words: Sequence[tuple[str, int]]
    """Hallucinated lemmas with counts, most frequent first, ties in alphabetical order."""


def find_hallucinations(
    candidates: Sequence[str],
    references: Sequence[Sequence[str]],
    labels: Sequence[Sequence[str]],
    parses: Mapping[str, Sentence],
    lexicon: Lexicon | None = None,
) -> list[JudgedCaption]:
    """Judge every object that the candidates name.

    Args:
        candidates: one caption an item.
        references: of each item; may be empty if there are labels. People are judged only with references, since ImageNet's
            labels have none.
        labels: a classifier's labels for the item's image, all names of each label; may be empty.
        parses: of candidates and references.
        lexicon: source of synonyms and hypernyms; None: equal lemmas only, so more is hallucinated.

    Raises:
        ValueError: lengths differ, or an item has neither reference nor label.
    """
    if not len(candidates) == len(references) == len(labels):
        raise ValueError("candidates, references and labels must have the same length")
    if not all(item_references or item_labels for item_references, item_labels in zip(references, labels, strict=True)):
        raise ValueError("an item has neither references nor labels")
    items = []
    for candidate, item_references, item_labels in zip(candidates, references, labels, strict=True):
        evidence = gather_evidence([parses[reference] for reference in item_references], item_labels, lexicon)
        items.append(judge_caption(candidate, find_mentions(parses[candidate], lexicon), evidence, lexicon))
    return items


def hallucination_rates(captions: Sequence[tuple[int, Sequence[str]]]) -> Rates:
    """Return the rates of captions, given as the number of objects named and the hallucinated lemmas."""
    named, words = sum(number for number, _ in captions), Counter(lemma for _, lemmas in captions for lemma in lemmas)
    return Rates(
        named,
        words.total(),
        words.total() / named if named else None,
        sum(bool(lemmas) for _, lemmas in captions) / len(captions) if captions else None,
        sorted(words.items(), key=lambda pair: (-pair[1], pair[0])),
    )


def judge_caption(caption: str, named: Sequence[Mention], evidence: Evidence, lexicon: Lexicon | None) -> JudgedCaption:
    """Judge one caption's objects against its image's evidence."""
    judged: list[tuple[Mention, Counterpart | None]] = []
    spent: set[str] = set()
    named = [mention for mention in named if evidence.covers_people or not mention.person]
    # Equal lemmas are matched first, so that "actor" matches the actor and not another person.
    for mention in sorted(named, key=lambda mention: mention.lemma not in evidence.lemmas):
        match = find_counterpart(mention, evidence, lexicon, frozenset(spent))
        if match is not None and mention.person:
            spent.add(match.word)
        judged.append((mention, match))
    return JudgedCaption(caption, sorted(judged, key=lambda item: item[0].start))
