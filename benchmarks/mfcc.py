"""MFCCs beside librosa's, per core: ``python -m benchmarks.mfcc`` (``--gpu`` on a machine with one).

Input: 48 clips of 3.5 s and of 8 s of a voice, the two durations of CSC, at equal settings (the defaults of
``components.models.mfcc``). librosa gets them as one batch, its fastest way, and clip by clip, as it is mostly called; it is
given single precision, its default (its FFT is double then too). Both in one process and one thread, in turns, CPU time; a
figure is the ratio of medians. ``--parts`` tells what our time goes to.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from components.models.mfcc import MFCC, RATE_HZ
from tests.support.models.mfcc_librosa import DEFAULT, theirs

CLIPS = 48
SECONDS = (3.5, 8.0)


def speech(seconds: float) -> np.ndarray:
    """Clips × samples, float32: stretches of one voice's speech, each from another place of it."""
    from py_nanotts import NanoTTS

    text = "A child in a red coat feeds the ducks by the old stone bridge while two dogs run along the quiet river. "
    voice = np.frombuffer(NanoTTS().speak(text * 2, voice="en-US", volume=0.5), dtype="<i2").astype(np.float32) / 32768.0
    return np.stack([np.resize(np.roll(voice, 997 * number), round(seconds * RATE_HZ)) for number in range(CLIPS)])


def in_turns(runs: int, ways: dict[str, Callable[[], Any]]) -> dict[str, list[float]]:
    """CPU seconds of ``runs`` runs of each way, one after another, after one that is not counted."""
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(-1, runs):
        for name, way in ways.items():
            start = time.process_time()
            way()
            if number >= 0:
                spent[name].append(time.process_time() - start)
    return spent


def compare(runs: int, seconds: float) -> None:
    """A JSON line: µs a frame of each way, and ratios to ours."""
    samples = speech(seconds)
    batch, transform = torch.from_numpy(samples), MFCC()
    ways: dict[str, Callable[[], Any]] = {
        "ours": lambda: transform(batch),
        "librosa": lambda: theirs(samples, DEFAULT),
        "librosa, clip by clip": lambda: [theirs(one, DEFAULT) for one in samples],
    }
    spent = in_turns(runs, ways)
    frames = transform(batch)[1].sum().item()
    exact = theirs(samples.astype(np.float64), DEFAULT)
    median = {name: statistics.median(times) for name, times in spent.items()}
    pairs = [other / one for one, other in zip(spent["ours"], spent["librosa"], strict=True)]
    line = {
        "clips": f"{CLIPS} of {seconds} s",
        "µs a frame": {name: round(value / frames * 1e6, 2) for name, value in median.items()},
        "hours of speech a core hour": round(CLIPS * seconds / median["ours"]),
        "librosa / ours": round(median["librosa"] / median["ours"], 2),
        "pairs": [round(min(pairs), 2), round(max(pairs), 2)],
        "librosa / ours, least of each": round(min(spent["librosa"]) / min(spent["ours"]), 2),
        "librosa, clip by clip / ours": round(median["librosa, clip by clip"] / median["ours"], 2),
        "greatest difference": float(f"{np.abs(transform(batch)[0].numpy() - exact).max():.1e}"),
    }
    print(json.dumps(line, ensure_ascii=False), flush=True)


def parts(runs: int) -> None:
    """A JSON line: µs a frame that each of torch's operations takes of its own, largest first."""
    batch, transform = torch.from_numpy(speech(SECONDS[0])), MFCC()
    frames = transform(batch)[1].sum().item() * runs
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        for _ in range(runs):
            transform(batch)
    own = sorted(((event.self_cpu_time_total / frames, event.key) for event in profile.key_averages()), reverse=True)
    print(json.dumps({name: round(spent, 2) for spent, name in own[:12]}), flush=True)


def on_gpu(runs: int) -> None:
    """A JSON line a duration: hours of speech an hour, by the clock, of 512 clips that are on the device already."""
    if not torch.cuda.is_available():
        raise SystemExit("no GPU that torch can use")
    transform = MFCC().cuda()
    for seconds in SECONDS:
        batch = torch.from_numpy(speech(seconds)).cuda().repeat(11, 1)[:512]
        times = []
        for number in range(-2, runs):
            torch.cuda.synchronize()
            start = time.perf_counter()
            transform(batch)
            torch.cuda.synchronize()
            if number >= 0:
                times.append(time.perf_counter() - start)
        rate = 512 * seconds / statistics.median(times)
        print(json.dumps({"device": torch.cuda.get_device_name(), "clips": f"512 of {seconds} s", "hours an hour": round(rate)}))


def main() -> None:
    """Print a line a comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--gpu", action="store_true", help="only on the GPU")
    parser.add_argument("--parts", action="store_true", help="only what our time goes to")
    options = parser.parse_args()
    torch.set_num_threads(1)
    with threadpool_limits(1):
        if options.gpu:
            on_gpu(options.runs)
        elif options.parts:
            parts(options.runs)
        else:
            for seconds in SECONDS:
                compare(options.runs, seconds)


if __name__ == "__main__":
    main()
