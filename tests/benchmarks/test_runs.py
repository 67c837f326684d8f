"""Two finished demos are equal only if their counts, records, splits and scores are."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.harness import AS_JSON
from benchmarks.runs import compare, outputs
from tests.support import PROJECT


def make_demo(folder, *, caption="a dog", split="train", score=0.5, order=1, dropped=0, extra=False):
    """A project with one output of two shards and its scores."""
    place = folder / "data" / "english" / "split"
    (place / "shards").mkdir(parents=True)
    rows = [{"key": "1", "caption": "a cat", "split": "test"}, {"key": "2", "caption": caption, "split": split}]
    for number, row in enumerate(rows[::order]):
        pq.write_table(pa.Table.from_pylist([row]), place / "shards" / f"{number:05d}.parquet")
    shards = [{"name": f"{number:05d}", "rows": 1, "ledger": {"rows": 1}, "sha256": str(order)} for number in range(2)]
    counts = {"record": {"kept": 2, "dropped": {"group": dropped} if dropped else {}}}
    (place / "manifest.json").write_text(json.dumps({"shards": shards, "counts": counts}))
    reports = folder / "reports" / "english"
    reports.mkdir(parents=True)
    scores = folder / "data" / "english" / "evaluate_retrieval" / "scores.json"
    scores.parent.mkdir()
    scores.write_text(json.dumps({"mms-48": {"r_at_1": score}}))
    (reports / "recall.csv").write_text(f"row,r_at_1,time\nmms-48,{score},{order}\n")
    if extra:
        (place.parent / "report").mkdir()
        (place.parent / "report" / "manifest.json").write_text(json.dumps({"shards": [], "counts": {}}))
    return folder


def test_the_order_of_records_and_the_clock_do_not_matter(tmp_path):
    assert compare(make_demo(tmp_path / "before"), make_demo(tmp_path / "now", order=-1)) == 0


@pytest.mark.parametrize(
    ("change", "number"),
    [({"caption": "a fox"}, 1), ({"split": "validation"}, 1), ({"score": 0.6}, 2), ({"dropped": 1}, 1), ({"extra": True}, 1)],
)
def test_every_difference_is_found_and_named(tmp_path, capsys, change, number):
    assert compare(make_demo(tmp_path / "before"), make_demo(tmp_path / "now", **change)) == number
    assert "different" in capsys.readouterr().out


def test_fetched_packages_are_no_outputs(tmp_path):
    folder = make_demo(tmp_path)
    (folder / "data" / "packages").mkdir()
    (folder / "data" / "packages" / "manifest.json").write_text("{}")
    assert list(outputs(folder)) == ["english/split"]


def run_time(tmp_path, program):
    """The row of a step that runs ``program`` in two folders, and the whole process."""
    for side in ("before", "now"):
        (tmp_path / side).mkdir()
        (tmp_path / side / "work.py").write_text(program)
    command = [sys.executable, "-m", "benchmarks.runs", "time", tmp_path / "before", tmp_path / "now", "--steps", "repro"]
    command += ["--turns", "1", "--command", f"repro={shlex.quote(sys.executable)} work.py", "--logs", tmp_path]
    done = subprocess.run(command, cwd=PROJECT, env={**os.environ, AS_JSON: "1"}, capture_output=True, text=True, check=False)
    return json.loads(done.stdout.splitlines()[-1]) if done.stdout else {}, done


@pytest.mark.long
def test_a_server_that_a_step_leaves_behind_is_counted_and_ended(tmp_path):
    busy = "import os, time\nwhile time.process_time() < 0.5: pass\nopen('server', 'w').write(str(os.getpid()))\ntime.sleep(60)"
    row, _ = run_time(
        tmp_path,
        "import pathlib, subprocess, sys, time\n"
        f"subprocess.Popen([sys.executable, '-c', {busy!r}], start_new_session=True)\n"
        "while not (pathlib.Path('server').exists() and pathlib.Path('server').read_text()): time.sleep(0.05)\n",
    )
    assert row["now, cpu s"] > 0.3 and row["now, wall s"] < 40
    for side in ("before", "now"):
        with pytest.raises(ProcessLookupError):
            os.kill(int((tmp_path / side / "server").read_text()), 0)


def test_a_step_that_fails_ends_the_measurement_and_names_its_log(tmp_path):
    _, done = run_time(tmp_path, "raise SystemExit(3)")
    assert done.returncode == 1 and "repro.before.log has its output" in done.stderr
