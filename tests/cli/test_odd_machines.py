"""Every command of the registry on odd terminals, without a home, and in projects with odd paths: never a traceback."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from components.cli.reference import commands
from components.core.home import private_folder, use_writable_home
from components.core.streams import BROKEN_PIPE
from tests.support import PROJECT
from tests.support.command import hearsight
from tests.support.settings_files import copy_settings

PAGE = '<html lang="pt"><head><meta charset="utf-8"></head><body><img src="/dog.jpg" alt="Um cão à beira-mar 🐕"></body></html>'


COMMANDS = [tuple(name.split()[1:]) for name, _ in commands()]
SERVERS = {("app",), ("demo",), ("data",), ("doctor",)}
"""Commands that serve, download or look at the machine even without arguments: only their help is asked for."""
PLAIN = [words for words in COMMANDS if words not in SERVERS]
TERMINALS: dict[str, dict[str, str]] = {
    "ascii": {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"},
    "dumb": {"TERM": "dumb", "COLUMNS": "1"},
    "no columns": {"TERM": "", "COLUMNS": "0", "LINES": "0"},
    "wide": {"COLUMNS": "100000"},
}
FOLDER = 'a project of/ção/it\'s "mine" in\ntwo lines'


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project without outputs."""
    return project(tmp_path_factory.mktemp("projects") / "plain")


def project(root: Path) -> Path:
    root.mkdir(parents=True)
    copy_settings(root)
    shutil.copy(PROJECT / "takedown.jsonl", root)
    for name in ("components", "expectations"):
        (root / name).symlink_to(PROJECT / name)
    (root / "página.html").write_text(PAGE, encoding="utf-8")
    return root


def check(done: subprocess.CompletedProcess[bytes]) -> None:
    """Require an end as a user knows it: no traceback, no noise of the interpreter, a usual exit code."""
    said = (done.stdout + done.stderr).decode("utf-8", "replace")
    assert "Traceback" not in said and "Exception ignored" not in said, (done.args, said[-2000:])
    assert done.returncode in (0, 1, 2, BROKEN_PIPE), (done.args, done.returncode, said[-2000:])


def test_the_registry_is_swept() -> None:
    assert len(COMMANDS) > 30 and set(COMMANDS) > SERVERS


@pytest.mark.parametrize("terminal", ["ascii", *(pytest.param(name, marks=pytest.mark.long) for name in [*TERMINALS][1:])])
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_fits_any_terminal(words: tuple[str, ...], terminal: str, empty: Path) -> None:
    done = hearsight(*words, "--help", cwd=empty, **TERMINALS[terminal])
    check(done)
    assert done.returncode == 0 and done.stdout


@pytest.mark.long
@pytest.mark.parametrize("words", PLAIN, ids=" ".join)
def test_every_command_ends_in_order_in_a_project_of_any_path(words: tuple[str, ...], tmp_path: Path) -> None:
    root = project(tmp_path / FOLDER)
    check(hearsight(*words, cwd=root, HEARSIGHT_TRACKING="off"))


SCRIPT = [sys.executable, "-m", "components.cli.entry"]
HOW = [">&-", "2>&-", "<&-", "<&- >&- 2>&-", "| head -1", "| true", ">/dev/full"]
REAL = ["pairs 'página.html'", "params crawl", "status", "--help", "run crawl --dataset none", "no-such-command"]


def shell(line: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line of bash with real streams; the exit code is that of its first command."""
    script = f"{line}; exit ${{PIPESTATUS[0]}}"
    env = {**os.environ, "PYTHONPATH": str(PROJECT), "HEARSIGHT_TRACKING": "off", **environment}
    return subprocess.run(["bash", "-c", script, *SCRIPT], cwd=cwd, env=env, capture_output=True, timeout=300, check=False)


@pytest.mark.long
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("words", REAL)
def test_closed_and_broken_streams_end_no_command(words: str, how: str, empty: Path) -> None:
    done = shell(f'"$0" "$@" {words} {how}', empty)
    check(done)
    if how == ">/dev/full" and not words.startswith(("run", "no-such")):
        assert done.returncode == 2
    if how == "| true":
        assert done.returncode in (0, 2, BROKEN_PIPE)


def test_a_closed_output_and_an_ascii_one_end_no_command(empty: Path) -> None:
    check(shell('"$0" "$@" params crawl <&- >&- 2>&-', empty))
    done = shell('"$0" "$@" pairs "$PAGE"', empty, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", PAGE="página.html")
    check(done)
    assert done.returncode == 0 and rb'"alt": "Um c\u00e3o \u00e0 beira-mar \ud83d\udc15"' in done.stdout
    missing = shell('"$0" "$@" pairs não.html', empty, PYTHONIOENCODING="ascii")
    check(missing)
    assert missing.returncode == 2 and rb"n\u00e3o.html" in missing.stderr


@pytest.mark.long
@pytest.mark.parametrize("name", ["pipeline", "rating", "serve", "ui", "worker"])
@pytest.mark.parametrize("how", ["", ">&- 2>&-", "| true", "2>&1 | head -1"])
def test_flows_end_in_order_too(name: str, how: str, empty: Path) -> None:
    check(shell(f'"{sys.executable}" -m flows.{name} --help {how}', empty, PYTHONIOENCODING="ascii"))


HOMES: dict[str, dict[str, str]] = {
    "none": {"HOME": "/proc/none"},
    "empty": {"HOME": ""},
    "read-only": {"HOME": "/proc"},
    "cache too": {"HOME": "/proc/none", "XDG_CACHE_HOME": "/proc/none"},
}


@pytest.mark.parametrize("home", [*HOMES, "unset"])
def test_a_home_that_cannot_be_used_is_replaced_by_a_private_folder(
    home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for name in ("HOME", "XDG_CACHE_HOME", "MPLCONFIGDIR", "LOGNAME"):
        monkeypatch.setenv(name, "")  # so that it is restored
        monkeypatch.delenv(name)
    for name, value in HOMES.get(home, {}).items():
        monkeypatch.setenv(name, value)
    if home == "unset":
        monkeypatch.setattr("pwd.getpwuid", lambda uid: (_ for _ in ()).throw(KeyError(uid)))
    use_writable_home()
    folder = Path(os.environ["XDG_CACHE_HOME"])
    assert folder.parent == private_folder() and folder.is_relative_to(tmp_path) and folder.parent.stat().st_mode & 0o777 == 0o700
    assert Path.home() == (Path("/proc") if home == "read-only" else folder.parent)


def test_a_home_that_can_be_used_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    before = dict(os.environ)
    use_writable_home()
    assert dict(os.environ) == before and not any(tmp_path.iterdir())


def test_a_folder_that_another_could_write_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    first = private_folder()
    assert private_folder() == first
    first.chmod(0o777)
    second = private_folder()
    first.chmod(0o700)
    first.rmdir()
    first.symlink_to(tmp_path / "elsewhere")
    assert first != second == private_folder() and second.stat().st_mode & 0o777 == 0o700


@pytest.mark.long
@pytest.mark.parametrize("home", HOMES)
def test_compiled_code_is_loaded_without_a_home(home: str, empty: Path, tmp_path: Path) -> None:
    # As where the installation is read-only: nothing can be written beside the bytecode, only in the user's cache.
    variables = HOMES[home] | {"PYTHONPYCACHEPREFIX": "/dev/null/none", "TMPDIR": str(tmp_path)}
    done = shell('"$0" "$@" pairs página.html', empty, **variables)
    check(done)
    assert done.returncode == 0 and b"beira-mar" in done.stdout and any(tmp_path.rglob("tags-*.o"))
