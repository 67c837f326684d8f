"""Objects that a caption names and neither its references nor its picture's labels show: hallucinated ones.

Source: Conceptual Captions, sections 5.3 and 5.4.2. Rates are formed as CHAIR's are (Rohrbach et al. 2018, section 2.1), the
share of named objects and the share of captions, but this is not CHAIR: that knows 80 kinds of objects and takes what a picture
holds from people's outlines; here any noun counts, and what a picture holds is what somebody or a classifier said of it. So what
is there, but was told by nobody, counts as hallucinated; references alone make figures higher the fewer there are.
Rules for one noun are in ``counterparts.py``. English.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from components.metrics.counterparts import Counterpart, Evidence, find_counterpart, gather_evidence
from components.metrics.lexicon import Lexicon
from components.metrics.mentions import Mention, find_mentions
from components.metrics.parses import Parses


@dataclass(frozen=True)
class JudgedMention:
    """An object as a caption names it, and what stands for it."""

    mention: Mention
    counterpart: Counterpart | None
    """None = hallucinated."""

    @property
    def hallucinated(self) -> bool:
        """Whether nothing stands for it."""
        return self.counterpart is None


@dataclass(frozen=True)
class JudgedCaption:
    """One caption's objects in their order, with their places in it (``mention.start``, ``mention.end``)."""

    caption: str
    mentions: Sequence[JudgedMention]

    @property
    def hallucinated(self) -> tuple[Mention, ...]:
        """The objects that nothing stands for."""
        return tuple(judged.mention for judged in self.mentions if judged.hallucinated)


@dataclass(frozen=True)
class Rates:
    """Of judged captions."""

    named: int
    """Objects named."""
    hallucinated: int
    object_rate: float | None
    """Hallucinated of all objects named (as CHAIR_i); None where no object was named."""
    caption_rate: float | None
    """Captions with a hallucinated object, of all captions (as CHAIR_s); None without captions."""
    words: Sequence[tuple[str, int]]
    """Hallucinated lemmas with their number, most frequent first, equal ones in the alphabet's order."""


@dataclass(frozen=True)
class Hallucinations:
    """Every caption judged, and the rates, or why there are none."""

    items: Sequence[JudgedCaption]
    object_rate: float | None
    """Hallucinated of all objects named (as CHAIR_i); None where no object was named or nothing was judged."""
    caption_rate: float | None
    """Captions with a hallucinated object, of all captions (as CHAIR_s); None where nothing was judged."""
    words: Sequence[tuple[str, int]]
    """Hallucinated lemmas with their number, most frequent first, equal ones in the alphabet's order."""
    synonyms: bool
    """Whether a dictionary told synonyms and kinds; without one only equal lemmas stand for each other, and rates are higher."""
    reason: str = ""
    """Why nothing was judged; empty when it was."""


def find_hallucinations(
    candidates: Sequence[str],
    references: Sequence[Sequence[str]],
    labels: Sequence[Sequence[str]],
    parses: Parses,
    lexicon: Lexicon | None = None,
) -> Hallucinations:
    """Judge every object that the candidates name.

    Args:
        candidates: one caption an item.
        references: its references; none are allowed where there are labels. People are judged only where there are some:
            ImageNet's labels know none.
        labels: names of what a classifier sees in the item's picture, all names of a label; may be empty.
        parses: of candidates and references; where there are none (another language than English) nothing is judged.
        lexicon: tells synonyms and kinds; None = equal lemmas only.

    Raises:
        ValueError: the three differ in length, an item has neither reference nor label, or a caption was not parsed.
    """
    if not len(candidates) == len(references) == len(labels):
        raise ValueError("references and labels of each candidate are needed, and their numbers differ")
    if not all(known or seen for known, seen in zip(references, labels, strict=True)):
        raise ValueError("an item with neither references nor labels has nothing to be held to")
    if parses.sentences is None:
        return Hallucinations((), None, None, (), lexicon is not None, parses.reason)
    items = []
    for candidate, known, seen in zip(candidates, references, labels, strict=True):
        evidence = gather_evidence([parses[reference] for reference in known], seen, lexicon)
        items.append(judge_caption(candidate, find_mentions(parses[candidate], lexicon), evidence, lexicon))
    found = hallucination_rates([(len(item.mentions), [mention.lemma for mention in item.hallucinated]) for item in items])
    reason = "" if items else "no captions"
    return Hallucinations(items, found.object_rate, found.caption_rate, found.words, lexicon is not None, reason)


def hallucination_rates(captions: Sequence[tuple[int, Sequence[str]]]) -> Rates:
    """Sum up captions, of each of which is given how many objects it names, and the lemmas of the hallucinated ones."""
    named, words = sum(number for number, _ in captions), Counter(lemma for _, gone in captions for lemma in gone)
    return Rates(
        named,
        words.total(),
        words.total() / named if named else None,
        sum(bool(gone) for _, gone in captions) / len(captions) if captions else None,
        sorted(words.items(), key=lambda pair: (-pair[1], pair[0])),
    )


def judge_caption(caption: str, named: Sequence[Mention], evidence: Evidence, lexicon: Lexicon | None) -> JudgedCaption:
    """One caption's objects against what is known of its picture."""
    judged: list[JudgedMention] = []
    spent: set[str] = set()
    named = [mention for mention in named if evidence.tells_of_people or not mention.person]
    # Who is named in the same words comes first, so that "actor" stands for the actor and not for his wife.
    for mention in sorted(named, key=lambda mention: mention.lemma not in evidence.lemmas):
        found = find_counterpart(mention, evidence, lexicon, frozenset(spent))
        if found is not None and mention.person:
            spent.add(found.word)
        judged.append(JudgedMention(mention, found))
    return JudgedCaption(caption, sorted(judged, key=lambda one: one.mention.start))
