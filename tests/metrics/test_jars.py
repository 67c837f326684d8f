"""METEOR and SPICE by their jars: values, what is asked and answered, and what is said when something is missing."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
from pathlib import Path

import pytest

from components.metrics.jars import JarUnavailable, find_java, find_packaged_file, run_jar
from components.metrics.meteor import LanguageUnavailable, meteor, meteor_jar
from components.metrics.spice import read_spice, spice, spice_input, spice_jar
from tests.support.metrics.programs import program

JAVA = pytest.mark.skipif(
    shutil.which("java") is None or find_packaged_file("meteor", "meteor-1.5.jar") is None,
    reason="needs Java and pycocoevalcap's jar",
)
CANDIDATES = [["a", "dog", "runs", "on", "the", "grass"], ["two", "cats", "sleeping"], []]
REFERENCES = [
    [["the", "dog", "is", "running", "in", "the", "grass"], ["a", "brown", "dog", "runs"]],
    [["a", "pair", "of", "kittens", "asleep"]],
    [["a", "tree"]],
]

WORDS = "import sys\nfor line in sys.stdin: print('what?\\n' * (4 if line.startswith('EVAL') else 1), end='', flush=True)"


FAULT = 'Exception in thread "main" java.lang.Fault: at 0,5'
FAILURE = (
    "Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nOpenJDK 64-Bit Server VM warning: old\n"
    f"{FAULT}\n\tat edu.cmu.Meteor(Meteor.java:1)\n\t... 3 more\nCaused by: java.io.IOException: no table"
)
"""What Java prints when a program fails: notices, the error, its stack and its cause."""


@pytest.mark.slow
@JAVA
def test_meteor_has_the_values_of_the_published_wrapper() -> None:
    marked = [[[*REFERENCES[0][0], "|||", "\n"], REFERENCES[0][1]], *REFERENCES[1:]]
    mean, items = meteor(CANDIDATES, marked)
    # By pycocoevalcap 1.2's own Meteor over these captions; without the protocol's mark, which parts its references.
    assert mean == pytest.approx(0.1583077983553078, abs=1e-12)
    assert items == pytest.approx([0.3036064826967712, 0.06923076923076922, 0.0], abs=1e-12)


@pytest.mark.slow
@JAVA
def test_portuguese_is_scored_by_its_stems_and_the_language_independent_parameters() -> None:
    candidate, reference = ["os", "cachorros", "correm", "na", "grama"], ["o", "cachorro", "corre", "na", "grama"]
    mean, items = meteor([candidate], [[reference]], language="pt")
    # Two words match exactly, two by their stems at half weight, "os" and "o" do not; the four are one chunk of the five words.
    precision = recall = (2 + 2 * 0.5) / 5
    f_mean = precision * recall / (0.75 * precision + 0.25 * recall)
    assert items == [mean] == [pytest.approx(f_mean * (1 - 0.7 * (1 / 4) ** 1.4), abs=1e-12)]


@pytest.mark.parametrize(
    ("language", "options"),
    [("en", "-l en -norm"), ("pt", "-l pt -lower"), ("sv", "-l se -lower"), ("cs", "-l cz -norm")],
)
def test_the_jar_is_told_the_language_and_normalises_where_it_has_rules(
    jar: Path, tmp_path: Path, language: str, options: str
) -> None:
    (jar / "data" / "paraphrase-cz.gz").write_bytes(b"")
    seen = tmp_path / "seen"
    answer = (
        f"import pathlib, sys; pathlib.Path({str(seen)!r}).write_text(' '.join(sys.argv[1:]))\n"
        "for line in sys.stdin: print('0.5\\n' * (line.count('|||') + 1 if line.startswith('EVAL') else 1), end='', flush=True)"
    )
    assert meteor(CANDIDATES, REFERENCES, language=language, jar=jar, java=program(tmp_path, "java", answer))[0] == 0.5
    assert seen.read_text().endswith(f"-stdio {options}")


@pytest.mark.parametrize(
    ("language", "message"),
    [
        ("fr", r"METEOR: data/paraphrase-fr\.gz is not beside .*meteor-1\.5\.jar: copy the complete folder"),
        ("ja", r"METEOR: it has no data for the language 'ja': it has some for cs, da, .*, pt, "),
    ],
)
def test_a_language_without_data_is_not_scored_with_that_of_another(jar: Path, language: str, message: str) -> None:
    with pytest.raises(LanguageUnavailable, match=message) as problem:
        meteor(CANDIDATES, REFERENCES, language=language, jar=jar, java="no-such-java")
    assert "\n" not in str(problem.value)


@pytest.fixture
def jar(tmp_path: Path) -> Path:
    """A folder as METEOR's, for programs that never read it."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "paraphrase-en.gz").write_bytes(b"")
    (tmp_path / "meteor-1.5.jar").write_bytes(b"")
    return tmp_path


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import sys; print('Error: no table', file=sys.stderr); sys.exit(3)", "ended with code 3: Error: no table"),
        (f"import sys; sys.exit({FAILURE!r})", f"ended with code 1: {FAULT}; Caused by: java.io.IOException: no table$"),
        (WORDS, "did not answer with a number"),
        ("import sys; sys.stdin.readline(); print('1', flush=True); sys.stdin.readline()", "ended with code 0"),
        ("import time; time.sleep(60)", "no answer within 0.5 s"),
    ],
)
def test_a_failing_meteor_gives_a_one_line_error(jar: Path, tmp_path: Path, code: str, message: str) -> None:
    java = program(tmp_path, "java", code)
    with pytest.raises(JarUnavailable, match=message) as problem:
        meteor(CANDIDATES, REFERENCES, jar=jar, java=java, seconds=0.5 if "sleep" in code else 30)
    assert str(problem.value).startswith("METEOR: ") and "\n" not in str(problem.value)


