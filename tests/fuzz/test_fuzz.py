"""Every parser of untrusted bytes passes its checks on the corpus, on recorded failures and on newly generated inputs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.checks import pages
from tests.fuzz.running import Settings, run
from tests.fuzz.shrink import shrink
from tests.fuzz.targets import CORPUS, FOUND, TARGETS, inputs_of
from tests.support import PROJECT

OWN = [name for name, target in TARGETS.items() if not target.of]
OPEN: dict[str, str] = {}
"""Inputs below ``found`` that still fail, with the planned fix."""


def known_inputs():
    for name in OWN:
        for path in sorted((FOUND / name).glob("*")):
            known = f"{name}/{path.name}"
            mark = [pytest.mark.xfail(reason=OPEN[known], strict=True)] if known in OPEN else []
            yield pytest.param(name, path, id=known, marks=mark)


@pytest.mark.parametrize("name", OWN)
def test_every_corpus_input_passes_its_check(name):
    paths = sorted((CORPUS / name).iterdir())
    assert paths
    for path in paths:
        try:
            TARGETS[name].check(path.read_bytes())
        except Exception as error:
            error.add_note(f"of the input {path}")
            raise


@pytest.mark.parametrize(("name", "path"), known_inputs())
def test_every_recorded_failure_stays_fixed(name, path):
    TARGETS[name].check(path.read_bytes())


def test_every_recorded_failure_is_documented():
    readme = (FOUND / "README.md").read_text(encoding="utf-8")
    for path in FOUND.glob("*/*"):
        assert f"`{path.parent.name}/{path.name}`" in readme
    assert all((FOUND / name).is_file() for name in OPEN)


def test_the_corpus_stays_small():
    sizes = [path.stat().st_size for path in CORPUS.glob("*/*")]
    assert sum(sizes) < 300_000


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Run every target briefly with a fixed seed, in two processes (interpreted targets are in the second)."""
    folder = tmp_path_factory.mktemp("fuzz")
    words = "-m tests.fuzz --runs 0 --seed 1 --seconds-per-input 300 --found"
    command = [sys.executable, *words.split(), str(folder)]
    process = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    rows = [json.loads(line) for line in process.stdout.splitlines()]
    return {row["target"]: row for row in rows}, process.stderr


def all_targets():
    """Yield the targets; those with open faults may fail."""
    open_targets = {name.partition("/")[0] for name in OPEN}
    if "urls" in open_targets:  # addresses are everywhere
        open_targets |= {"html", "sitemap", "wat", "warc", "warc_packed", "wacz"}
    for name in TARGETS:
        mark = [pytest.mark.xfail(reason="an open fault", strict=False)] if inputs_of(name) in open_targets else []
        yield pytest.param(name, marks=mark)


@pytest.mark.long
@pytest.mark.parametrize("name", all_targets())
def test_every_target_passes_a_short_fuzzing_run(runs, name):
    pytest.importorskip("atheris")
    rows, log = runs
    assert name in rows, log[-2000:]
    row = rows[name]
    assert row["runs"] >= TARGETS[name].quick
    assert not row["faults"] and not row["inputs"], f"{row['inputs']}\n{log[-2000:]}"


class Given:
    """Stands in for Atheris and passes these inputs."""

    def __init__(self, inputs):
        self.inputs = inputs

    def Setup(self, options, one):
        self.one = one

    def Fuzz(self):
        for data in self.inputs:
            self.one(data)


def refuse(data):
    if b"()" in data:
        raise ValueError("parentheses")


def test_a_fault_is_counted_and_written_once_and_the_run_continues(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "srcset", refuse)
    result = run(Given([b"a", b"b()", b"()c", b"d"]), "srcset", Settings(4, tmp_path))
    assert (result.runs, result.faults, len(result.inputs)) == (4, 2, 1)
    assert Path(result.inputs[0]).read_bytes() == b"b()"
    assert Path(result.inputs[0]).parent == tmp_path / "srcset"


def test_a_run_continues_after_an_input_that_ends_its_process(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "srcset", lambda data: os._exit(9) if data == b"deadly" else None)
    result = run(Given([b"a", b"b", b"deadly"]), "srcset", Settings(5, tmp_path))
    assert (result.runs, result.faults) == (6, 0)


def test_an_input_is_minimised_while_its_fault_remains(monkeypatch):
    monkeypatch.setattr(pages, "srcset", refuse)
    assert shrink("srcset", b"a (x) () b" * 9) == b"()"
    assert shrink("srcset", b"all is well") == b"all is well"
