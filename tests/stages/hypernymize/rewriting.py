"""The rewriting of one text as the stage runs it."""

from __future__ import annotations

from components.language.parser import EnglishParser
from components.stages.hypernymize.first_word import second_text
from components.stages.hypernymize.rewrite import Rewritten, rewrite
from tests.knowledge.dictionary import knowledge

PARSER = EnglishParser()


def rewritten(text: str) -> Rewritten:
    """The rewriting with a second parse where a first word is taken for a name."""
    parse = PARSER.compute(text)
    second = second_text(text, parse, knowledge())
    return rewrite(parse, knowledge(), min_words=2, stated_role=False, second=PARSER.compute(second) if second else None)
