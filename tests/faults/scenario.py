"""One fault from its draw to its verdict: a run under the fault, a second one without it, and what must hold then."""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import shutil
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from components.tools.cache import find_damage
from tests.faults import commands, kinds_files, kinds_network, kinds_processes, kinds_storage, kinds_tracking
from tests.faults.commands import Done
from tests.faults.fault import Fault, World
from tests.faults.invariants import broken, recorded_failures, wrong_files
from tests.faults.namespaces import mount_disk
from tests.faults.project import STAGES, Small, copy_small
from tests.faults.world import reference

KINDS: dict[str, Callable[[random.Random, World], Fault]] = {
    "kill": kinds_processes.kill,
    "corrupt": kinds_files.corrupt,
    "full": kinds_files.full,
    "clock": kinds_files.clock,
    "edit": kinds_files.edit,
    "web": kinds_network.cut_web,
    "s3": kinds_network.s3,
    "storage": kinds_storage.storage,
    "tracking": kinds_tracking.tracking,
    "flow": kinds_processes.flow,
}
TURN = (
    *("kill", "corrupt", "edit", "full", "corrupt", "web", "kill", "s3", "clock", "corrupt", "tracking", "edit"),
    *("kill", "corrupt", "full", "web", "storage", "corrupt", "edit", "kill", "tracking", "clock", "storage", "kill"),
)
"""The order in which kinds take turns, the quicker and the more varied more often."""
REMEDIES = 3
"""Commands of hints that a user may have to follow before the run succeeds."""


@dataclass
class Outcome:
    """What became of one fault."""

    kind: str
    seed: int
    about: str = ""
    quick: bool = False
    result: str = ""
    """``absorbed``: the run succeeded; ``named``: it failed with one line; ``killed``: nobody was left to say so; ``missed``: the
    moment never came."""
    remedies: list[str] = field(default_factory=list)
    """Commands of hints that were needed besides the run itself."""
    problems: list[str] = field(default_factory=list)
    """Promises that were broken."""
    log: str = ""

    @property
    def command(self) -> str:
        return f"python -m tests.faults --seed {self.seed} --kind {self.kind}{' --quick' if self.quick else ''}"


def draw_kind(seed: int) -> str:
    """Return the kind of fault number ``seed``; kinds take turns, so that any row of seeds has all of them."""
    return TURN[seed % len(TURN)]


def run_fault(world: World, kind: str, seed: int) -> Outcome:
    """Draw a fault and run it in a process of its own."""
    fault = KINDS[kind](random.Random(f"{kind}/{seed}"), world)
    reference(world, fault.variant)
    reader, writer = os.pipe()
    folder = world.folder / f"{kind}-{seed}"
    folder.mkdir()
    child = os.fork()
    if not child:
        outcome = Outcome(kind, seed, fault.about, world.quick)
        try:
            os.close(reader)
            commands.adopt_orphans()
            if fault.disk:
                mount_disk(folder, fault.disk)
            _run(world, fault, folder, outcome)
        except BaseException:
            outcome.problems.append("the harness failed")
            outcome.log += traceback.format_exc()
        with os.fdopen(writer, "w") as pipe:
            json.dump(asdict(outcome), pipe)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    fault.end()
    shutil.rmtree(folder, ignore_errors=True)
    return Outcome(**json.loads(text)) if text else Outcome(kind, seed, fault.about, world.quick, problems=["its process died"])


def _run(world: World, fault: Fault, folder: Path, outcome: Outcome) -> None:
    project = copy_small(world.template, folder / "project")
    project.forget(fault.stage, **fault.forget)
    fault.prepare(project)
    goal = f"{fault.goal}@english"
    strikes = [fault.strike] if fault.strike else []
    with fault.during(project):
        first = (
            fault.run(project, goal, True)
            if fault.run
            else commands.dvc(project.root, "repro", goal, strikes=strikes, **fault.environment, **fault.first_environment)
        )
    outcome.log += _said("first run", first)
    left = commands.leftover_processes()
    outcome.problems += [f"process left: {line}" for line in left]
    struck = fault.strike.struck if fault.strike else fault.struck()
    outcome.result = _judge(fault, first, project, outcome) if struck or first.code else "missed"
    if first.code:
        fault.after(project)
    fault.always_after(project)
    _finish(project, fault, goal, outcome)
    if fault.variant == "web" and project.manifests()["crawl"] != world.manifests["web"]["crawl"]:
        _retry(project, fault, goal, outcome)
    expected = world.manifests[fault.variant]
    outcome.problems += fault.verify(project)
    outcome.problems += broken(project, expected, fault.goal, world.files[fault.variant])


