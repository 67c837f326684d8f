"""Form of a segment of a text as numbers by name: its words by class, signs of appeals, signs of images, how it begins and ends.

The classes of words are the language's (``cues`` of its data file). Words in quotation marks or in an announced transcript
("Texto: ...") are text of the image, whatever they say, and count apart.
"""

from __future__ import annotations

import re
from zlib import crc32

from components.core.hashtags import HASHTAG
from components.stages.extract_descriptions.bounds import is_label
from components.stages.extract_descriptions.languages import is_own
from components.stages.extract_descriptions.marks import MAIL, MENTION, QUOTATION, links_to_remove, without_marks
from components.stages.extract_descriptions.plain_text import without_emoji
from components.stages.extract_descriptions.rules import Rules
from components.stages.extract_descriptions.trailers import is_common, is_known
from components.stages.extract_descriptions.words import words_of

_PHONE = re.compile(r"(?<![\d/.,-])(?:\+?55\s*)?(?:\(?0?\d{2}\)\s*|\d{2}[ -]?)?(?:9[ .-]?)?(\d{4})[ .-]?(\d{4})(?![\d/,-])")
_YEAR = re.compile(r"(?:19|20)\d\d")
_PRICE = re.compile(r"R\$\s*\d|\d%")
_NUMBER = re.compile(r"\d")
_CAMERAS = ("📷", "📸", "🎥", "📹", "🎞", "©", "🖼")
_LABEL = re.compile(r"\W*+(?:[^\W\d_]++[ \t]*+){1,3}[:：]")
_IMAGE_LABEL = re.compile(r"\W*+[^\W\d_]++[ \t]*+[:：](?=\s*+\S)")
_BULLETS = ("- ", "• ", "* ", "– ")
_TRANSCRIPT_COLON = re.compile(r"[:：](?!\s*+[\"“«'‘])")
_TORN_ACCOUNT = re.compile(r"(?:^|\s)\.[a-z]|^\W*\w+\.[a-z]{3,}[\w.]*\W*$")
_ANNOUNCED = re.compile(r"(?:^|(?<=[.:：\n]))([^.:：\n]*+)[:：](?=\s*+\S)")
_GOES_ON = re.compile(r"[\s(]*+[a-zà-ÿ]")
_ANNOUNCING = 6
"""Words before a colon among which one announces a text."""
_UNCLOSED = re.compile(r"(?<!\w)[“«\"](?=\w)")
_DIRECT_SPEECH = re.compile(r"[:：][\s\-–—]*+$")
_GERUND = re.compile(r"(?:[aei]ndo)$")
_PARTICIPLE = re.compile(r"(?:[ai]d[oa]s?)$")
_INFINITIVE = re.compile(r"^[a-z]{2,}(?:[aei]r)$")
_WE = re.compile(r"(?:(?<![xtns])[ei]mos|amos|[b-df-hj-np-tv-z]ei)$")
_PAST = re.compile(r"(?:[b-df-hj-np-tv-z]ou|[aei]ram)$")

APPEALS = ("you", "we", "asks", "sells", "contacts", "cites")
"""Cues of a segment that addresses, sells, cites or signs; in a transcript they count apart."""
_SPEECH = (*APPEALS, "argues", "dates")
_LONG = 10
"""Words of a segment in which one word that speaks counts half."""
_SHOWS = ("depicts", "places", "colours", "letters", "shows", "bodies")
_LEAST_SAID = 2
"""Words of a segment that a colon ends, below which it is a label; above, somebody speaks or a text follows."""
_SHORT = 4
HASHED = "#"
"""First letter of the features of words."""
_BUCKETS = 1 << 15
_ACRONYM = 5
"""Letters of an acronym, at most."""


