"""Words with special treatment in the Penn Treebank tokeniser, and its character classes.

The lists were obtained from the published tool: every string of one to four letters, 17,000 longer words from web pages, and
English abbreviations, each with a full stop at a caption's end and before a word, a capital and a number. The classes are
contents of a regular expression's brackets, observed character by character. Letters are Python's (the tool, with an older
Unicode, rejects 525 rare letters of the first plane). Other characters that are neither digits nor listed here are ignored and
only separate their neighbours; so are all characters outside the first plane.
"""

from __future__ import annotations

import re

SYMBOLS = (
    "\u00a1\u00a5-\u00a9\u00ac\u00ae-\u00b4\u00b6-\u00b9\u00bf\u00d7\u00f7\u037e\u0387\u0589\u05be\u05c0\u05c3\u05c6\u05f3\u05f4"
    "\u0600-\u0603\u0606-\u060c\u0614\u061b\u061e\u061f\u066a\u066d\u06d4\u0700-\u070d\u07f6-\u07f8\u0964\u0965\u0e3f\u0e4f"
    "\u1fbd\u2016\u2017\u201a\u201e-\u2023\u2030-\u2038\u203b\u203e-\u2042\u2044\u2070\u2074-\u207e\u2080-\u208e\u20a4\u2100\u2101"
    "\u2103-\u2106\u2108\u2109\u2114\u2116-\u2118\u211e-\u2123\u2125\u2127\u2129\u212e\u213a\u213b\u2140-\u2144\u214a-\u214d\u214f"
    "\u2155-\u215e\u2190-\u2bff\u3001\u3002\u3012\u30fb\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\uffe0\uffe1\uffe5\uffe6"
)
"""Symbols outside ASCII that are a token each."""

MARKS = (
    "\u02c2-\u02c5\u02d2-\u02df\u02e5-\u02eb\u02ed\u02ef-\u036f\u0375\u0378\u0379\u0384\u0385\u03f6\u0483-\u0487"
    "\u055a-\u055f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0615-\u061a\u064b-\u065e\u0670\u06d6-\u06e4"
    "\u06e7-\u06ed\u06fd\u06fe\u070f\u0711\u0730-\u074c\u07a6-\u07b0\u07eb-\u07f3\u0900-\u0903\u093c\u093e-\u094e"
    "\u0951-\u0955\u0962\u0963\u0981-\u0983\u09bc\u09be-\u09c4\u09c7\u09c8\u09cb-\u09cd\u09d7\u09e2\u09e3\u0a01-\u0a03"
    "\u0a3c\u0a3e-\u0a4f\u0a81-\u0a83\u0abc\u0abe-\u0acf\u0b82\u0bbe-\u0bc2\u0bc6-\u0bc8\u0bca-\u0bcd\u0c01-\u0c03"
    "\u0c3e-\u0c56\u0d3e-\u0d44\u0d46-\u0d48\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd"
)
"""Characters that continue or start a word, but do not continue a number."""

NUMERALS = (
    "\u00b2\u00b3\u00b9\u00bc-\u00be\u2070\u2074-\u2079\u2080-\u2089"
    "\u2150-\u2182\u2185-\u2189\u2460-\u249b\u24ea-\u24ff\u2776-\u2793"
)
"""Characters that Python counts as word characters and the tool does not: superscripts, fractions, circled numbers."""

SPACE = "\t \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"