HOSTILE = {
    "JAVA_TOOL_OPTIONS": "-Duser.language=pt -Duser.country=BR",
    "_JAVA_OPTIONS": "-Duser.language.format=ar -Duser.extensions=u-nu-arab",
    "JDK_JAVA_OPTIONS": "-Dfile.encoding=ISO-8859-1",
    "LC_ALL": "pt_BR.UTF-8",
}


def test_java_runs_in_one_locale_whatever_the_environment_says(
    jar: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in HOSTILE.items():
        monkeypatch.setenv(name, value)
    names = [*HOSTILE, "HOME"]
    java = program(tmp_path, "java", f"import os, sys; sys.exit(repr([[os.environ.get(n) for n in {names}], sys.argv[1:5]]))")
    monkeypatch.setenv("HOME", "/home/me")
    options = ["-Xmx2G", "-Duser.language=en", "-Duser.country=US", "-Dfile.encoding=UTF-8"]
    with pytest.raises(JarUnavailable, match=re.escape(repr([[None, None, None, "C.UTF-8", "/home/me"], options]))):
        meteor(CANDIDATES, REFERENCES, jar=jar, java=java)


@pytest.mark.long
@JAVA
def test_meteor_is_the_same_in_a_locale_with_decimal_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    captions = [["os", "cachorros", "correm"]], [[["o", "cachorro", "corre"]]]
    expected = meteor(*captions, language="pt")
    for name, value in HOSTILE.items():
        monkeypatch.setenv(name, value)
    assert meteor(*captions, language="pt") == expected and 0 < expected[0] < 1


def test_a_jar_that_takes_too_long_is_ended(jar: Path, tmp_path: Path) -> None:
    seen = tmp_path / "pid"
    code = f"import os, pathlib, time; pathlib.Path({str(seen)!r}).write_text(str(os.getpid())); time.sleep(60)"
    with pytest.raises(JarUnavailable, match="no answer within 5 s"):
        run_jar([program(tmp_path, "java", code)], jar, 5)
    with pytest.raises(ProcessLookupError):
        os.kill(int(seen.read_text()), 0)


def test_missing_java_and_jars_are_named(tmp_path: Path) -> None:
    with pytest.raises(JarUnavailable, match="Java was not found as 'no-such-java': install"):
        find_java("no-such-java")
    with pytest.raises(JarUnavailable, match=r"nowhere does not exist"):
        meteor_jar(tmp_path / "nowhere")
    (tmp_path / "meteor-1.5.jar").write_bytes(b"")
    with pytest.raises(JarUnavailable, match=r"paraphrase-en\.gz is not beside"):
        meteor_jar(tmp_path)
    with pytest.raises(JarUnavailable, match=r"spice-1\.0\.jar does not exist"):
        spice_jar(tmp_path)
    (tmp_path / "spice-1.0.jar").write_bytes(b"")
    with pytest.raises(JarUnavailable, match=r"stanford-corenlp-3\.6\.0\.jar and stanford-corenlp-3\.6\.0-models\.jar not in"):
        spice_jar(tmp_path)


def test_items_without_a_reference_are_refused_before_any_metric_starts(tmp_path: Path) -> None:
    for metric in (lambda: meteor([["a"]], [[]], java="no-such-java"), lambda: spice([["a"]], [], tmp_path, java="no-such-java")):
        with pytest.raises(ValueError, match="at least one reference"):
            metric()


ROW = {
    "image_id": 0,
    "test": "a dog runs",
    "scores": {
        "All": {"pr": 0.5, "re": 0.25, "f": 0.3333333333333333, "fn": 3.0, "numImages": 1, "fp": 1.0, "tp": 1.0},
        "Color": {"pr": None, "re": None, "f": None, "fn": 0.0, "numImages": 0, "fp": 0.0, "tp": 0.0},
    },
}
"""As the jar's published output is."""


def test_spice_input_has_the_jars_format() -> None:
    assert spice_input(CANDIDATES[:2], REFERENCES[:2]) == [
        {"image_id": 0, "test": "a dog runs on the grass", "refs": ["the dog is running in the grass", "a brown dog runs"]},
        {"image_id": 1, "test": "two cats sleeping", "refs": ["a pair of kittens asleep"]},
    ]


def test_spice_is_read_by_item_whatever_their_order() -> None:
    result = read_spice(json.dumps([{**ROW, "image_id": 1}, {**ROW, "scores": {"All": {"f": 1}}}]), 2)
    assert result.items == [1.0, pytest.approx(1 / 3)]
    assert result.mean == pytest.approx(2 / 3)
    assert math.isnan(read_spice(json.dumps([{**ROW, "scores": {"All": {"f": None}}}]), 1).mean)


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("", "not JSON"),
        ("[{", "not JSON"),
        ("{}", "no 0"),
        ("3", "not a list"),
        ("[1]", "not a list"),
        (json.dumps([{**ROW, "scores": {}}]), "no 'All'"),
        (json.dumps([ROW, ROW]), "2 items for 1"),
        (json.dumps([{**ROW, "scores": {"All": 3}}]), "not a list"),
    ],
)
def test_invalid_spice_output_is_refused(output: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_spice(output, 1)


def test_spice_runs_the_jar_on_files_and_reports_its_failure(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    for name in ("spice-1.0.jar", "lib/stanford-corenlp-3.6.0.jar", "lib/stanford-corenlp-3.6.0-models.jar"):
        (tmp_path / name).write_bytes(b"")
    answer = (
        "import json, sys; asked = json.load(open(sys.argv[sys.argv.index('-jar') + 2])); "
        "rows = [{'image_id': each['image_id'], 'scores': {'All': {'f': len(each['refs']) / 4}}} for each in asked]; "
        "json.dump(rows, open(sys.argv[sys.argv.index('-out') + 1], 'w'))"
    )
    assert spice(CANDIDATES, REFERENCES, tmp_path, java=program(tmp_path, "good", answer)).items == [0.5, 0.25, 0.25]
    failing = program(tmp_path, "bad", "import sys; sys.exit('Exception in thread \"main\" java.lang.OutOfMemoryError')")
    with pytest.raises(JarUnavailable, match="SPICE: it ended with code 1: Exception in thread"):
        spice(CANDIDATES, REFERENCES, tmp_path, java=failing)
    with pytest.raises(JarUnavailable, match="SPICE: no answer within"):
        spice(CANDIDATES, REFERENCES, tmp_path, java=program(tmp_path, "slow", "import time; time.sleep(60)"), seconds=0.5)
