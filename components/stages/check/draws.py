"""Tests of the recorded draws against the configured distributions: the tables ``draws`` and ``voices``.

``draws.json`` in the output names the distributions: for each parameter a normal one, with values outside the clip moved to the
edge, and for each language a uniform one over its voices.

Clipping puts atoms at the edges, and rounding makes steps. Both are undone before the Kolmogorov-Smirnov test: a value represents
an interval of the unclipped normal, half a step to either side, or all beyond an edge; a point of its probability is drawn
uniformly inside, keyed by the record. If the draws are correct, these points are exactly uniform on 0..1. That test is
sensitive to shifts; a chi-square test over bins, one for each edge, detects wrong deviations and edges. p combines the two:
twice the smaller (Bonferroni).
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy.special import ndtr
from scipy.stats import binomtest, chisquare, kstest

from components.core.stage_output import StageOutput

FILE = "draws.json"
FEWEST = 5.0
"""Expected utterances of a bin below which the chi-square test is left out as inaccurate."""
EDGE = 0.02275
"""Probability beyond one edge, at 2 sd."""
COLUMNS = ["key", "language", "origin", "voice", "rate", "pitch", "gain", "level"]
"""Columns of an utterance that the tests read."""
BINS = [0.0, EDGE, *(tenth / 10 for tenth in range(1, 10)), 1.0 - EDGE, 1.0]


def draws_table(output: StageOutput, tables: Iterable[pa.Table]) -> pd.DataFrame:
    """Return one row per parameter and per language: ``test``, ``utterances``, ``outside``, ``statistic``, ``p``.

    ``outside`` counts values beyond the clipping limits. A gain may be below the lower one, since loud clips are attenuated.
    Memory: 8 bytes for each utterance and parameter, since the test sorts all points.
    """
    distributions = json.loads(output.file(FILE).read_bytes())
    points: dict[str, list[np.ndarray]] = {name: [np.empty(0)] for name in distributions["parameters"]}
    beyond, spoken = Counter[str](), Counter[tuple[str, str]]()
    for rows in _rows(tables):
        keys = rows["key"].tolist()
        spoken.update(zip(rows["language"].tolist(), rows["voice"].tolist(), strict=True))
        for name, parameter in distributions["parameters"].items():
            values = rows[name].to_numpy(float)
            if parameter["sd"] == 0.0:
                beyond[name] += int(np.count_nonzero(rows[name].to_numpy() != parameter["mean"]))
                continue
            points[name].append(probabilities(values, [f"{key} {name}" for key in keys], **parameter))
            most, slack = parameter["clip"] * parameter["sd"], 10.0 ** -parameter["decimals"]
            low = float("-inf") if name == "gain" else parameter["mean"] - most - slack
            beyond[name] += int(np.count_nonzero(~((low <= values) & (values <= parameter["mean"] + most + slack))))
    number = spoken.total()
    results: list[tuple[str, str, int, int, float, float]] = []
    for name, parameter in sorted(distributions["parameters"].items()):
        if parameter["sd"] == 0.0 or not number:
            results.append((name, "equal", number, beyond[name], 0.0, float(beyond[name] == 0)))
        else:
            statistic_and_p = _normal(np.concatenate(points.pop(name)))
            results.append((name, "Kolmogorov-Smirnov, chi-square", number, beyond[name], *statistic_and_p))
    for language, voices in sorted(distributions["voices"].items()):
        total = sum(count for (of, _), count in spoken.items() if of == language)
        results.append((f"voice {language}", "chi-square", total, 0, *_uniform([spoken[language, voice] for voice in voices])))
    table = pd.DataFrame(results, columns=["parameter", "test", "utterances", "outside", "statistic", "p"])
    table.insert(0, "file", "shards")
    return table


def voices_table(output: StageOutput, tables: Iterable[pa.Table]) -> pd.DataFrame:
    """Return a row for each voice that is configured or has utterances.

    Columns: ``voice``, ``language``, ``asked`` (yes if in ``draws.json``), ``utterances``, ``share`` of its language,
    ``p`` of that number under a uniform draw (exact binomial), ``own_level``: its mean level without gain (dB of full scale),
    ``off``: its difference from the mean of all voices (dB), both 0 without utterances.
    """
    distributions = json.loads(output.file(FILE).read_bytes())
    listed = {(language, voice) for language, voices in distributions["voices"].items() for voice in voices}
    numbers: dict[tuple[str, str], int] = {}
    levels, voice_numbers = [np.empty(0)], [np.empty(0, np.int32)]
    for rows in _rows(tables):
        levels.append(rows["level"].to_numpy(float) - rows["gain"].to_numpy(float))
        names = zip(rows["language"].tolist(), rows["voice"].tolist(), strict=True)
        voice_numbers.append(np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int32))
    own_levels = pd.Series(np.concatenate(levels)).groupby(np.concatenate(voice_numbers))
    known = list(numbers)
    # Groups are in the order of their numbers, which is that of `known`.
    means = dict(zip(known, map(float, own_levels.mean()), strict=True))
    spoken = dict(zip(known, map(int, own_levels.size()), strict=True))
    totals = Counter[str]()
    for (language, _), count in spoken.items():
        totals[language] += count
    # In the order of their names, which decides the last digit of the mean.
    middle = float(np.mean([means[name] for name in sorted(means)])) if means else 0.0
    results = []
    for language, voice in sorted(listed | set(means)):
        key, number, total = (language, voice), spoken.get((language, voice), 0), totals[language]
        candidates = len(distributions["voices"].get(language, []))
        p = float(binomtest(number, total, 1.0 / candidates).pvalue) if total and candidates else 1.0
        level = means.get(key, middle)
        share = number / total if total else 0.0
        results.append((voice, language, "yes" if key in listed else "no", number, share, p, means.get(key, 0.0), level - middle))
    columns = ["voice", "language", "asked", "utterances", "share", "p", "own_level", "off"]
    table = pd.DataFrame(results, columns=columns)
    table.insert(0, "file", "shards")
    return table


def probabilities(
    values: Sequence[float] | np.ndarray, keys: Sequence[str], *, mean: float, sd: float, clip: float, decimals: int
) -> np.ndarray:
    """Return a point in 0..1 for each value: uniform if the values are N(``mean``, ``sd``²), clipped at ``clip`` sd and rounded.

    A value beyond the clip gets 0 or 1, which no draw gives.
    """
    half = 0.5 * 10.0**-decimals
    low, high = mean - clip * sd, mean + clip * sd
    # Records hold single precision: .8 is read as .80000001, which is not the value of the edge.
    held = np.round(np.asarray(values, float), decimals)
    # Draws are rounded, and so is the edge.
    start = np.where(held <= round(low, decimals), 0.0, ndtr((held - half - mean) / sd))
    end = np.where(held >= round(high, decimals), 1.0, ndtr((held + half - mean) / sd))
    inside = (low - half <= held) & (held <= high + half)
    return np.where(inside, start + (end - start) * _shares(keys), held > mean)


def _shares(keys: Sequence[str]) -> np.ndarray:
    """Return a number in 0..1 for each key, uniform over keys: eight bytes of its digest."""
    digests = b"".join(hashlib.blake2b(key.encode(), digest_size=8).digest() for key in keys)
    return np.frombuffer(digests, "<u8") / 2.0**64


def _normal(points: np.ndarray) -> tuple[float, float]:
    """Return the Kolmogorov-Smirnov statistic of points that should be uniform on 0..1, and the p of both tests."""
    distance = kstest(points, "uniform")
    if len(points) * EDGE < FEWEST:
        return float(distance.statistic), float(distance.pvalue)
    counts, _ = np.histogram(points, BINS)
    binned = chisquare(counts, len(points) * np.diff(BINS))
    return float(distance.statistic), min(1.0, 2.0 * min(float(distance.pvalue), float(binned.pvalue)))


def _uniform(counts: Sequence[int]) -> tuple[float, float]:
    """Return statistic and p of counts that should be equal."""
    if len(counts) < 2 or sum(counts) / len(counts) < FEWEST:
        return 0.0, 1.0
    outcome = chisquare(list(counts))
    return float(outcome.statistic), float(outcome.pvalue)


def _rows(tables: Iterable[pa.Table]) -> Iterator[pd.DataFrame]:
    """Yield the synthetic utterances of each shard, with the columns that the tests read."""
    for table in tables:
        utterances = table.select(COLUMNS).to_pandas()
        yield utterances[utterances["origin"] == "synthetic"]
