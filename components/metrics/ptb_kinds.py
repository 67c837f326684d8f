"""The kinds of Penn Treebank tokens, as regular expressions.

Each describes one kind as observed in the published tool's output (``benchmarks/README.md``). If a pattern has a group, the
group is the token; the rest must match and counts for the length, but is read again. At each position the scanner
(``ptb._scan``) takes the longest match, and the first pattern among equally long ones.
"""

from __future__ import annotations

import re

from components.metrics import ptb_words as words
from components.metrics.ptb_words import MARKS, NUMERALS, SPACE

_LETTER = rf"[^\W\d_{NUMERALS}]"
_ALNUM = rf"[^\W_{NUMERALS}]"
_HYPHEN = "[-_\u058a\u2010\u2011]"
_APOSTROPHE = "(?:['\u2019\x92]|&apos;)"
# After a curly one the clitic need not end the word.
_CURLY = "(?:[\u2019\x92]|&apos;)"
_AND = "(?:[&+]|&amp;)"
_UNLESS_LETTER = "(?![A-Za-z])"
_NUMBER = r"(?:(?:\d[\d\xad]*)?(?:[.:,\u066b\u066c]\d[\d\xad]*)+|\d[\d\xad]*)"
_ANY_CASE_N = rf"[nN](?:{_APOSTROPHE}|[`\u2018\u201b])[tT]"
_CLITIC = rf"(?:'(?i:s|d|m|ll|re|ve){_UNLESS_LETTER}|{_CURLY}(?i:s|d|m|ll|re|ve))"
_PIECE = rf"(?:[dDlLoO](?:{_APOSTROPHE}|`){_ALNUM}(?={_ALNUM}))?{_ALNUM}+"
_OUTSIDE = r"\s<>\"|(){}\x00"  # ends an address
_PATH = rf"[^{_OUTSIDE}]+[^{_OUTSIDE}.,!?-]"
_NAME = r"[A-Za-z_][A-Za-z0-9_:.-]*"


def _any(listed: list[str]) -> str:
    """One of the words, the longest first, with any apostrophe."""
    return "|".join(re.escape(word).replace("'", _APOSTROPHE) for word in sorted(listed, key=len, reverse=True))


def _capital(listed: list[str]) -> str:
    """One of the words, its first letter a capital."""
    return "|".join(f"{word[0].upper()}(?i:{word[1:]})" for word in listed)


_ENTITY = rf"&(?i:{_any(words.ACCENTED_ENTITIES)});"
_WORD = rf"(?:{_LETTER}|[{MARKS}]|{_ENTITY})(?:{_ALNUM}++|[{MARKS}\xad]++|{_ENTITY})*+"
_JOINED = rf"(?:{_PIECE}|{_NUMBER}(?=-))(?:{_HYPHEN}{_PIECE})*"
# Full stops and commas in the first part, initials in the others: end.next-word, non-U.S., U.S.-U.K.
_DASHED = r"[A-Za-z0-9][A-Za-z0-9.,]*(?:-(?:(?:[A-Za-z]\.){2,}|[A-Za-z0-9]+))+"
_DOTTED = rf"{_LETTER}{_ALNUM}*(?:[.!?]{_LETTER}{_ALNUM}*)+"  # end.Next
_NAMES = rf"[A-Z]+(?:{_AND}[A-Z]+)+"  # AT&T
_HALF = r"[A-Za-z0-9]+(?:-[A-Za-z]+){0,2}"
_CLOSING = "|".join(
    [
        f"(?i:{_any(words.CLOSING_ABBREVIATIONS)})",
        _capital(words.CAPITAL_ABBREVIATIONS),
        *(f"[{word[0]}{word[0].upper()}]{word[1:]}" for word in words.LOWER_CLOSING_ABBREVIATIONS),
    ]
)
_KEPT = "|".join(
    [f"(?i:{_any(words.ABBREVIATIONS)})", *(f"[{word[0]}{word[0].upper()}]{word[1:]}" for word in words.LOWER_ABBREVIATIONS)]
)

_MOUTH = r"[()@DOP\[\\\]dp{|]"
_EYE = r"[-^x=~<>']"
_FACE = rf"{_EYE}_{_EYE}"

# These start with letters, digits or signs.
BEFORE_ALL = [
    rf"(?:<|&lt;)?(?:mailto:)?[A-Za-z0-9][^{_OUTSIDE}]*@[^{_OUTSIDE}.]+(?:\.[^{_OUTSIDE}.]+)*>?",  # a mail address
    # example.com/page
    rf"(?:[^\sA-Z0-9\"!$'(),\-./:;<=>?@\[\]^_`{{|}}\\\x00]+\.)+(?:com|edu|net|org)/{_PATH}",
    rf"www\.(?:[A-Za-z0-9]+\.)+[a-z]{{2,4}}/{_PATH}",
]

