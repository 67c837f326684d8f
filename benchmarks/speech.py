"""The synthesize stage beside the voices' engines alone: ``python -m benchmarks.speech``.

Input: distinct alt-texts of the sample's packages of 5 to 20 words (``hearsight data --benchmarks`` first), as a split, each
spoken once by the voice that the stage draws, with the voices at hand. Three runs in turns, each in a process of its own:

- engines: the engines themselves, loaded in as many processes as the stage has workers, with no host, and nothing made of their
  sound, on the same texts by the same voices, longest texts first;
- sound: the same, then trimmed, shaped, measured and packed as FLAC, and nothing kept;
- stage: all of it, cold caches: planning, speaking into the annotations, packing into shards.

CPU time of a process and of all that it started, engines' hosts and their loading included; ratios of medians. Each is done for
a few captions too, and what these took is starting up: the figures of "one more utterance" are without it.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.harness import ONE_THREAD, beside, column, in_turns, measured, ours, show
from components.speech.voices.hosts import HUGE_PAGES

if TYPE_CHECKING:
    from components.stages.synthesize.prosody import Prosody

SETTINGS: dict[str, Any] = {"seed": 1, "utterances": 1, "max_characters": 600, "rate_sd": 0.1, "pitch_sd": 1.0, "gain_sd": 2.0}
SETTINGS["google_shapes"] = False
VOICES = "HEARSIGHT_BENCHMARK_VOICES"
"""The environment's name for the voices, so that every process of a run has the same."""
CAPTIONS = 3_318_333
"""Of Conceptual Captions (seed 001)."""
PR_SET_CHILD_SUBREAPER = 36
SIDES = ("stage", "engines", "sound")
FEW = 12
"""Captions of a run that is nearly all starting up."""


def voices() -> list[str]:
    """Those named, else the default ones that are at hand."""
    from components.speech.voices.catalogue import split_installed
    from components.stages.synthesize import Params

    named = os.environ.get(VOICES, "").split()
    return [voice.name for voice in split_installed(named or Params().voices)[0]]


def make_split(root: Path, count: int) -> None:
    """A finished split of ``count`` captions in shards of 500."""
    from benchmarks.captions import alt_texts
    from tests.support import make_output, row

    texts = [text for text in dict.fromkeys(alt_texts()) if 5 <= len(text.split()) <= 20 and len(text) < 200][:count]
    rows = [row("split", key=f"{n:016x}", caption=text, language="en", split="train") for n, text in enumerate(texts)]
    make_output(root, "split", [rows[start : start + 500] for start in range(0, len(rows), 500)])


def stage_over(root: Path, scratch: Path, workers: int) -> Any:
    """The stage with cold caches under ``scratch``."""
    from components.core.stage_output import StageOutput
    from components.execution.engine import LocalEngine
    from components.stages import synthesize
    from tests.support import make_stage

    split = StageOutput(root / "data" / "english" / "split")
    params = synthesize.Params(voices=voices(), **SETTINGS)
    stage = make_stage(scratch, "synthesize", params=params, inputs={"input": split})
    stage.engine = LocalEngine(workers)
    return stage


def run_stage(root: Path, workers: int) -> dict[str, Any]:
    """The stage itself."""
    from components.core.stage_output import StageOutput
    from components.stages.synthesize.run import run as run_synthesize

    with tempfile.TemporaryDirectory() as scratch:
        stage = stage_over(root, Path(scratch), workers)
        run_synthesize(stage)
        stage.finish()
        table = StageOutput(stage.out).table(["seconds"])
        flac = sum(path.stat().st_size for path in (stage.out / "media").iterdir())
        return {"utterances": table.num_rows, "hours": sum(table["seconds"].to_pylist()) / 3600, "bytes": flac}


def run_engines(root: Path, workers: int, work: Callable[[tuple[str, Prosody]], int]) -> dict[str, Any]:
    """The engines alone, or with what is made of their sound, on what the stage would have them say."""
    from components.execution.engine import LocalEngine
    from components.stages.synthesize.prosody import draw_prosody

    with tempfile.TemporaryDirectory() as scratch:
        rows = stage_over(root, Path(scratch), workers).inputs["input"].table(["key", "caption"]).to_pylist()
    spread = {name: SETTINGS[name] for name in ("rate_sd", "pitch_sd", "gain_sd")}
    names = voices()
    texts = [(r["caption"], draw_prosody(SETTINGS["seed"], r["key"], 0, voices=names, **spread)) for r in rows]
    texts.sort(key=lambda said: -len(said[0]))
    return {"utterances": sum(1 for _ in LocalEngine(workers).run(work, texts))}


