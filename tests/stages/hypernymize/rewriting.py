"""The rewriting of one text as the stage runs it."""

from __future__ import annotations

from components.knowledge.cascade import Knowledge
from components.language.parser import EnglishParser
from components.stages.hypernymize.first_word import second_text
from components.stages.hypernymize.rewrite import Rewritten, rewrite
from tests.support.knowledge.dictionary import knowledge

PARSER = EnglishParser()


def rewritten(text: str, *, min_words: int = 2, knows: Knowledge | None = None) -> Rewritten:
    """The rewriting with a second parse where a first word is taken for a name."""
    source, parse = knows or knowledge(), PARSER.compute(text)
    again = second_text(text, parse, source)
    second = PARSER.compute(again) if again else None
    return rewrite(parse, source, min_words=min_words, min_name_signals=2, second=second)