OF_NUMBERS = [
    rf"[-+]?{_NUMBER}",  # -5, 1,000.5, 10:30, .5
    r"(\d{1,4}[- \xa0]\d{1,4}(?:\\?/|\u2044)\d{1,4})(?!\d)",  # 7 1/2
    r"\d+(?:\\?/|\u2044)\d+",
    r"\+?(?:\d{2,4}[- \xa0])?\d{2,4}[- \xa0]\d{3,4}[- \xa0]\d{3,5}(?!\w)",  # a telephone number
    r"\(\d{2,3}\)[ \xa0]?\d{3,4}[- \xa0]\d{3,5}(?!\w)",
]

OF_WORDS_AND_NUMBERS = [
    _JOINED,  # hand-knitted, 5.5-inch, a_b
    _DASHED,
    rf"((?:{_JOINED}|{_DOTTED}|{_NAMES}|{_DASHED})\.)[,;:]",  # any word keeps its stop before a comma
    rf"{_HALF}(?:\\?/{_HALF}){{1,2}}",  # and/or
    rf"([A-Za-z0-9]+(?:\.[A-Za-z0-9]+)*\.(?i:{_any(words.FILE_ENDINGS)}))(?:[\s.?!,]|$)",  # 1.jpg
]

OF_WORDS = [
    _FACE,
    rf"https?://{_PATH}",
    _WORD,
    rf"([A-Za-z]*[A-MO-Za-mo-z]){_ANY_CASE_N}",  # do n't
    rf"{_ANY_CASE_N}{_UNLESS_LETTER}",
    rf"([A-Za-z]+){_CLITIC}",  # dog 's
    _DOTTED,  # end.Next
    # An initial is a word where a sentence ends: Vitamin C. The
    rf"([A-Za-z])\.[{SPACE}]+(?:{_capital(words.SENTENCE_STARTERS)}|M[rs]\.)(?:\s|$)",
    # The next character matters after abbreviations that may end a sentence: Inc.x is two tokens, Mr.x one.
    rf"((?:{_CLOSING})\.)(?:-?.)?",
    rf"(?:{_KEPT})\.",
    rf"((?i:{_any(words.NUMBER_ABBREVIATIONS)})\.)[{SPACE}]?\d",  # No. 5
    r"(?:[A-Za-z]\.)+",  # U.S., e.g.
    rf"(?i:s{_AND}(?:p-500|ls))|{_NAMES}",
    r"[A-Z]+\$",  # US$
    rf"(?:[A-HJ-XZdln]|[Oo])(?:{_APOSTROPHE}|`){_LETTER}{{2,}}",  # O'Neil, K'naan
    rf"[A-Za-z]+[aeiouyAEIOUY](?:{_APOSTROPHE}|`)[aeiouA-Z][A-Za-z]*",  # Hawai'i
    rf"(?i:[a-z]*qu{_APOSTROPHE}[a-z]+)",  # lorsqu'il
    rf"[dlDLj]{_APOSTROPHE}",
    rf"([yY]{_APOSTROPHE}){_LETTER}",  # y' all
    rf"(?i:c\+\+|[cf]#|{_any([word for word in words.APOSTROPHE_WORDS if word[0] != chr(39)])})",
]

# Not the straight ones.
QUOTE = "[`\u2018\u2019\u201b\u2039\u203a\u201c\u201d\u00ab\u00bb\x91-\x94]"

OF_SIGNS = [
    _FACE,
    _CLITIC,
    r"('[nN])(?:\s|$)",
    rf"{_CURLY}[nN]",
    rf"({_APOSTROPHE}[tT])(?i:is|was)",  # 't was
    rf"{_APOSTROPHE}[nN]{_APOSTROPHE}",  # rock 'n' roll
    rf"(?i:{_any([word for word in words.APOSTROPHE_WORDS if word[0] == chr(39)])})",
    rf"{_APOSTROPHE}[2-9]0[sS]",  # '60s
    rf"({_APOSTROPHE}\d\d)(?:\s|$)",  # '98
    _WORD,
    r"@[A-Za-z_][A-Za-z0-9_]*",
    rf"#(?:{_LETTER}|\xad)+",
    # Tags, character references, faces.
    rf"</{_NAME}\s*>",
    rf"<{_NAME}(?:\s+{_NAME}(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'))?)*\s*/?\s*>",
    r"<[!?][A-Za-z_-][^>]*>",
    r"(?i:&(?:amp|lt|gt|nbsp|mdash|ndash);)|&(?:quot|apos);|&\#\d+;",
    rf"[<>]?[:;=]['o*-]?{_MOUTH}(?![A-Za-z0-9])",
    rf"\({_EYE}[-_.^]?{_EYE}\)",
    # Superscripts and subscripts, runs of a sign, pairs of quotation marks.
    "[\u207a\u207b]?[\u00b9\u00b2\u00b3\u2070\u2074-\u2079]+|[\u208a\u208b]?[\u2080-\u2089]+",
    r"\.{3,5}|\.(?: \.){2,4}",
    r"-+|_+|\*+|(?:\\\*)+|#+|@+|[?!]+|<<|>>|''",
    rf"{QUOTE}{{2}}",
]
