"""WordNet 3.0's nouns, read from Princeton's files (``data.noun``, ``index.noun``, ``noun.exc``, ``index.verb``, ``data.verb``).

No PyPI package contains the dictionary, so it comes from Debian's ``wordnet-base``, which ``make data`` unpacks; tests read a
small extract. A synset's number is the first field of its line and its ImageNet id without the ``n``. Lines are looked up by
that number, so an extract works like the whole. Of verbs only the words and the categories of their meanings are read.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from components.core.addresses import installed_file
from components.core.errors import HearsightError

PLACE = Path("data/packages/unpacked/wordnet-base/usr/share/wordnet")
"""Where ``make data`` unpacks the dictionary, under the project's root."""
VARIABLE = "HEARSIGHT_WORDNET"
"""Environment variable that names another folder."""
_PLURALS = (
    ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man"), ("ies", "y"), ("s", ""),
)  # fmt: skip
"""Ending of a plural → that of its singular."""
_CATEGORIES = (
    "adj.all adj.pert adv.all noun.Tops noun.act noun.animal noun.artifact noun.attribute noun.body noun.cognition"
    " noun.communication noun.event noun.feeling noun.food noun.group noun.location noun.motive noun.object noun.person"
    " noun.phenomenon noun.plant noun.possession noun.process noun.quantity noun.relation noun.shape noun.state noun.substance"
    " noun.time verb.body verb.change verb.cognition verb.communication verb.competition verb.consumption verb.contact"
    " verb.creation verb.emotion verb.motion verb.perception verb.possession verb.social verb.stative verb.weather adj.ppl"
)
CATEGORIES = _CATEGORIES.split()
"""Names of the lexicographer files, by their numbers (WordNet's lexnames(5WN))."""


@dataclass(frozen=True)
class Synset:
    """One meaning of a noun: its number, lemmas (spaces, not underscores), and its hypernyms' numbers."""

    number: int
    lemmas: tuple[str, ...]
    hypernyms: tuple[int, ...]
    instance_of: tuple[int, ...]
    category: str
    """Name of its lexicographer file: "noun.animal"."""