def _judge(fault: Fault, first: Done, project: Small, outcome: Outcome) -> str:
    """Return the result of the first run; add what it should have said."""
    if "Traceback" in first.output and not fault.chatty:
        outcome.problems.append("a traceback instead of a line")
    if first.code == 0:
        return "absorbed"
    if fault.kills:
        return "killed"
    if len(first.error_lines) != 1 and not (not first.error_lines and len(first.dvc_errors) >= 1):
        outcome.problems.append(f"{len(first.error_lines)} lines of error: {first.error_lines[:3]}")
    by_run = "failed to reproduce '" in first.output and first.error_lines
    if by_run and not fault.unrecorded and not recorded_failures(project):
        outcome.problems.append("the failure is not recorded for MLflow")
    return "named"


def _finish(project: Small, fault: Fault, goal: str, outcome: Outcome) -> None:
    """Run the same command again, following the hints of errors, until it succeeds and every file is whole."""
    for _ in range(REMEDIES + 1):
        done = fault.run(project, goal, False) if fault.run else commands.dvc(project.root, "repro", goal, **fault.environment)
        outcome.log += _said("again", done)
        if done.code == 0:
            done = _check_damaged(project, fault.goal, outcome) or _repair_results(project, outcome)
            if done is None:
                return
        remedy = hint(done)
        if not remedy and not done.dvc_errors:
            break
        if not remedy:
            fault.after(project)
            continue
        outcome.remedies.append(remedy)
        outcome.log += follow(project, remedy)
    outcome.problems.append("it does not succeed again")


def _retry(project: Small, fault: Fault, goal: str, outcome: Outcome) -> None:
    """Repeat the requests that failed, which a crawl's ledger names, and make its output again."""
    done = commands.hearsight(project.root, "retry", "--dataset", "english")
    outcome.log += _said("retry", done)
    outcome.remedies.append("hearsight retry")
    outcome.result = "named in its ledger" if outcome.result == "absorbed" else outcome.result
    again = commands.dvc(project.root, "repro", "--force", "--single-item", "crawl@english", **fault.environment)
    outcome.log += _said("made again", again)
    _finish(project, fault, goal, outcome)


def _check_damaged(project: Small, until: str, outcome: Outcome) -> Done | None:
    """Check the first output with damaged files, which no stage of this run has read; None where all are whole."""
    for stage in STAGES[: STAGES.index(until) + 1]:
        if any(wrong_files(project, stage)):
            done = commands.hearsight(project.root, "check", stage, "--dataset", "english")
            outcome.log += _said("check", done)
            if done.code == 0:
                outcome.problems.append(f"the damaged output of {stage} passes its check")
                return None
            outcome.result = "named by its check" if outcome.result == "absorbed" else outcome.result
            return done
    return None


def _repair_results(project: Small, outcome: Outcome) -> Done | None:
    """Repair stores of results with damage that no stage of this run has read; None where all are whole then."""
    store = project.root / ".hearsight" / "annotations"
    if not find_damage(store):
        return None
    done = commands.hearsight(project.root, "cache", "repair", "--yes")
    outcome.log += _said("repair", done)
    outcome.remedies.append("hearsight cache repair")
    return done if done.code or find_damage(store) else None


def hint(done: Done) -> str:
    """Return the command, or the folder to remove, that the error's line names; '' for none."""
    line = done.error_lines[0] if done.error_lines else ""
    if found := re.search(r"`((?:hearsight|dvc) [^`]+)`", line):
        return found[1]
    if re.search("remove the (snapshot's )?folder", line):
        place = Path(line.removeprefix("hearsight: ").partition(": ")[0])
        return f"rm -r {place.parent if place.is_file() else place}"
    return ""


def follow(project: Small, remedy: str) -> str:
    """Do what a hint says."""
    words = shlex.split(remedy)
    if words[0] == "rm":
        shutil.rmtree(words[2], ignore_errors=True)
        return f"--- {remedy}\n"
    if words[:3] == ["hearsight", "cache", "repair"]:
        words.append("--yes")
    run = commands.dvc if words[0] == "dvc" else commands.hearsight
    return _said("hint", run(project.root, *words[1:]))


def _said(when: str, done: Done) -> str:
    return f"--- {when}: {' '.join(done.words)} → {done.code}\n{done.output}\n"
