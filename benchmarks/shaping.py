"""Rate and pitch beside Praat's PSOLA: ``python -m benchmarks.shaping``.

Input: 22 sentences a voice, in the voices named (the installed ones that are no extras). Each clip is shaped at six corners
of what is drawn, by ours and by Praat (parselmouth, its steps as a script would call them) in turns, in one process; CPU time,
no other work timed. F0 is the median that Praat's own pitch analysis finds, floor 65 Hz. ``--recognise`` has Whisper tiny.en,
in an environment of its own, write down the clips as they were and at two corners each, and counts wrong words.
"""

from __future__ import annotations

import argparse
import re
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import PEERS, beside, environment, measured, medians, show
from components.speech.audio.files import RATE_HZ
from components.speech.audio.shaping import change_prosody, fit_peak

CORNERS = [(1.2, 2.0), (0.8, -2.0), (1.2, -2.0), (0.8, 2.0), (1.0, 2.0), (1.0, -2.0)]
SENTENCES = """a man in a red shirt is riding a bicycle down the street
two dogs are running across a field of grass near the fence
the children are playing with a ball on the beach at sunset
a woman is standing in front of a large window with flowers
an old church stands on the hill above the village
a group of people sit around a table and eat dinner together
the black cat is sleeping on a soft chair in the kitchen
a boat with white sails is crossing the lake in the morning
several horses are drinking water from the river
a young girl holds a yellow umbrella in the rain
a plate of fresh fruit and cheese on a wooden table
the football player kicks the ball toward the goal
a train is passing over a high bridge in the mountains
a man plays the guitar while his friend is singing a song
the statue of an elephant stands in the middle of the square
three small birds are sitting on the branch of a tree
a chef is cutting vegetables with a sharp knife
a bus stops at the corner of a busy city street
the surfer is riding a huge wave under a cloudy sky
a couple is walking through the park in autumn
a stack of old books next to a cup of coffee
the fisherman shows the fish that he has caught""".splitlines()

Shaper = Callable[[np.ndarray, float, float], np.ndarray]


def ours(samples: np.ndarray, rate: float, pitch: float) -> np.ndarray:
    """This project's."""
    return change_prosody(samples, rate=rate, pitch=pitch, gain=0.0)


def praat(samples: np.ndarray, rate: float, pitch: float) -> np.ndarray:
    """Praat's Manipulation, its pitch tier multiplied, its duration tier level."""
    import parselmouth
    from parselmouth.praat import call, run

    run("random_initializeWithSeedUnsafelyButPredictably (5489)")
    sound = parselmouth.Sound(samples.astype(np.float64), sampling_frequency=RATE_HZ)
    manipulation = call(sound, "To Manipulation", 0.01, 75.0, 600.0)
    tier = call(manipulation, "Extract pitch tier")
    call(tier, "Multiply frequencies", sound.xmin, sound.xmax, 2.0 ** (pitch / 12.0))
    call([tier, manipulation], "Replace pitch tier")
    duration = call("Create DurationTier", "rate", sound.xmin, sound.xmax)
    call(duration, "Add point", (sound.xmin + sound.xmax) / 2, 1.0 / rate)
    call([duration, manipulation], "Replace duration tier")
    return call(manipulation, "Get resynthesis (overlap-add)").values[0].astype(np.float32)


SIDES: dict[str, Shaper] = {"ours": ours, "praat": praat}


def median_f0(samples: np.ndarray) -> float:
    """Hz, over the frames that Praat calls voiced."""
    import parselmouth

    sound = parselmouth.Sound(samples.astype(np.float64), RATE_HZ)
    hertz = sound.to_pitch_ac(time_step=0.01, pitch_floor=65, pitch_ceiling=500).selected_array["frequency"]
    return float(np.median(hertz[hertz > 0]))


def compare(voice: str, clips: list[np.ndarray]) -> None:
    """Print CPU ms a clip, their ratio, and both sides' errors of F0 and length in percent."""
    spent: dict[str, list[list[float]]] = {side: [] for side in SIDES}
    wrong: dict[str, list[float]] = {side: [] for side in SIDES}
    long: dict[str, list[float]] = {side: [] for side in SIDES}
    before = [median_f0(clip) for clip in clips]
    for rate, pitch in CORNERS:
        times: dict[str, list[float]] = {side: [] for side in SIDES}
        for clip, own in zip(clips, before, strict=True):
            for side, shaper in SIDES.items():
                began = time.process_time()
                said = shaper(clip, rate, pitch)
                times[side].append(time.process_time() - began)
                wrong[side].append(100 * abs(median_f0(said) / own / 2 ** (pitch / 12) - 1))
                long[side].append(100 * abs(len(said) * rate / len(clip) - 1))
        for side in SIDES:
            spent[side].append(times[side])
    # Each corner is a turn: its median clip.
    turns = {side: [statistics.median(times) for times in spent[side]] for side in SIDES}
    row: dict[str, Any] = {"voice": voice, "clips": len(clips), "s": round(statistics.mean(map(len, clips)) / RATE_HZ, 2)}
    row |= {**medians(turns, "ms", 1000, 2), **beside(turns)}
    for side in SIDES:
        middle, most = np.percentile(wrong[side], [50, 95])
        row |= {f"{side}, F0 off, %": round(float(middle), 2), f"{side}, 95th": round(float(most), 2)}
        row[f"{side}, length off, %"] = round(max(long[side]), 3)
    show(row)


def recognise(voice: str, clips: list[np.ndarray]) -> None:
    """Print wrong words and words, of the clips as they were and as either side shaped them."""
    import soundfile

    with tempfile.TemporaryDirectory() as scratch:
        for number, clip in enumerate(clips):
            soundfile.write(f"{scratch}/own.{number}.0.wav", clip, RATE_HZ)
            for corner in (number % 4, (number + 1) % 4):
                for side, shaper in SIDES.items():
                    samples = fit_peak(shaper(clip, *CORNERS[corner]))[0]
                    soundfile.write(f"{scratch}/{side}.{number}.{corner}.wav", samples, RATE_HZ)
        heard_words = measured(environment("whisper"), PEERS / "whisper" / "run.py", scratch)
    counts: dict[str, list[int]] = {}
    for name, heard in heard_words.items():
        side, number, _ = name.split(".")
        sentence, found = SENTENCES[int(number)].split(), re.sub(r"[^a-z' ]", " ", heard.lower()).split()
        count = counts.setdefault(side, [0, 0])
        count[0] += edits(sentence, found)
        count[1] += len(sentence)
    for side, (wrong, words) in counts.items():
        show({"voice": voice, "clips": side, "wrong words": wrong, "words": words})


def edits(one: list[str], other: list[str]) -> int:
    """Levenshtein's distance in words."""
    row = list(range(len(other) + 1))
    for at, word in enumerate(one, 1):
        last, row = row, [at]
        for to, found in enumerate(other, 1):
            row.append(min(last[to] + 1, row[-1] + 1, last[to - 1] + (word != found)))
    return row[-1]


def main() -> None:
    """Speak, shape by both, print a line a voice."""
    from components.speech.voices.speaking import speak

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--voices", nargs="*", default=["hibari-heart", "nanotts-en-us"])
    parser.add_argument("--recognise", action="store_true")
    options = parser.parse_args()
    for voice in options.voices:
        clips = [speak(sentence, voice) for sentence in SENTENCES]
        for shaper in SIDES.values():
            shaper(clips[0], 1.1, 1.0)
        compare(voice, clips)
        if options.recognise:
            recognise(voice, clips)


if __name__ == "__main__":
    main()
