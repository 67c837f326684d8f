"""Debris in descriptions before and after the stage's cleaning: ``python -m benchmarks.description_debris FILE...``.

FILE: the #PraCegoVer authors' duplicate groups or triplets (JSON), or a text file with one description a line. Each different
description is put behind a tag and extracted as ``hearsight try --posts`` does. The classes are defined by form and do not use
the stage's rules and lists, so they count what the rules miss. A description may have several; ``clean`` ones have none.

``--show N`` prints N examples of each class that remain; ``--removed N`` prints N descriptions that lost words, drawn by
``--seed``, to judge by hand. Texts go to the terminal only.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

from benchmarks.harness import project, show
from components.tools.trial import PostTrial

FUNCTION_WORDS = frozenset(
    re.findall(
        r"\S+",
        "a o as os um à ao às aos de da do das dos em na no nas nos com por pelo pela pelos pelas para pra e ou que "
        "from by the of",
    )
)
_CONTACT = re.compile(
    r"(?i)\b(?:whats(?:app)?|zap|direct|inbox|pedidos?|encomendas?|encomende|frete|pagseguro|pix|pronta entrega|parcelamos)\b"
    r"|\blink (?:na|no|da|do|em|nos) (?:\w+ )?(?:bio|perfil|stories)\b|\(?\b\d{2}\)?[ -]?9?\d{4}[- ]?\d{4}\b|\b9?\d{4}-\d{4}\b"
)
_SOURCE = re.compile(r"(?i)^\W*(?:repost|regram|regrann|fontes?\b|créditos?\b|via\b|by\b|from\b|with\b|credit\b)")
_YEARS = re.compile(r"\b(?:19|20)\d\d-(?:19|20)\d\d\b")


def last_segment(text: str) -> str:
    """Return what follows the last line break, dash between spaces, or end of a sentence."""
    pieces = [piece for piece in re.split(r"\n|\s[-–—•|]\s|(?<=[.!?…])\s+", text) if re.search(r"\w", piece)]
    return pieces[-1] if pieces else ""


def outside_quotes(text: str) -> str:
    """Return the text without what stands in quotation marks."""
    return re.sub(r"“[^”]*”|\"[^\"]*\"|«[^»]*»", " ", text)


def last_word(text: str) -> str:
    """Return the last word if only marks other than closing quotation marks and brackets follow it."""
    match = re.search(r"([^\s\W]+)[^\w\"”»'’)\]]*$", text)
    return match[1] if match else ""


def ends_in_punctuation(text: str) -> bool:
    """Return whether the last piece between spaces has no letter, digit or closing of a quotation or bracket that is open."""
    piece = text.split()[-1] if text.split() else ""
    orphan = text.count("”") > text.count("“") or text.count('"') % 2 == 1
    return bool(piece) and not any(char.isalnum() for char in piece) and (orphan or not set(piece) & set("\"”»')]"))


def ends_in_unknown_word(text: str) -> bool:
    """Return whether the last word has six letters or more, begins in lower case, and is in no word list of five languages."""
    word = last_word(text)
    return len(word) >= 6 and word[0].islower() and word.isalpha() and not _known(word)


@cache
def _known(word: str) -> bool:
    from wordfreq import zipf_frequency

    return any(zipf_frequency(word.lower(), language) > 0 for language in ("pt", "en", "es", "fr", "it"))


def has_contact(text: str) -> bool:
    """Return whether the last two segments hold words of selling or a telephone number, outside quotation marks."""
    end = "\n".join(re.split(r"\n|(?<=[.!?…])\s+", outside_quotes(text).strip())[-2:])
    return bool(_CONTACT.search(_YEARS.sub(" ", end)))


CLASSES: dict[str, Callable[[str], bool]] = {
    "punctuation at the end": ends_in_punctuation,
    "hashtag without its sign": ends_in_unknown_word,
    "torn word": lambda text: any(unicodedata.combining(word[0]) for word in text.split()),
    "function word at the end": lambda text: last_word(text) in FUNCTION_WORDS,
    "contact or selling": has_contact,
    "repost or source": lambda text: bool(_SOURCE.search(last_segment(text))),
}


def read(path: Path) -> list[str]:
    """Return the different descriptions of a file, sorted; of triplets those that are not cut short."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".json":
        return sorted({line for line in text.splitlines() if line.strip()})
    content = json.loads(text)
    if "HCI" in content:
        return sorted({caption for triplet in content["HCI"].values() for caption in triplet[:3]})
    return sorted({post["caption"] for group in content.values() for post in group})


@cache
def _trial() -> PostTrial:
    return PostTrial(project(), "portuguese")


def clean(text: str) -> str:
    """Return the description that the stage extracts from a tag and this text; empty if it drops the post."""
    return _trial().of(f"#PraCegoVer: {text}")["description"] or ""


def plain(text: str) -> str:
    """Return the text in NFC with single spaces."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def main() -> None:
    """Print a row for each class."""
    parser = argparse.ArgumentParser(description="Debris in descriptions before and after the stage's cleaning.")
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--show", type=int, default=0, help="examples of each class that remain")
    parser.add_argument("--removed", type=int, default=0, help="removals to judge by hand")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    texts = sorted({text for path in options.files for text in read(path)})
    after = {text: clean(text) for text in texts}
    kinds = {name: [text for text in texts if of(text)] for name, of in CLASSES.items()}
    remain = {name: [text for text in texts if of(after[text])] for name, of in CLASSES.items()}
    dirty = {text for found in kinds.values() for text in found}
    print(f"{len(texts)} descriptions, {sum(not text for text in after.values())} dropped\n")
    for name, found in [*kinds.items(), ("any", dirty)]:
        left = len({text for kept in remain.values() for text in kept} if name == "any" else remain[name])
        row = {"class": name, "before": len(found), "share before": round(len(found) / len(texts), 4)}
        show(row | {"after": left, "share after": round(left / len(texts), 4)})
    tidy = [text for text in texts if text not in dirty]
    changes = Counter(_change(text, after[text]) for text in tidy)
    print(f"\nclean: {len(tidy)}; " + ", ".join(f"{name} {count}" for name, count in changes.most_common()))
    for name, kept in remain.items():
        for text in random.Random(options.seed).sample(kept, min(options.show, len(kept))):
            print(f"{name}: {after[text][-120:]!r}")
    changed = [text for text in texts if _change(text, after[text]) == "words removed"]
    for text in random.Random(options.seed).sample(changed, min(options.removed, len(changed))):
        print(f"\n{text!r}\n  → {after[text]!r}")


def _change(before: str, after: str) -> str:
    if plain(before) == after:
        return "unchanged but for white space"
    if re.findall(r"\w+", plain(before)) == re.findall(r"\w+", after):
        return "marks changed"
    return "words removed" if after else "dropped"


if __name__ == "__main__":
    main()