SPELLED = (
    dict.fromkeys("\u0096\u0097\u2013\u2014\u2015", "--")
    | dict.fromkeys("\u0080\u00a4\u20a0\u20ac", "$")
    | dict.fromkeys("\u0091\u2018\u201b\u2039", "`")
    | dict.fromkeys("\u0092\u2019\u203a", "'")
    | dict.fromkeys("\u0093\u00ab\u201c", "``")
    | dict.fromkeys('"\u0094\u00bb\u201d', "''")
    | {"\u00a2": "cents", "\u00a3": "#", "\u2026": "...", "\u00ad": "-"}
    | {"\u00bc": "1/4", "\u00bd": "1/2", "\u00be": "3/4", "\u2153": "1/3", "\u2154": "2/3"}
    | {"(": "-lrb-", ")": "-rrb-", "[": "-lsb-", "]": "-rsb-", "{": "-lcb-", "}": "-rcb-"}
    | {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": "''", "&apos;": "'", "&mdash;": "--", "&ndash;": "--", "&nbsp;": ""}
)
"""Spelling of tokens that are replaced. (For quotation marks it only matters that both forms are dropped.)"""

GAP = "\0"
"""Placeholder for ignored characters."""

_SPELLED = re.escape("".join(key for key in SPELLED if len(key) == 1))
_UNSEEN = re.compile(
    rf"(?:(?![{SYMBOLS}{MARKS}{SPACE}\u058a\u066b\u066c\u2010\u2011{_SPELLED}])(?:[^\w\x21-\x7e]|[{NUMERALS}]))+"
    "|[\U00010000-\U0010ffff]+"
)


def mask_unknown_characters(text: str) -> str:
    """Return the text with each run of ignored characters replaced by a gap."""
    return _UNSEEN.sub(GAP, text)


def _listed(words: str) -> list[str]:
    return words.split()


CLOSING_ABBREVIATIONS = _listed(
    "al ala apr ariz assn aug bhd bldg blvd bros calif co colo conn corp cos ct dak dec esq est etc ext feb fla fri"
    " ga inc ind intl jan jr jul jun kan kans ky ltd mar md mich minn mo mon mont neb nev nov oct okla penn plc rd rt"
    " sep sept seq sq sr sys tel tenn thu thurs tue tues univ va vt wed wis wisc wyo ph.d ed.d"
)
"""Keep their full stop in any case, even before a single letter: they may end a sentence."""

ABBREVIATIONS = _listed(
    "adj adm adv alex asst atty attys assoc ave brig capt cf cie cmdr col comdr cpl dept det dr drs elec ens ft gen"
    " gov govs hon insp invt jos lieut lt maj messrs mlle mme mr mrs ms msgr mt natl pfc ph pres prof profs pvt rep"
    " reps rev sen sens sfc sgt spc st ste supt supts treas vs wm"
)
"""Keep their full stop in any case."""

CAPITAL_ABBREVIATIONS = _listed("ark az del ill la mass miss ore pa tex wash")
"""Keep their full stop if capitalised, being words otherwise (``La.``, ``Mass.``)."""

LOWER_ABBREVIATIONS = _listed("mfg mtg")
LOWER_CLOSING_ABBREVIATIONS = _listed("ppte ppty pte ptes pty ptys")
"""Keep their full stop unless they are all capitals."""

NUMBER_ABBREVIATIONS = _listed("art ca fig figs no nos op pp prop")
"""Keep their full stop before a number, a comma, a colon or a semicolon."""

SENTENCE_STARTERS = _listed(
    "A About According Additionally After An As At But Earlier He Her Here However If In It Last Many More Now Once"
    " One Other Our She Since So Some Such That The Their Then There These They This We What When While Yet You"
)
"""Before these, a letter with a full stop is a word at a sentence's end (``Vitamin C. The``), not an initial."""

FUSED = {
    word: (word[:cut], word[cut:])
    for word, cut in (("cannot", 3), ("gimme", 3), ("gonna", 3), ("gotta", 3), ("lemme", 3), ("wanna", 3))
}
"""Contractions of two words."""

APOSTROPHE_WORDS = _listed("c'est c'mon cap'n e'er ev'ry li'l nat'l o'o s'mores dunkin' ol' somethin' 'em 'cause 'till 'til")
"""Words with an apostrophe that are always one token."""

FILE_ENDINGS = _listed(
    "bat bmp c cgi class cpp dll doc docx exe gif gz h htm html jar java jpeg jpg mov mp3 pdf php pl png ppt ps py"
    " sql tar txt wav x xml zip"
)

ACCENTED_ENTITIES = _listed("aacute agrave auml eacute egrave euml iacute igrave iuml oacute ograve ouml uacute ugrave uuml")
"""Character references that stay unchanged inside a word."""