def spoken(text: str, rules: Rules) -> str:
    """Return a segment without emoji, links and the text of the image: what it quotes or announces ("lê-se: ...")."""
    for start, end in reversed(links_to_remove(text, rules)):
        text = f"{text[:start]} {text[end:]}"
    bare = QUOTATION.sub(" “” ", text)
    unclosed = _UNCLOSED.search(bare)
    if unclosed:
        bare = bare[: unclosed.start()] + " “”"
    for match in _ANNOUNCED.finditer(bare):
        words = {word.lower() for word in match[1].split()[-_ANNOUNCING:]}
        if words & rules.cues["letters"] and not words & rules.cues["contacts"]:
            bare = bare[: match.end()] + " “”"
            break
    return without_emoji(bare)


def has_phone(text: str) -> bool:
    """Return whether a text has a telephone number: eight or nine digits, with or without an area code; not two years."""
    return any(not (_YEAR.fullmatch(match[1]) and _YEAR.fullmatch(match[2])) for match in _PHONE.finditer(text))


def _has_link(text: str, rules: Rules) -> bool:
    """Return whether a text leads to a link; one in brackets or inside a sentence names what the image shows."""
    return any(text[start - 1 : start] != "(" and not _GOES_ON.match(text, end) for start, end in links_to_remove(text, rules))


def _is_handle(word: str) -> bool:
    """Return whether a word is no word of a language: letters that no list has, or letters and digits."""
    mixed = word.isalnum() and not word.isalpha() and not word.isdigit() and len(word) > _SHORT
    return mixed or (word.isalpha() and not is_known(word))


def hashed_words(piece: str, rules: Rules) -> frozenset[str]:
    """Return the words, the first, the first two and the last of a segment as names of features, by hash (Weinberger 2009 §2).

    The hash keeps the vocabulary of the captions out of the weights.
    """
    words = [word.folded for word in words_of(spoken(piece, rules))]
    if not words:
        return frozenset()
    said = [*words, f"first {words[0]}", f"first {' '.join(words[:2])} two", f"last {words[-1]}"]
    return frozenset(f"{HASHED}{crc32(word.encode()) % _BUCKETS:x}" for word in said)


