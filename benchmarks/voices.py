"""Each voice's engine alone and in its host, and how loud it is: ``python -m benchmarks.voices``.

Input: descriptions of tuxpaint's stamps of 25 characters or more in the voice's language, 60 spread evenly over the files in
order (``hearsight data`` first). Alone, the engine is called in a process that has loaded it; in its host it is called by
``speak``, and the time is both processes'. The two take turns; figures are CPU time, engines loaded before, and ratios of
medians. The level is that of the voice as ``speak`` gives it, so what must be added to the catalogue's ``level`` is -26 less it.

``--recognise COUNT`` prints error rates instead: COUNT of those descriptions of five words or more, in a manner drawn as
params.yaml draws it (rate sd .1, pitch sd 1 semitone), written down by the recogniser of the language.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
STAMPS = ROOT / "data/packages/unpacked/tuxpaint-stamps-default/usr/share/tuxpaint/stamps"
LINE = {"en": None, "pt": "pt_BR", "fr": "fr", "es": "es"}
SHORTEST, TEXTS, FEWEST = 25, 60, 5
LEVEL, GAIN = -26.0, 4.0


def texts(language: str) -> list[str]:
    """The recipe above."""
    found: dict[str, None] = {}
    for path in sorted(STAMPS.rglob("*.txt")):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        key = LINE[language]
        line = lines[0] if key is None else next((m[1] for line in lines if (m := re.match(rf"{key}\.utf8=(.*)", line))), "")
        if len(line.strip()) >= SHORTEST:
            found[line.strip()] = None
    every = list(found)
    if not every:
        raise SystemExit(f"benchmarks.voices: there are no captions below {STAMPS}: run `hearsight data` first")
    return [every[at * len(every) // TEXTS] for at in range(TEXTS)]


def alone(voice: str) -> dict[str, Any]:
    """The engine in this process."""
    from components.speech.voices.catalogue import voice_named
    from components.speech.voices.engines import ENGINES

    who = voice_named(voice)
    engine, said = ENGINES[who.engine].load(), texts(who.language)
    engine.say(said[0], who.speaker)
    begun = time.process_time()
    for text in said:
        engine.say(text, who.speaker)
    return {"s": (time.process_time() - begun) / len(said)}


def hosted(voice: str) -> dict[str, Any]:
    """The engine in its host, and how loud it is."""
    from components.speech.audio.measures import measure
    from components.speech.voices.catalogue import voice_named
    from components.speech.voices.hosts import supervisor
    from components.speech.voices.speaking import speak

    who = voice_named(voice)
    said = texts(who.language)
    speak(said[0], voice)
    host = supervisor(who.engine).host
    assert host is not None
    begun, hosts = time.process_time(), _processor_seconds(host.pid)
    clips = [speak(text, voice) for text in said]
    spent = time.process_time() - begun + _processor_seconds(host.pid) - hosts
    found = [measure(clip) for clip in clips]
    status = Path(f"/proc/{host.pid}/status").read_text()
    return {
        "s": spent / len(said),
        "clip s": statistics.mean(each.seconds for each in found),
        "level": statistics.mean(each.level for each in found),
        "level sd": statistics.stdev(each.level for each in found),
        "peak at most": max(each.peak for each in found),
        "silence at the ends": max(max(each.lead, each.tail) for each in found),
        "host MiB": int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024,
    }


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def recognised(voice: str, count: int) -> dict[str, Any]:
    """Return the voice's word and character error rate over at most ``count`` descriptions, and how many words were said."""
    from components.metrics.spoken_words import spoken_words
    from components.metrics.word_errors import count_errors
    from components.speech.audio.shaping import change_prosody, fit_peak
    from components.speech.recognition.recognizer import Whisper, recogniser_for
    from components.speech.voices.catalogue import voice_named
    from components.speech.voices.speaking import speak
    from components.stages.synthesize.prosody import draw_prosody

    language = voice_named(voice).language
    recogniser = recogniser_for(language)
    assert recogniser is not None
    whisper = Whisper(recogniser, language)
    long = [text for text in texts(language) if len(spoken_words(text, language)) >= FEWEST]
    wrong, words, wrong_characters, characters = 0, 0, 0, 0
    for text in long[:: max(1, len(long) // count)][:count]:
        manner = draw_prosody(1, text, 0, voices=[voice], rate_sd=0.1, pitch_sd=1.0, gain_sd=2.0)
        clip = fit_peak(change_prosody(speak(text, voice), rate=manner.rate, pitch=manner.pitch, gain=manner.gain))[0]
        said, heard = (spoken_words(each, language) for each in (text, whisper.compute(clip)))
        wrong, words = wrong + count_errors(said, heard), words + len(said)
        wrong_characters += count_errors(" ".join(said), " ".join(heard))
        characters += len(" ".join(said))
    return {"voice": voice, "words": words, "WER": round(wrong / words, 3), "CER": round(wrong_characters / characters, 3)}


def measured(work: str, voice: str) -> dict[str, Any]:
    """One run, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.voices", "--work", work, voice]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise SystemExit(done.stderr)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    """A JSON line a voice."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--work", choices=["alone", "hosted"], help="one run in this process")
    parser.add_argument("--recognise", type=int, metavar="COUNT", help="error rates of the voices, instead of times and levels")
    parser.add_argument("voices", nargs="*")
    options = parser.parse_args()
    if options.work:
        print(json.dumps({"alone": alone, "hosted": hosted}[options.work](options.voices[0])))
        return
    from components.speech.voices.catalogue import VOICES, voice_named

    for voice in options.voices or [name for name, voice in VOICES.items() if not voice.paid]:
        if options.recognise:
            print(json.dumps(recognised(voice, options.recognise)), flush=True)
            continue
        pairs = [(measured("alone", voice), measured("hosted", voice)) for _ in range(options.runs)]
        bare, ours = (statistics.median(pair[side]["s"] for pair in pairs) for side in (0, 1))
        ratios = sorted(pair[0]["s"] / pair[1]["s"] for pair in pairs)
        last = {key: round(value, 2) for key, value in pairs[0][1].items() if key != "s"}
        line = {"voice": voice, "alone per CPU s": round(1 / bare, 1), "in its host": round(1 / ours, 1)}
        line |= {"ratio": round(bare / ours, 2), "pairs": [round(ratios[0], 2), round(ratios[-1], 2)], **last}
        add = round(voice_named(voice).level + LEVEL - last["level"], 1)
        print(json.dumps(line | {"level wanted": add, "peak with gain": round(last["peak at most"] + GAIN, 2)}), flush=True)


if __name__ == "__main__":
    main()