@cache
def _engine(name: str) -> Any:
    from components.speech.voices.engines import ENGINES

    return ENGINES[name].load()


def _say(said: tuple[str, Prosody]) -> int:
    from components.speech.voices.catalogue import voice_named

    who = voice_named(said[1].voice)
    return len(_engine(who.engine).say(said[0], who.speaker)[0])


def _sound(said: tuple[str, Prosody]) -> int:
    from components.stages.synthesize.speech import Speech, Unspoken

    try:
        return len(Speech(said[1].voice).compute(said))
    except Unspoken:
        return 0


def reap() -> None:
    """Wait for every process that was started, so that its time is counted: hosts outlive the workers that started them."""
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return


def run(what: str, root: Path, workers: int) -> dict[str, Any]:
    """One run, in a process of its own that all its descendants are left to."""
    # Compiled once, as what is installed is, wherever this machine is told to compile at each start.
    env = {**HUGE_PAGES, **ONE_THREAD, "PYTHONPYCACHEPREFIX": str(root.parent / "compiled")}
    return measured(*ours("speech"), "--one", what, "--root", root, "--workers", workers, env=env)


def one(what: str, root: Path, workers: int) -> None:
    """Run it here, and print what it took."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    started = time.monotonic()
    found = run_stage(root, workers) if what == "stage" else run_engines(root, workers, _say if what == "engines" else _sound)
    clock = time.monotonic() - started
    reap()
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(json.dumps(found | {"cpu s": sum(u.ru_utime + u.ru_stime for u in used), "clock s": clock}))


def main() -> None:
    """Make the input, run both in turns, print the ratio and what CSC would cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--captions", type=int, default=400)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--voices", nargs="*", help="of the catalogue; the default ones that are at hand unless named")
    parser.add_argument("--one", choices=SIDES)
    parser.add_argument("--root", type=Path)
    options = parser.parse_args()
    if options.one:
        one(options.one, options.root, options.workers)
        return
    if options.voices:
        os.environ[VOICES] = " ".join(options.voices)
    with tempfile.TemporaryDirectory() as scratch:
        roots = [Path(scratch) / "many", Path(scratch) / "few"]
        for root, count in zip(roots, (options.captions, FEW), strict=True):
            make_split(root, count)
        run("stage", roots[1], options.workers)
        many, few = (in_turns({what: partial(run, what, r, options.workers) for what in SIDES}, options.runs) for r in roots)
    count, start_count = (runs["stage"][0]["utterances"] for runs in (many, few))
    common = {"voices": len(voices()), "utterances": count, "workers": options.workers}
    for name in ("cpu s", "clock s"):
        spent, starts = ({what: column(found, name) for what, found in runs.items()} for runs in (many, few))
        one_more = {
            what: (statistics.median(spent[what]) - statistics.median(starts[what])) / (count - start_count) for what in SIDES
        }
        for figure, unit, values in (
            ("all", "s", {what: statistics.median(times) for what, times in spent.items()}),
            ("starting up", "s", {what: statistics.median(times) for what, times in starts.items()}),
            ("one more utterance", "ms", {what: 1000 * value for what, value in one_more.items()}),
        ):
            row = {**common, "figure": f"{figure}, {name}", **{f"{what}, {unit}": round(v, 2) for what, v in values.items()}}
            show(row | {"engines / stage": round(values["engines"] / values["stage"], 3)})
        show({"figure": name, **beside(spent, "stage", 3)})
    core_hours, share = statistics.median(column(many["stage"], "cpu s")) / 3600, CAPTIONS / count
    hours, flac = many["stage"][0]["hours"], many["stage"][0]["bytes"]
    row = {"captions of CSC": CAPTIONS, "core-hours": round(core_hours * share), "hours of speech": round(hours * share)}
    show(row | {"GB of FLAC": round(flac * share / 1e9), "hours of speech a core-hour": round(hours / core_hours, 1)})


if __name__ == "__main__":
    main()
