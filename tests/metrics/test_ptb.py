"""PTB tokens equal those of the published tool's jar.

``benchmarks/ptb.py --table tests/metrics/data/ptb.jsonl`` of commit 528cdca3 wrote what the jar makes of the inputs.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.metrics import ptb
from components.metrics.ptb import PUNCTUATION, ptb_tokenize

DATA = Path(__file__).parent / "data"
TABLE = [json.loads(line) for line in (DATA / "ptb.jsonl").read_text(encoding="utf-8").splitlines()]
PIECES = sorted(
    {piece for line in (DATA / "ptb_inputs.txt").read_text(encoding="utf-8").splitlines() for piece in line.split(" ")}
)
PIECED = st.lists(st.sampled_from(PIECES), max_size=8).flatmap(
    lambda pieces: st.lists(
        st.sampled_from([" ", "", "  ", ", ", "\t", "\xa0", "-"]), min_size=len(pieces), max_size=len(pieces)
    ).map(lambda gaps: "".join(piece + gap for piece, gap in zip(pieces, gaps, strict=True)))
)
CAPTIONS = st.one_of(
    PIECED, st.text(alphabet=st.sampled_from("aAnsStTdlLUC.,'\"’-_/&;:()[]{}<>@#$+=!?0123 \té½£😀…\xad"), max_size=24)
)


def test_the_reference_table_covers_the_inputs() -> None:
    assert [caption for caption, _ in TABLE] == (DATA / "ptb_inputs.txt").read_text(encoding="utf-8").splitlines()
    assert len(TABLE) > 150 and sum(len(tokens) for _, tokens in TABLE) > 800


def test_every_caption_of_the_table_has_the_jars_tokens() -> None:
    other = [(caption, ptb_tokenize(caption), tokens) for caption, tokens in TABLE if ptb_tokenize(caption) != tokens]
    assert not other


@given(CAPTIONS)
def test_text_between_split_positions_is_independent(caption: str) -> None:
    assert ptb_tokenize(caption) == ptb._kept(ptb._LINES.sub(" ", caption))


@given(st.one_of(CAPTIONS, st.text()))
def test_any_text_gives_lower_case_tokens_without_punctuation_or_spaces(caption: str) -> None:
    tokens = ptb_tokenize(caption)
    assert all(token and token == token.lower() and " " not in token for token in tokens)
    assert not PUNCTUATION.intersection(tokens)


@given(CAPTIONS)
def test_a_caption_on_several_lines_equals_the_caption_on_one_line(caption: str) -> None:
    assert ptb_tokenize(caption.replace(" ", "\n")) == ptb_tokenize(caption)


@pytest.mark.parametrize("nothing", ["", "   ", "...", "?!"[1:], "\n\r\n", "😀"])
def test_a_caption_without_a_word_has_no_tokens(nothing: str) -> None:
    assert ptb_tokenize(nothing) == []


def test_tokens_do_not_depend_on_the_next_caption() -> None:
    # The jar would drop the stop here, since "The" follows; each caption stands alone.
    assert ptb_tokenize("Vitamin C.") == ["vitamin", "c."]
    assert ptb_tokenize("Vitamin C. The orange one.") == ["vitamin", "c", "the", "orange", "one"]