def form_of(piece: str, rules: Rules) -> dict[str, float]:
    """Return what a segment is like, by name; absent names are 0."""
    bare = spoken(piece, rules)
    words = words_of(bare)
    folded = [word.folded for word in words]
    spelled = [bare[word.start : word.end] for word in words]
    count = len(words)
    row: dict[str, float] = {}
    lowered = [word.lower() for word in spelled]
    for name, listed in rules.cues.items():
        hits = sum(word in listed for word in lowered)
        if hits:
            row[name] = min(hits, 3) / (1 + count / _LONG if name in _SPEECH else 1)
    row["we"] = row.get("we", 0) + sum(
        len(word) > 4 and bool(_WE.search(word)) and word not in rules.cues["shows"] for word in lowered
    )
    row["gerund"] = min(sum(bool(_GERUND.search(word)) and len(word) > 4 for word in folded), 2)
    row["participle"] = min(sum(bool(_PARTICIPLE.search(word)) and len(word) > 4 for word in folded), 2)
    row["only marks"] = float(not words_of(without_marks(bare)))
    row["hashtag"] = len(HASHTAG.findall(bare)) / max(count, 1)
    row["account"] = 2 * len(MENTION.findall(bare)) / max(count, 2)
    row["link"] = float(_has_link(piece, rules))
    row["phone"] = float(has_phone(bare))
    row["mail"] = float(bool(MAIL.search(bare)))
    row["com"] = float("com" in folded)
    row["infinitive"] = min(sum(bool(_INFINITIVE.search(word)) for word in folded), 2)
    row["begins with an infinitive"] = float(any(_INFINITIVE.search(word) for word in folded[:2]))
    row["past"] = min(sum(bool(_PAST.search(word)) and len(word) > 4 for word in folded), 2)
    row["begins in a place"] = float(
        bool(folded) and lowered[0] in rules.cues["placing"] and any(word in rules.cues["places"] for word in lowered[:3])
    )
    row["begins with an image"] = float(any(word in rules.cues["depicts"] for word in lowered[:3]))
    row["begins with a noun"] = float(
        bool(folded) and (lowered[0] in rules.cues["depicts"] or lowered[0] in rules.cues["articles"] | rules.cues["placing"])
    )
    row["price"] = float(bool(_PRICE.search(bare)))
    row["number"] = float(bool(_NUMBER.search(bare)))
    row["number only"] = float(count > 0 and all(not word.isalpha() for word in folded))
    row["address"] = float(bool(folded) and lowered[0] in rules.cues["streets"] and any(word.isdigit() for word in folded))
    row["begins appeal"] = float(bool(folded) and any(lowered[0] in rules.cues[name] for name in ("asks", "sells", "contacts")))
    row["begins source"] = float(any(word in rules.cues["cites"] for word in lowered[:2]))
    row["label"] = float(
        bool(_LABEL.match(bare)) and not (folded and lowered[0] in rules.cues["letters"] | rules.cues["depicts"])
    )
    row["an image opens"] = float(bool(_IMAGE_LABEL.match(bare)) and lowered[:1] != [] and lowered[0] in rules.cues["depicts"])
    row["item"] = float(piece.lstrip().startswith(_BULLETS) or piece.rstrip().endswith(";"))
    row["acronym"] = float(count == 1 and bare.isupper() and 1 < len(folded[0]) <= _ACRONYM and not is_common(folded[0]))
    row["ends in colon"] = float(bool(_DIRECT_SPEECH.search(piece)))
    row["begins with colon"] = float(bare.lstrip()[:1] == ":")
    row["asks something"] = float("?" in bare)
    row["exclaims"] = float("!" in bare)
    row["emoji"] = float(without_emoji(piece) != piece)
    row["camera"] = float(piece.lstrip().startswith(_CAMERAS))
    row["begins with emoji"] = float(without_emoji(piece[:8]).startswith(" ") and not piece[:1].isspace())
    row["quotation"] = float(bool(QUOTATION.search(piece)))
    row["begins with a star"] = float(piece.lstrip(" (-").startswith("*"))
    row["image label"] = float(is_label(bare[:80], rules))
    row["one word"] = float(count == 1)
    row["short"] = float(1 < count <= 3)
    row["lower case"] = float(bool(spelled) and spelled[0][:1].islower())
    row["capitals"] = float(count > 0 and bare.isupper())
    letters = [word for word in spelled if word.lower() not in rules.stranded]
    row["names only"] = float(bool(letters) and all(not word[0].islower() for word in letters))
    labelled = _LABEL.match(bare)
    credited = words_of(bare[labelled.end() :]) if labelled and not row["image label"] else []
    named = [bare[labelled.end() :][word.start : word.end] for word in credited] if labelled else []
    row["credit"] = float(bool(named) and all(not name[0].islower() or name in rules.stranded for name in named))
    row["stranded"] = float(bool(spelled) and spelled[-1] in rules.stranded)
    row["foreign"] = float(
        any(word in rules.other_words for word in lowered) and not any(is_own(word, rules) for word in lowered)
    )
    appeals = sum(bool(row.get(name)) for name in ("you", "asks", "sells", "contacts", "phone", "link", "account", "address"))
    row["appeals"] = min(appeals, 3)
    row["evidence"] = float(sum(name in row for name in _SHOWS) + bool(row["gerund"]) + bool(row["participle"]))
    row["finished"] = float(piece.rstrip()[-1:] in tuple(".!?…:;\"”»’')]"))
    row["torn account"] = float(bool(_TORN_ACCOUNT.search(bare)))
    row["unknown word"] = float(count == 1 and _is_handle(spelled[0]))
    row["shows image"] = float(sum(name in row for name in _SHOWS) >= 2 or "depicts" in row)
    unquoted = QUOTATION.sub(" “” ", piece)
    announces = bool(_TRANSCRIPT_COLON.search(unquoted)) or lowered[:1] == ["texto"]
    row["opens transcript"] = float("letters" in row and announces)
    speaks = any(row.get(name) for name in (*APPEALS, "address", "image label"))
    row["opens transcript"] = max(
        row["opens transcript"], float(bool(row["ends in colon"]) and count > _LEAST_SAID and not speaks)
    )
    return {name: float(value) for name, value in row.items() if value}
