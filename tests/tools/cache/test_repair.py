"""A damaged store of results: what is damaged is found and removed alone, and what SQLite still reads survives."""

from __future__ import annotations

import ast
import random
import shutil
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from components.cli.cache import SERVICES, holds_answers
from components.cli.main import app
from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.result_cache import ResultCache
from components.core.result_files import sqlite_backend
from components.tools.cache import find_damage, readable_rows
from tests.support import PROJECT
from tests.support.settings_files import copy_settings


class Repeat:
    """Computes something as long as asked for: the beginning of a page, or several pages."""

    name, version, model, codec = "repeat", 1, "none", "bytes"

    def compute(self, payload: Any) -> bytes:
        return str(payload).encode() * (1 + payload % 7 * 300)


class Bought(Repeat):
    """The same, paid for."""

    name = "google.repeat"

    def __init__(self) -> None:
        self.asked = 0

    def ask_many(self, payloads: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, bytes]]:
        for key, payload in payloads:
            self.asked += 1
            yield key, self.compute(payload)


PAGE = 4096
"""Bytes per page of a store; the results begin at the second page, the root of their tree."""
PAYLOADS = {sha256_bytes(str(number).encode()): number for number in range(120)}
TRUTH = {key: Repeat().compute(number) for key, number in PAYLOADS.items()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project's root with a computed and a bought store of the same results."""
    root = tmp_path_factory.mktemp("made")
    copy_settings(root)
    store = ResultCache(root / ".hearsight" / "annotations")
    for annotator in (Repeat(), Bought()):
        assert store.annotate(annotator, PAYLOADS) == TRUTH
    return root


@pytest.fixture
def root(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(made, tmp_path / "root")
    monkeypatch.setenv("HEARSIGHT_ROOT", str(tmp_path / "root"))
    return tmp_path / "root"


def path_of(root: Path, annotator: Repeat) -> Path:
    return next((root / ".hearsight" / "annotations").glob(f"{annotator.name}-*.sqlite"))


def hearsight(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["cache", "repair", *words])
    return done.exit_code, done.output


def damage_a_value(path: Path) -> str:
    """Flip a bit in the middle of one value; returns its key."""
    key = sorted(TRUTH)[17]
    with closing(sqlite3.connect(path)) as base, base:
        (value,) = base.execute("SELECT value FROM results WHERE key = ?", (key,)).fetchone()
        spoilt = bytes([value[0] ^ 1]) + value[1:]
        base.execute("UPDATE results SET value = ? WHERE key = ?", (spoilt, key))
    return key


def stored(path: Path) -> dict[str, bytes]:
    with sqlite_backend(path) as shelf:
        return {key: value for key, value, _ in shelf.read(list(TRUTH))}


def test_only_a_damaged_result_is_computed_again_with_a_one_line_warning(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    key = damage_a_value(path_of(root, Repeat()))
    store = ResultCache(root / ".hearsight" / "annotations")
    assert store.annotate(Repeat(), PAYLOADS) == TRUTH
    assert store.computed == {"repeat": 1}
    warning = capfd.readouterr().err
    assert key in warning and warning.count("\n") == 1
    assert stored(path_of(root, Repeat())) == TRUTH


def test_a_damaged_paid_answer_is_named_and_kept_until_its_removal_is_requested(root: Path) -> None:
    path, bought = path_of(root, Bought()), Bought()
    key = damage_a_value(path)
    before = path.read_bytes()
    store = ResultCache(root / ".hearsight" / "annotations")
    with pytest.raises(HearsightError, match=key) as refused:
        store.annotate(bought, PAYLOADS)
    assert "hearsight cache repair" in str(refused.value) and "remove that file" not in str(refused.value)
    for words in ((), ("--yes",), ("--answers",)):
        code, result = hearsight(*words)
        assert code == 2 and key in result and "google.repeat" in result
        assert path.read_bytes() == before
    code, result = hearsight("--yes", "--answers")
    assert code == 0 and "119 results kept" in result
    assert stored(path) == {other: value for other, value in TRUTH.items() if other != key}
    assert store.annotate(bought, PAYLOADS) == TRUTH and bought.asked == 1
    assert hearsight() == (0, hearsight()[1])


@pytest.mark.parametrize("annotator", [Repeat(), Bought()], ids=["computed", "bought"])
@pytest.mark.parametrize(
    ("place", "kept"),
    [(0, 0), (100, 0), (PAGE, 0), (3 * PAGE + 3, 119)],
    ids=["magic", "schema", "root", "a page's header"],
)
def test_of_a_file_with_a_damaged_structure_what_sqlite_reads_is_kept(
    root: Path, annotator: Repeat, place: int, kept: int
) -> None:
    path = path_of(root, annotator)
    data = bytearray(path.read_bytes())
    data[place : place + 8] = b"\xff" * 8
    path.write_bytes(data)
    (damage,) = find_damage(path.parent)
    assert damage.structural and damage.store == path
    paid = ("--answers",) if holds_answers(path) else ()
    code, result = hearsight("--yes", *paid)
    assert code == 0, result
    results = stored(path)
    assert len(results) >= kept and all(TRUTH[key] == value for key, value in results.items())
    assert find_damage(path.parent) == []
    copy = path.with_name(path.name + ".damaged")
    assert copy.exists() == holds_answers(path) and (not copy.exists() or copy.read_bytes() == bytes(data))
    assert ResultCache(path.parent).annotate(annotator, PAYLOADS) == TRUTH


def test_one_changed_byte_in_a_page_of_results_costs_few_results(root: Path) -> None:
    whole, draws = path_of(root, Repeat()).read_bytes(), random.Random(0)
    target = root / "damaged.sqlite"
    for _ in range(30):
        place = draws.randrange(2 * PAGE, len(whole))
        target.write_bytes(whole[:place] + bytes([whole[place] ^ (1 << draws.randrange(8))]) + whole[place + 1 :])
        result = {key: value for key, value, _ in readable_rows(target)}
        good = {key for key in TRUTH if result.get(key) == TRUTH[key]}
        assert len(good) >= len(TRUTH) - 5, place


@pytest.mark.parametrize(("share", "kept"), [(0.5, 0), (0.9, 0.5), (0.99, 0.9)])
def test_data_before_the_cut_of_a_truncated_file_is_kept(root: Path, share: float, kept: float) -> None:
    path = path_of(root, Repeat())
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    code, result = hearsight("--yes")
    assert code == 0, result
    results = stored(path)
    assert len(results) >= kept * len(TRUTH) and all(TRUTH[key] == value for key, value in results.items())
    assert ResultCache(path.parent).annotate(Repeat(), PAYLOADS) == TRUTH


def test_results_in_the_log_of_a_killed_run_survive(root: Path, tmp_path: Path) -> None:
    path = path_of(root, Repeat())
    late = "0" * 64
    with sqlite_backend(path) as shelf:
        shelf.write([(late, b"late", zlib.crc32(b"late"))])
        # As a killed process leaves them: the log is not yet in the file.
        for source in (path, path.with_name(path.name + "-wal")):
            shutil.copy(source, tmp_path / source.name)
    copy = tmp_path / path.name
    data = bytearray(copy.read_bytes())
    data[3 * PAGE : 3 * PAGE + 8] = b"\xff" * 8
    copy.write_bytes(data)
    result = {key: value for key, value, _ in readable_rows(copy)}
    assert result[late] == b"late" and len(result) >= len(TRUTH) - 5


def test_undamaged_stores_need_no_repair(root: Path) -> None:
    before = path_of(root, Bought()).read_bytes()
    code, result = hearsight("--yes", "--answers")
    assert code == 0 and "nothing" in result
    assert path_of(root, Bought()).read_bytes() == before


def test_a_running_stage_is_not_disturbed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from components.core.addresses import lock_path
    from components.execution import process

    monkeypatch.setattr(process, "LOCK_PATIENCE", 0.1)
    path = path_of(root, Repeat())
    path.write_bytes(b"no database" * 1000)
    before = path.read_bytes()
    with process.sole_writer(lock_path(root, "english", "filter"), "english/filter"):
        done = CliRunner().invoke(app, ["cache", "repair", "--yes"])
    assert isinstance(done.exception, HearsightError) and "is being written" in str(done.exception)
    assert path.read_bytes() == before


@pytest.mark.long
def test_the_stores_of_all_services_are_recognised() -> None:
    names: list[str] = []
    for path in sorted((PROJECT / "components").rglob("*.py")):
        for node in ast.parse(path.read_bytes()).body:
            if isinstance(node, ast.ClassDef) and _asks(node.body, node.bases):
                names += [ast.literal_eval(item.value) for item in node.body if _is_name(item)]  # type: ignore[attr-defined]
    services = [name for name in names if name]
    assert len(services) >= 7, services
    assert all(name.startswith(SERVICES) for name in services), services


def _asks(body: Sequence[ast.stmt], bases: Sequence[ast.expr]) -> bool:
    """Whether a class asks a service: it has ``ask_many``, or is a source of knowledge over the network."""
    own = any(isinstance(item, ast.FunctionDef) and item.name == "ask_many" for item in body)
    return own or any("Remote" in ast.unparse(base) or "Google" in ast.unparse(base) for base in bases)


def _is_name(item: ast.stmt) -> bool:
    return isinstance(item, ast.Assign) and ast.unparse(item.targets[0]) == "name"
