"""``hearsight try --posts``: a caption a line as a JSON string, and what the stage would make of it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.printing import json_line
from components.tools.trial import PostTrial, post_text
from tests.support import PROJECT, command

KEYS = {"raw", "description", "reason", "steps"}


@pytest.fixture(scope="module")
def trial() -> PostTrial:
    return PostTrial(PROJECT, "portuguese")


def test_each_line_gives_one_json_object_in_order() -> None:
    captions = ["Oi!\n\n#PraCegoVer: Mulher anda na praia. 🐶\n#sol", "Sem marca.", ""]
    done = command.hearsight("try", "--posts", stdin="\n".join(map(json.dumps, captions)).encode())
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, done.stderr) == (0, b"")
    assert [line["raw"] for line in lines] == captions and all(set(line) == KEYS for line in lines)
    assert [(line["description"], line["reason"]) for line in lines] == [
        ("Mulher anda na praia.", None), (None, "no_tag"), (None, "no_tag"),
    ]  # fmt: skip
    assert lines[0]["steps"][0] == {
        "step": "tag", "before": captions[0], "after": ": Mulher anda na praia. 🐶\n#sol", "reason": "what stands behind the tag",
    }  # fmt: skip


def test_a_bad_line_is_named_and_the_others_are_answered() -> None:
    good = json.dumps("#PraCegoVer: Mulher anda na praia.").encode()
    done = command.hearsight(
        "try", "--posts", stdin=good + b"\n#PraCegoVer: no JSON\n[1]\n\n\xff\xfe\n" + b"[" * 100_000 + b"\n" + good
    )
    assert done.returncode == 2 and len(done.stdout.splitlines()) == 2
    output = done.stderr.decode().splitlines()
    assert [line.split(":")[1].strip() for line in output] == ["line 2", "line 3", "line 4", "line 5", "line 6"]
    assert "no string" in output[1] and all("JSON string" in line for line in output)


def test_no_lines_give_no_lines() -> None:
    done = command.hearsight("try", "--posts", stdin=b"")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_dataset_without_descriptions_gives_a_one_line_error() -> None:
    done = command.hearsight("try", "--posts", "--dataset", "paper", stdin=b'"x"\n')
    assert done.returncode == 2 and done.stdout == b"" and done.stderr.count(b"\n") == 1 and b"paper" in done.stderr


@given(st.text())
def test_any_json_string_is_answered_with_one_line_of_utf_8(trial: PostTrial, caption: str) -> None:
    for spelled in (json.dumps(caption), json.dumps(caption + "\ud83d")):
        ((result, problem),) = trial.lines([spelled.encode()])
        assert result is not None and problem == ""
        line = json_line(result)
        assert "\n" not in line and json.loads(line.encode())["raw"] == json.loads(spelled)
        post_text(result)


@given(st.binary())
def test_any_bytes_are_answered(trial: PostTrial, line: bytes) -> None:
    ((result, problem),) = trial.lines([line])
    assert (result is None) == bool(problem) and "\n" not in problem
