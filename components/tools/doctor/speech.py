"""Checks of speech engines, voices and recognisers: installed, and able to load in a process of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from components.core.errors import HearsightError
from components.core.params import read_params_file
from components.speech.recognition.recognizer import INSTALL, RECOGNISERS, installed
from components.speech.voices.available import SUBSTITUTES, is_built, lack_here, split_available
from components.speech.voices.catalogue import voice_named
from components.stages.synthesize import Params
from components.tools.doctor.finding import MISSING, OK, WARNING, Finding

SECONDS = 60.0
"""How long all engines together may take; about one on an idle machine."""
_PROBE = """
import importlib, json, sys
for kind, name, module in json.loads(sys.argv[1]):
    try:
        if kind == "engine":
            from components.speech.voices.engines import ENGINES
            ENGINES[name].load()
        else:
            importlib.import_module(module)
        said = ""
    except BaseException as error:
        said = f"{type(error).__name__}: {error}"
    print(json.dumps([name, said]), flush=True)
"""
_NEURAL = {"hibari": "onnxruntime", "piper": "onnxruntime"}
"""Engines whose models take seconds to load: the library that runs them is loaded instead."""


def voices(root: Path) -> list[Finding]:
    """Check the voices that datasets draw from, and the engine of each."""
    named = voices_of_datasets(root)
    free = {name: voice_named(name) for names in named.values() for name in names if not voice_named(name).paid}
    there = {name: voice for name, voice in free.items() if lack_here(voice) is None}
    foreign = [voice for voice in free.values() if not is_built(voice.engine)]
    others = {SUBSTITUTES[voice.name] for voice in foreign if voice.name in SUBSTITUTES}
    there |= {name: voice_named(name) for name in sorted(others) if lack_here(voice_named(name)) is None}
    engines = sorted({voice.engine for voice in there.values()})
    probes = [("module", name, _NEURAL[name]) if name in _NEURAL else ("engine", name, "") for name in engines]
    broken = {engine: said for engine, said in _probed(probes).items() if said}
    absent = [voice for name, voice in free.items() if name not in there and voice not in foreign]
    findings = [Finding(MISSING, f"voice {v.name}", "is not installed", v.install) for v in absent if not v.extra]
    for install in dict.fromkeys(voice.install for voice in absent if voice.extra):
        same = ", ".join(voice.name for voice in absent if voice.extra and voice.install == install)
        findings.append(Finding(WARNING, f"voice {same}", "not installed, and left out", install))
    findings += [Finding(WARNING, f"voice {v.name}", lack.why, lack.cure) for v in foreign if (lack := lack_here(v))]
    for engine, said in broken.items():
        install = next(voice.install for voice in there.values() if voice.engine == engine)
        findings.append(Finding(MISSING, f"engine {engine}", f"does not load: {said}", install))
    for dataset, names in named.items():
        try:
            if not any(voice.name in there or voice.paid for voice in split_available(names)[0]):
                lack = lack_here(free[names[0]])
                cure = lack.cure if lack else free[names[0]].install
                findings.append(
                    Finding(MISSING, "voices", f"none of {dataset}'s is installed", cure.removeprefix("run ").strip("`"))
                )
        except HearsightError as error:
            if error.what not in {f"the voice '{name}' is not installed" for name in free}:  # which has a line already
                findings.append(Finding(MISSING, "voices", f"{dataset}: {error.what}", error.hint))
    if working := [name for name, voice in there.items() if voice.engine not in broken]:
        findings.append(Finding(OK, "voices", ", ".join(working)))
    return findings


def recognisers(root: Path) -> list[Finding]:
    """Check the recognisers' weights, and the library that runs them."""
    absent = [found.name for found in RECOGNISERS if not installed(found)]
    if absent:
        lost = f"{', '.join(absent)}: speech is not recognised, so error rates are left out"
        return [Finding(WARNING, "recognisers", lost, INSTALL)]
    said = _probed([("module", "ctranslate2", "ctranslate2")])["ctranslate2"]
    if said:
        return [Finding(MISSING, "recognisers", f"ctranslate2 does not load: {said}", INSTALL)]
    return [Finding(OK, "recognisers", ", ".join(found.name for found in RECOGNISERS))]


def voices_of_datasets(root: Path) -> dict[str, list[str]]:
    """Return the voices of each dataset that has any: those of its settings, or the default ones."""
    content = read_params_file(root / "params.yaml")
    blocks = [(name, block) for name, block in content.items() if name != "chain"]
    spoken = {name: block["synthesize"] for name, block in blocks if isinstance(block, dict) and "synthesize" in block}
    return {
        name: voices
        for name, settings in spoken.items()
        if isinstance(settings, dict) and isinstance(voices := settings.get("voices", Params().voices), list) and voices
    }


def _probed(probes: list[tuple[str, str, str]]) -> dict[str, str]:
    """Load libraries in one child process, since one that is broken may end it; returns by name why it failed, or ''."""
    if not probes:
        return {}
    try:
        command = [sys.executable, "-c", _PROBE, json.dumps(probes)]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False)
        printed, end = done.stdout, f"the process ended with {done.returncode}"
    except subprocess.TimeoutExpired as late:
        printed, end = (late.stdout or b"").decode(errors="replace"), f"took over {SECONDS:.0f} s"
    answers = dict(json.loads(line) for line in printed.splitlines() if line.startswith("["))
    return {name: answers.get(name, end) for _, name, _ in probes}
