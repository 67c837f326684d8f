"""Nothing that a page says controls the terminal of who reads it."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import HearsightError
from components.core.printing import NARROWEST, ROOM, escape_controls, json_line, print_table
from components.tracking.history import Event, RecordHistory
from tests.support import PROJECT

OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
HOSTILE = "A dog \x9b31m\x1b]0;owned\x07 \x85 \u202egnp.exe\u2066 \x7f \ud83d"


@given(st.text(st.characters()))
def test_only_terminal_control_characters_are_replaced(text: str) -> None:
    shown = escape_controls(text)
    assert not OBEYED.search(shown) and shown.encode().decode() == shown
    assert escape_controls(shown) == shown and (OBEYED.search(text) is not None or shown == text)


@given(st.recursive(st.none() | st.text(st.characters()), lambda c: st.lists(c) | st.dictionaries(st.text(), c), max_leaves=6))
def test_a_json_line_contains_no_control_character_and_reads_back_equal(value: object) -> None:
    line = json_line(value)
    assert not OBEYED.search(line) and len(line.splitlines()) == 1
    assert json.dumps(json.loads(line)) == json.dumps(value)


def test_control_characters_are_shown_as_codes_except_tab_and_newline() -> None:
    assert escape_controls("a\x9b\x1b[31m\u202e\tb\nc") == "a\\x9b\\x1b[31m\\u202e\tb\nc"
    assert json_line({"alt": "a\x9b\u202e"}) == '{"alt": "a\\u009b\\u202e"}'


def test_an_error_that_quotes_web_text_is_one_line_without_control_characters() -> None:
    text = str(HearsightError(HOSTILE, where=f"http://host/{HOSTILE}", hint=HOSTILE))
    assert not OBEYED.search(text) and len(text.splitlines()) == 1 and "\\x9b31m" in text


ROWS = st.lists(
    st.fixed_dictionaries({"key": st.text(max_size=16), "text": st.text(max_size=300), "empty": st.just("")}),
    min_size=1,
    max_size=4,
)


def table(rows: list[dict[str, str]], columns: int, *, is_terminal: bool = True) -> list[str]:
    """Return the lines of a table whose main column is ``text``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(columns))
        patch.setattr(sys, "stdout", out := io.StringIO())
        patch.setattr(out, "isatty", lambda: is_terminal)
        print_table(rows, fit="text")
    return out.getvalue().removesuffix("\n").split("\n")


@given(rows=ROWS, columns=st.integers(20, 200))
def test_a_table_is_as_wide_as_the_terminal_and_json_is_complete(rows: list[dict[str, str]], columns: int) -> None:
    assert [json.loads(line) for line in table(rows, columns, is_terminal=False)] == rows
    lines = table(rows, columns)
    if not any("\n" in row["text"] + row["key"] for row in rows):
        head = len(lines) - len(rows) - 1
        assert head == (len(rows) > 1 and len({row["key"] for row in rows}) == 1 and rows[0]["key"] != "")
        assert not any("empty" in line for line in lines[: head + 1])
        assert all(len(line) <= max(columns, 2 * NARROWEST + 2) and line == line.rstrip() for line in lines[head:])


@given(keys=st.lists(st.integers(0, 10**16 - 1), min_size=2, max_size=4, unique=True), columns=st.integers(80, 200))
def test_the_main_column_has_the_room_and_what_is_equal_in_all_rows_stands_above(keys: list[int], columns: int) -> None:
    text, wide = "A dog runs on the beach of a lake behind the hills", [f"{key:016}{'x' * 60}" for key in keys]
    rows = [{"rule": "min_words", "key": each[:16], "value": each, "text": text, "url": each} for each in wide]
    equal, heading, *lines = table(rows, columns)
    assert equal == "rule min_words" and heading.split()[:3] == ["key", "value", "text"]
    for row, line in zip(rows, lines, strict=True):
        assert line.startswith(row["key"]) and text[: ROOM - 1] in line
    assert ("url" in heading) == (columns >= 3 * (NARROWEST + 2) + ROOM)


LIFE = RecordHistory("k", "candidate", [Event("crawl", "dropped", "rule", HOSTILE, HOSTILE, HOSTILE, {"alt": HOSTILE})])


@pytest.mark.long
@pytest.mark.parametrize(
    "code",
    [
        "from components.core.printing import print_line; print_line({'alt': HOSTILE, HOSTILE: {'a': HOSTILE}})",
        "from components.core.printing import print_table; print_table([{'alt': HOSTILE, HOSTILE: 1}, {'alt': 'dog'}])",
        "from components.core.printing import print_text; from tests.core.test_printing import LIFE; print_text(LIFE.text())",
        "from components.core.printing import print_error; print_error(HOSTILE)",
        "from components.core.progress import progress; list(progress([1], desc=HOSTILE))",
        "from components.cli.main import main; import sys; sys.argv = ['hearsight', 'try', '-d', HOSTILE[:30]]; main()",
    ],
)
def test_a_terminal_gets_no_command_from_what_is_printed(code: str) -> None:
    shown = on_a_terminal(["-c", f"from tests.core.test_printing import HOSTILE; {code}"])
    assert b"A dog" in shown and b"\\x9b31m" in shown
    # A bar may move the cursor of its own accord: a carriage return, and nothing that the text brought.
    assert not OBEYED.search(shown.decode().replace("\r", "")), shown


def on_a_terminal(words: list[str], stdin: bytes = b"") -> bytes:
    """What a Python program writes to a terminal, which is its standard output and error."""
    try:
        leader, follower = pty.openpty()
    except OSError:
        pytest.skip("this machine gives no pseudo-terminals")
    environment = {
        **os.environ,
        "PYTHONPATH": str(PROJECT),
        "HEARSIGHT_WORDNET": str(PROJECT / "tests" / "knowledge" / "wordnet"),
    }
    with subprocess.Popen(
        [sys.executable, *words], cwd=PROJECT, env=environment, stdin=subprocess.PIPE, stdout=follower, stderr=follower
    ) as child:
        os.close(follower)
        assert child.stdin is not None
        child.stdin.write(stdin)
        child.stdin.close()
        pieces = []
        try:
            while piece := os.read(leader, 65536):
                pieces.append(piece)
        except OSError:  # the terminal has no writer any more
            pass
    os.close(leader)
    return b"".join(pieces)
