"""Character folding: one spelling per character; drops invisible and unpronounceable characters and words of other scripts.

Compatibility forms (ligatures, full-width, mathematical letters) are folded as in NFKC, except where that loses meaning: ½, ²,
º, ™ and the like have their own rules.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache

from components.speech.text_normalization.abbreviations import STREETS
from components.speech.text_normalization.draft import Draft
from components.speech.text_normalization.language import Language


@cache
def _plain(language: Language) -> re.Pattern[str]:
    small = language.alphabet
    word = f"[{small}{small.upper()}][{small}]+(?:['-][{small.upper()}]?[{small}]+)*"
    single = "|".join(sorted(language.singles))
    if language.code == "en":
        single = "a|A"
    token = f"(?:{word}|{single})"
    return re.compile(f"(?:{word})[.,;:?!]?|(?:{token})(?:[,;:?!]? {token})+[.?!]?")


@cache
def _words(language: Language) -> frozenset[str]:
    """Return the plain-looking words, in lower case, that a rule changes."""
    return (
        frozenset(language.bare)
        | language.titles
        | (frozenset(STREETS) if language.code == "en" else frozenset())
        | {key.strip() for key in language.replaced}
        | {f"{numeral}{ending}" for numeral in "ivx" for ending in language.roman_suffixes}
    )


@cache
def _before_dot(language: Language) -> frozenset[str]:
    keys = (*language.abbreviations, *language.before_digits)
    return frozenset(re.split(r"[ .]", key.removesuffix("~"))[-1] for key in keys)


def is_plain(text: str, language: Language) -> bool:
    """Return whether a text is words, single spaces and sentence marks alone, and no abbreviation among them."""
    if not _plain(language).fullmatch(text):
        return False
    words = text.lower().replace(",", "").replace("-", " ").split(" ")
    if not _words(language).isdisjoint(words):
        return False
    return not (text[-1] == "." and words[-1][:-1] in _before_dot(language))


_AS_WRITTEN = {
    **dict.fromkeys("‘’‚‛′ʹʼʻ`´＇", "'"), **dict.fromkeys('“”„‟«»″＂〝〞〟「」『』', '"'),
    **dict.fromkeys("‐‑﹣－−", "-"), **dict.fromkeys("‒–", "–"), **dict.fromkeys("—―⸺⸻", "—"),
    **dict.fromkeys("•·∙●○◦▪▫■□◆◇▶►▸‣⁃・․", " | "), **dict.fromkeys("←↑→↓↔⇒⇐⇔➔➜➡⟶⟵", " | "),
    **dict.fromkeys("©®™℠℗¶†‡†¦", " "), **dict.fromkeys("¿¡؟", " "),
    "×": "×", "✕": "×", "✖": "×", "⁄": "/", "∕": "/", "÷": "÷", "…": "...", "º": "º", "ª": "ª", "°": "°", "˚": "°",
    "★": "★", "⭐": "★", "♥": "♥", "❤": "♥", "♡": "♥",
    "℃": "°C", "℉": "°F", "№": "№", "²": "²", "³": "³", "µ": "µ", "μ": "µ", "。": ". ", "、": ", ", "\n": " | ", "\r": " | ",
    "ß": "ss", "ẞ": "SS", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "þ": "th", "Þ": "Th",
    "ı": "i", "æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe", "ŋ": "ng", "ħ": "h", "ə": "e", "℮": "e", "\t": " ",
}  # fmt: skip
_SYMBOLS = frozenset("€£¥¢₹§±≈≠≤≥√∞πα‰") | frozenset("βγΔδλσΣΩωθφ")
_GROUPED = re.compile("(?<=[0-9])[\u00a0\u202f\u2009'’](?=[0-9]{3}(?![0-9]))")
_POWER = re.compile("[⁰¹²³⁴-⁹⁻⁺]{2,}|[⁰¹⁴-⁹]")
_FOREIGN_RUN = re.compile("\ue000+(?:[\\s'’-]+\ue000+)*")
_SPACES = re.compile(r"\s{2,}")


@lru_cache(maxsize=8192)
def _fold(character: str, alphabet: str) -> tuple[str, str]:
    """Return what a character outside ASCII becomes, and by which rule; a letter of another script becomes U+E000."""
    if character in _AS_WRITTEN and character.lower() not in alphabet:
        new = _AS_WRITTEN[character]
        return new, "" if new == character else "characters"
    if character.lower() in alphabet or character in _SYMBOLS:
        return character, ""
    kind = unicodedata.category(character)
    if kind == "Nd":
        return str(unicodedata.decimal(character)), "characters"
    if kind in ("Zs", "Zl", "Zp"):
        return " ", "characters"
    if kind in ("Mn", "Me", "Mc", "Cf", "Cs", "Co", "Cn", "Cc"):
        return (" " if kind in ("Cc", "Co", "Cn") else ""), "invisible"
    plain = unicodedata.normalize("NFKC", character)
    if unicodedata.category(character) == "No" and "⁄" in plain:
        return f" {plain.replace('⁄', '/')} ", "characters"
    if plain != character:
        return "".join(part if part.isascii() else _fold(part, alphabet)[0] for part in plain), "characters"
    if kind[0] == "L":
        bare = "".join(part for part in unicodedata.normalize("NFD", character) if part.isascii() and part.isalpha())
        if bare:
            return bare, "accents"
        return "\ue000", "other_script"
    return " ", "emoji" if kind in ("So", "Sk") else "symbols"


@cache
def _others(language: Language) -> re.Pattern[str]:
    return re.compile(f"[^\\x20-\\x7e{language.alphabet}{language.alphabet.upper()}]+")


def fold_characters(draft: Draft) -> float:
    """Fold all characters; return the share of letters of other scripts, whose words are dropped with a step."""
    language = draft.language
    if not draft.text.isascii():
        draft.sub("power", _POWER, lambda match: "^" + unicodedata.normalize("NFKC", match[0]).replace("\u2212", "-"))
    text = unicodedata.normalize("NFC", draft.text)
    foreign: list[str] = []

    def run(match: re.Match[str]) -> str:
        folded = [_fold(character, language.alphabet) for character in match[0]]
        return "".join(new for new, _ in folded)

    # One step per rule, not per character: a text in an unusual font would have dozens.
    changes: dict[str, tuple[list[str], list[str]]] = {}
    for match in _others(language).finditer(text):
        for character in match[0]:
            new, rule = _fold(character, language.alphabet)
            if rule == "other_script":
                foreign.append(character)
            elif rule:
                before, after = changes.setdefault(rule, ([], []))
                before.append(character)
                after.append(new)
    for rule, (before, after) in changes.items():
        draft.record(rule, "".join(before), _SPACES.sub(" ", "".join(after)).strip())
    text = _GROUPED.sub("" if language.code != "en" else ",", text)
    draft.text = _others(language).sub(run, text)
    share = 0.0
    if foreign:
        own = sum(character.isalpha() for character in draft.text)  # U+E000 is no letter
        share = len(foreign) / (own + len(foreign))
        draft.record("other_script", "".join(foreign), "")
        draft.text = _FOREIGN_RUN.sub(" ", draft.text)
    draft.text = _SPACES.sub(" ", draft.text.replace("\ue000", " "))  # Long runs of blanks make later patterns slow.
    return share
