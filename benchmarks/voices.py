"""Each voice's engine alone and in its host, and how loud it is: ``python -m benchmarks.voices``.

Input: descriptions of tuxpaint's stamps of 25 characters or more in the voice's language, 60 spread evenly over the files in
order (``hearsight data`` first). Alone, the engine is called in a process that has loaded it; in its host it is called by
``speak``, and the time is both processes'. The two take turns; figures are CPU time, engines loaded before, and ratios of
medians. The level is that of the voice as ``speak`` gives it, so what must be added to the catalogue's ``level`` is -26 less it.

``--recognise COUNT`` prints error rates instead: COUNT of the descriptions of five words or more, spread evenly over the files in
order, as the voice speaks them, written down by the recogniser of the language. ``--record`` writes them, with the engine's CPU
time of an utterance, where ``hearsight voices`` and the choice of the voice that reads aloud find them. ``--heard`` prints each
text that has errors.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import time
from functools import partial
from typing import Any

from benchmarks.harness import ONE_THREAD, PACKAGES, beside, column, in_turns, measured, ours, show

STAMPS = PACKAGES / "tuxpaint-stamps-default/usr/share/tuxpaint/stamps"
LINE = {"en": None, "pt": "pt_BR", "fr": "fr", "es": "es"}
SHORTEST, TEXTS, FEWEST = 25, 60, 5


def descriptions(language: str) -> list[str]:
    """All that the stamps have in a language, each once."""
    found: dict[str, None] = {}
    for path in sorted(STAMPS.rglob("*.txt")):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        key = LINE[language]
        line = lines[0] if key is None else next((m[1] for line in lines if (m := re.match(rf"{key}\.utf8=(.*)", line))), "")
        if line.strip():
            found[line.strip()] = None
    if not found:
        raise SystemExit(f"benchmarks.voices: there are no captions below {STAMPS}: run `hearsight data` first")
    return list(found)


def spread(every: list[str], count: int) -> list[str]:
    """Take ``count`` of the texts, at even distances."""
    count = min(count, len(every))
    return [every[at * len(every) // count] for at in range(count)]


def texts(language: str) -> list[str]:
    """The recipe above."""
    return spread([text for text in descriptions(language) if len(text) >= SHORTEST], TEXTS)


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
    from benchmarks.voice_measures import speak_in_host
    from components.speech.voices.catalogue import voice_named

    who = voice_named(voice)
    spoken = speak_in_host(who, texts(who.language))
    return {
        "s": spoken.seconds,
        "clip s": statistics.mean(each.seconds for each in spoken.measures),
        "level": spoken.level,
        "level sd": statistics.stdev(each.level for each in spoken.measures),
        "peak at most": max(each.peak for each in spoken.measures),
        "silence at the ends": max(max(each.lead, each.tail) for each in spoken.measures),
        "host MiB": spoken.memory_mib,
    }


def recognised(voice: str, count: int, *, heard: bool) -> dict[str, Any]:
    """Return error rates over at most ``count`` descriptions, the engine's CPU seconds of an utterance, and the words said."""
    from benchmarks.voice_measures import recognise
    from components.metrics.word_errors import spoken_words
    from components.speech.recognition.recognizer import recogniser_for
    from components.speech.voices.catalogue import voice_named

    who = voice_named(voice)
    recogniser = recogniser_for(who.language)
    assert recogniser is not None
    long = [text for text in descriptions(who.language) if len(spoken_words(text, who.language)) >= FEWEST]
    result = recognise(who, spread(long, count), recogniser)
    for said, written in result.heard if heard else ():
        if spoken_words(said, who.language) != spoken_words(written, who.language):
            show({"said": said, "heard": written})
    rates = {"WER": round(result.word_error_rate, 3), "CER": round(result.character_error_rate, 3)}
    return {"voice": voice, "s": round(result.seconds, 3), "words": result.words, **rates}


def record(row: dict[str, Any]) -> None:
    """Write a voice's figures into the project."""
    from components.tools.describe.voices import FILE, MEASURED, Measured

    MEASURED[row["voice"]] = Measured(row["s"], row["WER"], row["words"])
    lines = (f"  {json.dumps(name)}: {json.dumps(found._asdict())}" for name, found in sorted(MEASURED.items()))
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def one(work: str, voice: str) -> dict[str, Any]:
    """One run, in a process of its own."""
    return measured(*ours("voices"), "--work", work, voice, env=ONE_THREAD)


def main() -> None:
    """A JSON line a voice."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--work", choices=["alone", "hosted"], help="one run in this process")
    parser.add_argument("--recognise", type=int, metavar="COUNT", help="error rates of the voices, instead of times and levels")
    parser.add_argument("--record", action="store_true", help="with --recognise: keep the figures for `hearsight voices`")
    parser.add_argument("--heard", action="store_true", help="with --recognise: print what was heard otherwise")
    parser.add_argument("voices", nargs="*")
    options = parser.parse_args()
    if options.work:
        print(json.dumps({"alone": alone, "hosted": hosted}[options.work](options.voices[0])))
        return
    from benchmarks.voice_measures import GAIN, level_wanted
    from components.speech.voices.catalogue import VOICES, voice_named

    for voice in options.voices or [name for name, voice in VOICES.items() if not voice.paid]:
        if options.recognise:
            row = recognised(voice, options.recognise, heard=options.heard)
            show(row)
            if options.record:
                record(row)
            continue
        found = in_turns({way: partial(one, way, voice) for way in ("alone", "hosted")}, options.runs)
        spent = {way: column(results, "s") for way, results in found.items()}
        last = {key: round(value, 2) for key, value in found["hosted"][0].items() if key != "s"}
        row = {"voice": voice} | {f"{way}, per CPU s": round(1 / statistics.median(times), 1) for way, times in spent.items()}
        add = level_wanted(voice_named(voice), last["level"])
        peak = round(last["peak at most"] + GAIN, 2)
        show(row | beside(spent, "hosted") | last | {"level wanted": add, "peak with gain": peak})


if __name__ == "__main__":
    main()
