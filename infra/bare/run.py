"""``make bare``: run the README's commands and the long tests on empty Debians 12 and 13, and print what became of them.

    make bare                                                 # every case
    make bare CASES="debian13-root-demo debian13-root-test"   # some of them, in this order; none needs another before it

A case is a release, a user and a command. ``root`` works in a plain path; ``plain`` is an unprivileged user in a path with a
space and a letter that is not ASCII. Each user begins with a fresh clone of HEAD and an empty home, and ``LANG=C``. Needs root,
debootstrap and 12 GB for each release (24 GB where torch comes with CUDA). A root is built once; remove its folder to build it
anew. The logs are in the same folder as the roots.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from measured import Measured, measured
from root import RELEASES, USER, build, inside, mounted, take_settings_along

PROJECT = Path(__file__).resolve().parents[2]
PLACES = {"root": Path("/srv/hearsight"), USER: Path(f"/home/{USER}/my próject")}
"""Where each user clones to, inside the root."""
CASES = tuple(
    f"{release}-{user}-{command}" for release in RELEASES for user in PLACES for command in ("demo", "test", "test-long")
)


@dataclass(frozen=True)
class Result:
    """What became of one case."""

    case: str
    passed: bool
    measured: Measured
    disk_gib: float
    """Project and home after it."""
    log: str

    def cells(self) -> list[str]:
        """Return the row of the table."""
        m = self.measured
        figures = [f"{m.wall_s / 60:.1f}", f"{m.cpu_s / 60:.1f}", f"{m.peak_gib:.2f}", f"{self.disk_gib:.2f}"]
        return [self.case, "passed" if self.passed else "FAILED", *figures, self.log]


def main() -> int:
    """Build the roots that are absent, run the cases, print the table; 1 when any failed."""
    parser = argparse.ArgumentParser(description="Run `make demo`, `make test` and `make test-long` on empty Debians.")
    parser.add_argument("cases", nargs="*", default=list(CASES), metavar="CASE", help=f"of {', '.join(CASES)}; all without")
    parser.add_argument("--roots", type=Path, default=Path(os.environ.get("BARE_ROOTS") or "/var/tmp/hearsight-bare"))
    parser.add_argument("--keep", action="store_true", help="leave the clones for a look")
    chosen = parser.parse_args()
    if unknown := [case for case in chosen.cases if case not in CASES]:
        parser.error(f"no such case: {', '.join(unknown)}; choose of {', '.join(CASES)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    results: list[Result] = []
    try:
        for release, suite in RELEASES.items():
            if cases := [case for case in chosen.cases if case.startswith(f"{release}-")]:
                root = chosen.roots.resolve() / release
                if not (root / ".built").is_file():
                    shutil.rmtree(root, ignore_errors=True)
                    build(root, suite)
                    (root / ".built").touch()
                take_settings_along(root, suite)  # again: installing ca-certificates has written certificates of its own
                _run_all(root, cases, results, keep=chosen.keep)
    finally:
        _table(results)
        chosen.roots.mkdir(parents=True, exist_ok=True)
        (chosen.roots / "results.json").write_text(json.dumps([asdict(result) for result in results], indent=1) + "\n")
    return 0 if len(results) == len(chosen.cases) and all(result.passed for result in results) else 1


def _run_all(root: Path, cases: list[str], results: list[Result], keep: bool) -> None:
    """Run the cases of a release in its root, each user in one clone; add to ``results``."""
    cloned: set[str] = set()
    try:
        with mounted(root):
            for case in cases:
                user = case.split("-")[1]
                if user not in cloned:
                    _fresh(root, user)
                    cloned.add(user)
                results.append(_run(root, case))
                print("  ".join(results[-1].cells()), flush=True)
    finally:
        if not keep:
            for user in cloned:
                shutil.rmtree(_outside(root, PLACES[user]), ignore_errors=True)


def _outside(root: Path, place: Path) -> Path:
    return root / str(place)[1:]


def _home(root: Path, user: str) -> Path:
    return root / ("root" if user == "root" else f"home/{user}")


def _fresh(root: Path, user: str) -> None:
    """Clone HEAD to the user's place, and empty the home."""
    home, place = _home(root, user), _outside(root, PLACES[user])
    for path in (place, home):
        shutil.rmtree(path, ignore_errors=True)
    home.mkdir(parents=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(PROJECT), str(place)], check=True)
    # A clone of a detached or other branch's HEAD is that commit all the same.
    head = subprocess.run(["git", "-C", str(PROJECT), "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    subprocess.run(["git", "-C", str(place), "checkout", "--quiet", "--detach", head.stdout.strip()], check=True)
    inner = ["/root"] if user == "root" else [f"/home/{user}"]
    command = ["chown", "-R", f"{user}:{user}", *inner, str(PLACES[user])]
    subprocess.run(inside(root, command, {}), check=True)


def _run(root: Path, case: str) -> Result:
    _, user, target = case.split("-", 2)
    log = root.parent / f"{case}.log"
    script = f'cd "{PLACES[user]}" && exec make {target}'
    command = inside(root, ["sh", "-c", script], {"LANG": "C"}, user)
    print(f"{time.strftime('%H:%M')} {case}: make {target} in {PLACES[user]} as {user}; log {log}", flush=True)
    figures = measured(command, log, root)
    # One call: what is linked into both is counted once.
    folders = [str(path) for path in (_outside(root, PLACES[user]), _home(root, user)) if path.is_dir()]
    used = subprocess.run(["du", "-s", "-k", "-c", *folders], capture_output=True, text=True, check=False).stdout
    disk = int(used.splitlines()[-1].split()[0]) / 2**20 if used else 0.0
    return Result(case, figures.code == 0, figures, disk, str(log))


def _table(results: list[Result]) -> None:
    rows = [["case", "result", "wall min", "CPU min", "peak GiB", "disk GiB", "log"], *(result.cells() for result in results)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    print()
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip(), flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
