"""Words with special treatment in the Penn Treebank tokeniser.

The lists were obtained from the published tool: every string of one to four letters, 17,000 longer words from web pages, and
English abbreviations, each with a full stop at a caption's end and before a word, a capital and a number.
"""

from __future__ import annotations


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