class WordNet:
    """The nouns of one dictionary folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            self._lines = {line[:8]: line for line in _lines(folder / "data.noun")}
            self._index = dict(line.split(" ", 1) for line in _lines(folder / "index.noun"))
            self._verbs = dict(line.split(" ", 1) for line in _lines(folder / "index.verb"))
            self._irregular = dict(line.split()[:2] for line in _lines(folder / "noun.exc"))
        except (OSError, UnicodeDecodeError, ValueError) as error:
            raise unreadable(error, folder) from None

    @cached_property
    def _verb_categories(self) -> dict[str, str]:
        """Number of a verb's meaning → its category; read when first needed, since only the score of description does."""
        try:
            return {line[:8]: CATEGORIES[int(line[9:11])] for line in _lines(self.folder / "data.verb")}
        except (OSError, UnicodeDecodeError, ValueError, IndexError) as error:
            raise unreadable(error, self.folder) from None

    @lru_cache(maxsize=16384)  # noqa: B019 - one dictionary lives as long as the process
    def synset(self, number: int) -> Synset | None:
        """Return the synset of that number, or None."""
        line = self._lines.get(f"{number:08d}")
        if line is None:
            return None
        parts = line.split(" | ", 1)[0].split()
        count = int(parts[3], 16)
        lemmas = tuple(parts[4 + 2 * place].replace("_", " ") for place in range(count))
        at = 4 + 2 * count
        pointers = [parts[at + 1 + 4 * place : at + 5 + 4 * place] for place in range(int(parts[at]))]
        return Synset(
            number,
            lemmas,
            tuple(int(target) for symbol, target, pos, _ in pointers if symbol == "@" and pos == "n"),
            tuple(int(target) for symbol, target, pos, _ in pointers if symbol == "@i" and pos == "n"),
            CATEGORIES[int(parts[1])],
        )

    def senses(self, noun: str) -> list[Synset]:
        """Return the meanings of a noun or noun phrase, most frequent first; plurals are reduced to singulars."""
        return list(self._senses(noun))

    @lru_cache(maxsize=65536)  # noqa: B019
    def _senses(self, noun: str) -> tuple[Synset, ...]:
        for form in self._forms(noun.strip().lower().replace(" ", "_")):
            entry = self._index.get(form)
            if entry is not None:
                parts = entry.split()
                numbers = [int(part) for part in parts[-int(parts[1]) :]]
                return tuple(synset for synset in map(self.synset, numbers) if synset is not None)
        return ()

    def knows_noun(self, word: str) -> bool:
        """Return whether the word (or its singular) is a noun."""
        return any(form in self._index for form in self._forms(word.strip().lower().replace(" ", "_")))

    def knows_verb(self, word: str) -> bool:
        """Return whether the word, as it stands, is the base form of a verb."""
        return word.lower() in self._verbs

    @lru_cache(maxsize=16384)  # noqa: B019
    def noun_category(self, noun: str) -> str:
        """Return the category of a noun's most frequent meaning ("noun.artifact"); "" for an unknown noun or a name.

        WordNet files its topmost nouns apart; those that name a category ("person", "animal") have that one.
        """
        first = next(iter(self.senses(noun)), None)
        if first is None or first.instance_of:
            return ""
        named = f"noun.{first.lemmas[0]}"
        return named if first.category == "noun.Tops" and named in CATEGORIES else first.category

    @lru_cache(maxsize=16384)  # noqa: B019
    def verb_category(self, verb: str) -> str:
        """Return the category of the most frequent meaning of a verb's base form ("verb.motion"); "" for an unknown verb."""
        entry = self._verbs.get(verb.lower(), "").split()
        return self._verb_categories.get(entry[-int(entry[1])], "") if entry else ""

    def ancestors(self, synset: Synset) -> list[Synset]:
        """Return all hypernyms of a synset, nearest first, each once; an instance's class counts as its hypernym."""
        found: dict[int, Synset] = {}
        row = [synset]
        while row:
            above = [self.synset(n) for item in row for n in (*item.hypernyms, *item.instance_of)]
            row = [item for item in above if item is not None and item.number not in found]
            found.update((item.number, item) for item in row)
        return list(found.values())

    @lru_cache(maxsize=65536)  # noqa: B019
    def depth(self, number: int) -> int:
        """Return the steps from a meaning to the root, by the shortest path."""
        synset, steps = self.synset(number), 0
        row = [synset] if synset is not None else []
        while row:
            if any(not item.hypernyms for item in row):
                return steps
            above = {number: self.synset(number) for item in row for number in item.hypernyms}
            row, steps = [item for item in above.values() if item is not None], steps + 1
        return steps

    @lru_cache(maxsize=65536)  # noqa: B019
    def is_a(self, synset: Synset, kinds: frozenset[int]) -> bool:
        """Return whether a meaning is one of ``kinds`` or lies below one."""
        return synset.number in kinds or any(item.number in kinds for item in self.ancestors(synset))

    def _forms(self, word: str) -> list[str]:
        forms = [word]
        if word in self._irregular:
            forms.append(self._irregular[word])
        for ending, instead in _PLURALS:
            if word.endswith(ending) and len(word) > len(ending) + 1:
                forms.append(word[: -len(ending)] + instead)
        return forms


def unreadable(error: Exception, folder: Path | str) -> HearsightError:
    """Return the error for a dictionary that is missing or damaged."""
    return HearsightError(
        f"the WordNet dictionary cannot be read ({error})",
        where=folder,
        hint=f"run `make data`, or let {VARIABLE} name a folder with WordNet 3.0's files",
    )


def _lines(path: Path) -> list[str]:
    with path.open(encoding="utf-8") as file:
        return [line for line in file if not line.startswith("  ")]


@lru_cache(maxsize=4)
def _load(folder: str) -> WordNet:
    return WordNet(Path(folder))


def wordnet_folder(root: Path | None = None) -> Path:
    """Return the dictionary's folder: ``HEARSIGHT_WORDNET``, else that of ``make data`` of the project."""
    chosen = os.environ.get(VARIABLE)
    return Path(chosen) if chosen else installed_file(root or Path.cwd(), PLACE)


def load_wordnet(root: Path | None = None) -> WordNet:
    """Return the dictionary of :func:`wordnet_folder`.

    Raises:
        HearsightError: the dictionary is missing or cannot be read.
    """
    return _load(str(wordnet_folder(root)))
