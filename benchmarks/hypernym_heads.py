"""How many of the words that Google put in place of names can our sources produce: ``python -m benchmarks.hypernym_heads FILE``.

FILE has published captions in its first column (tab-separated). A *replacement head* is a singular count noun, or a compound that
ends with one, without a determiner where English requires one. Names need no determiner, so such nouns show where a name was
replaced (CC §3: "Harrison Ford" → "actor"). Counted by parse; a noun phrase counts when
  * it has no determiner, possessive, number, "of" phrase or descriptive adjective; compounds and relational adjectives (WordNet's
    pertainyms: "musical") belong to the phrase;
  * its caption is no telegram, which drops determiners as well: it is the subject of a finite verb, or follows other words in a
    caption that has a determiner;
  * its head is a count noun: the plural is frequent (``PLURAL``), and the first meaning is no time, substance, food, feeling,
    property or part of the body, which are often used without a determiner;
  * it is more often without a determiner than with one, and not after the same preposition in ``FIXED`` or more of its uses, as
    nouns of fixed phrases are ("on display").
Some ordinary nouns remain, and a word that also describes what is seen ("city") is not found. Uses of a head are all without a
determiner.

A head is *producible* by
  * ``embedded`` if some name and type has it as its answer: every name in the gazetteers, all instances in WordNet, every brand
    and rule on a name's form, and the head itself as the last word of a name are looked up;
  * ``wikidata`` and ``google`` if the reducer and the gate of types accept the head, or a term of theirs that becomes it, as a
    label. Both are upper bounds: that an item or entry has this label is not checked, and no such service is asked.
American and British spellings are equal, and so are "TV" and "television". Nothing of FILE is stored.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from components.knowledge.embedded import Embedded
from components.knowledge.gazetteers import brands
from components.knowledge.google import type_words
from components.knowledge.kinds import KINDS, Gate
from components.knowledge.names import LASTS, LEADS, TITLES
from components.knowledge.words import CAPTION_TERMS, Words
from components.language.parser import EnglishParser, Parse
from components.language.wordnet import WordNet, load_wordnet, wordnet_folder
from components.language.words import plural, zipf

HEADS = 200
PLURAL = 1.0
"""Greatest difference of the singular's and the plural's frequency (Zipf) of a count noun."""
FIXED = 0.8
FINITE = frozenset({"VBZ", "VBD", "VBP", "MD"})
DETERMINERS = frozenset({"DT", "PRP$", "WP$", "PDT", "WDT", "CD", "POS"})
UNCOUNTED = frozenset({33615, 20090, 20827, 21265, 7555863, 24264, 26192, 34213, 5220461, 31921, 24720})
"""WordNet 3.0: measure (with time), substance, matter, food (two), attribute, feeling, phenomenon, body part, relation,
state."""
_TYPES = """
    Book BookSeries EducationalOrganization Event GovernmentOrganization LocalBusiness Movie MovieSeries MusicAlbum MusicGroup
    MusicRecording Organization Periodical Person Place SportsTeam TVEpisode TVSeries VideoGame VideoGameSeries TouristAttraction
"""
GOOGLE_TYPES = _TYPES.split()
"""Types of results, https://developers.google.com/knowledge-graph/reference/rest/v1, and schema.org's of places to visit."""
SPELLINGS = (
    ("isation", "ization"),
    ("programme", "program"),
    ("theatre", "theater"),
    ("centre", "center"),
    ("tv ", "television "),
)


def spelled(phrase: str) -> str:
    """The phrase in American spelling, with "television" in full."""
    for british, american in SPELLINGS:
        phrase = phrase.replace(british, american)
    return phrase


def relational_adjectives(folder: Path) -> frozenset[str]:
    """The adjectives of WordNet that have a pertainym."""
    result: set[str] = set()
    for line in (folder / "data.adj").read_text(encoding="utf-8").splitlines():
        fields = line.split(" | ")[0].split()
        if not line.startswith("  ") and "\\" in fields:
            count = int(fields[3], 16)
            result.update(fields[4 + 2 * place].split("(")[0].lower() for place in range(count))
    return frozenset(result)


class Phrase(NamedTuple):
    """A singular noun phrase in a caption."""

    text: str
    determined: bool
    required: bool
    """Whether the caption is no telegram, so that a bare count noun is a name's place."""
    preposition: str
    """The word before it if that is a preposition, else ""."""


def noun_phrases(parse: Parse, relational: frozenset[str]) -> Iterator[Phrase]:
    """Each singular noun phrase of a caption that has a determiner, or none and no description."""
    words, tags, deps, heads = ([text.lower() for text in parse["text"]], parse["tag"], parse["dep"], parse["head"])
    children: dict[int, list[int]] = {}
    for position, head in enumerate(heads):
        if head != position:
            children.setdefault(head, []).append(position)
    sentence = any(tag in ("DT", "PRP$") for tag in tags)
    for position, tag in enumerate(tags):
        modifier = deps[position] in ("compound", "nmod", "amod", "npadvmod")
        if tag not in ("NN", "NNP") or parse["pos"][position] not in ("NOUN", "PROPN") or modifier:
            continue
        start = position
        while start and words[start - 1].isalpha() and start <= heads[start - 1] <= position:
            classifies = deps[start - 1] in ("compound", "nmod")
            if not classifies and not (deps[start - 1] == "amod" and words[start - 1] in relational):
                break
            start -= 1
        below = children.get(position, [])
        phrase = " ".join(words[start : position + 1])
        if any(tags[child] in DETERMINERS for child in below if child < start):
            yield Phrase(phrase, True, True, "")
            continue
        described = any(child < start for child in below) or any(words[child] == "of" for child in below)
        if described or not words[position].isalpha() or (start and tags[start - 1] in DETERMINERS):
            continue
        verb = heads[position]
        carriers = [verb, *(child for child in children.get(verb, []) if deps[child] in ("aux", "auxpass"))]
        subject = deps[position] in ("nsubj", "nsubjpass") and any(tags[carrier] in FINITE for carrier in carriers)
        preposition = words[start - 1] if start and tags[start - 1] == "IN" else ""
        yield Phrase(phrase, False, subject or bool(start and sentence), preposition)


def is_counted(phrase: str, wordnet: WordNet) -> bool:
    """Whether the phrase's head is a count noun, by its plural's frequency and its meanings: of a compound, one of the first."""
    words = phrase.split()
    senses = [sense for sense in wordnet.senses(words[-1]) if not sense.instance_of][: 1 if len(words) == 1 else None]
    frequent = zipf(plural(words[-1])) >= zipf(words[-1]) - PLURAL
    return frequent and any(not wordnet.is_a(sense, UNCOUNTED) for sense in senses)


def replacement_heads(texts: list[str], wordnet: WordNet, number: int) -> list[tuple[str, int]]:
    """The most frequent replacement heads of captions, each with its number of uses."""
    relational = relational_adjectives(wordnet_folder())
    uses, required, determined, after = Counter[str](), Counter[str](), Counter[str](), Counter[tuple[str, str]]()
    for parse in EnglishParser().compute_many(texts):
        for phrase in noun_phrases(parse, relational):
            determined[phrase.text] += phrase.determined
            uses[phrase.text] += not phrase.determined
            required[phrase.text] += phrase.required and not phrase.determined
            after[phrase.text, phrase.preposition] += bool(phrase.preposition)
    most: Counter[str] = Counter()
    for (phrase, _), times in after.items():
        most[phrase] = max(most[phrase], times)
    alone = [
        (phrase, times)
        for phrase, times in uses.items()
        if required[phrase] > determined[phrase] and most[phrase] < FIXED * times
    ]
    counted = [(phrase, times) for phrase, times in alone if is_counted(phrase, wordnet)]
    return sorted(counted, key=lambda item: (-item[1], item[0]))[:number]


def embedded_words(heads: list[str], wordnet: WordNet) -> set[str]:
    """Every answer of the embedded source to the names it knows, and to made-up names that end with a head."""
    source = Embedded(wordnet)
    names: list[tuple[str, str]] = [("France", "GPE"), ("Tennessee", "GPE"), ("Los Angeles", "GPE")]
    names += [(name, "ORG") for name in brands()]
    names += [(f"{title} Tolland", "PERSON") for title in TITLES]
    names += [(f"{first} Tolland", kind) for kind, forms in LEADS.items() for first in forms]
    names += [(f"Tolland {last}", kind) for kind, forms in LASTS.items() for last in forms]
    names += [("Chicago Anvils", "ORG")]
    names += [(f"Tolland {head}".title(), kind) for head in heads for kind in KINDS]
    for line in (wordnet_folder() / "data.noun").read_text(encoding="utf-8").splitlines():
        synset = wordnet.synset(int(line[:8])) if line[:8].isdigit() else None
        if synset is not None and synset.instance_of:
            names += [(lemma, kind) for lemma in synset.lemmas for kind in KINDS]
    answers = (source.lookup(name, kind) for name, kind in names)
    return {word for _, word in KINDS.values()} | {answer.word for answer in answers if answer is not None}


def labelled_words(labels: list[str], words: Words, gate: Gate) -> set[str]:
    """Every word that the reducer makes of these labels and the gate accepts for a type."""
    return {noun for label in labels if (noun := words.noun(label)) and any(gate.suits(noun, kind) for kind in KINDS)}


def main() -> None:
    """Print for each source how many heads it can produce, by number and weighted by uses, and which are missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--heads", type=int, default=HEADS)
    parser.add_argument("--list", action="store_true", help="print every head with its uses and sources")
    options = parser.parse_args()
    texts = [line.split("\t")[0] for line in options.file.read_text(encoding="utf-8").splitlines()]
    wordnet = load_wordnet()
    heads = replacement_heads(texts, wordnet, options.heads)
    words, gate = Words(wordnet), Gate(wordnet)
    plain = [head for head, _ in heads]
    labels = [*plain, *map(spelled, plain), *CAPTION_TERMS]
    sources = {
        "embedded": embedded_words(plain, wordnet),
        "wikidata (upper bound)": labelled_words(labels, words, gate),
        "google (upper bound)": labelled_words([*labels, *type_words(GOOGLE_TYPES)], words, gate),
    }
    sources["any"] = set().union(*sources.values())
    total = sum(times for _, times in heads)
    print(f"{len(texts):,} captions, {len(heads)} heads, {total:,} uses")
    for name, known in sources.items():
        spellings = {spelled(word) for word in known}
        found = [(head, times) for head, times in heads if spelled(head) in spellings]
        ranks = ", ".join(f"{sum(head in dict(found) for head in plain[:most])} of the first {most}" for most in (20, 50, 100))
        print(f"{name}: {len(found)} of {len(heads)} ({ranks}), {sum(times for _, times in found) / max(1, total):.1%} of uses")
        print(f"    missing: {', '.join(head for head in plain if head not in dict(found))}")
    if options.list:
        for head, times in heads:
            print(times, head, *(name for name, known in sources.items() if spelled(head) in map(spelled, known)), sep="\t")


if __name__ == "__main__":
    main()
