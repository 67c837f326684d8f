"""Whether the draws that the records tell of are those that were asked for: the tables ``draws`` and ``voices``.

``draws.json`` in the output says what was drawn from: a normal distribution for each parameter, clipped by moving what
is outside to the edge, and a uniform one over the voices of each language.

Clipping puts atoms at the edges, and rounding makes steps. Both are undone before Kolmogorov and Smirnov's test: a value
stands for an interval of the unclipped normal, half a step to either side, or all that lies beyond an edge; a point of its
probability is drawn uniformly inside, keyed by the record. Were the draws as asked, these points are exactly uniform on 0..1.
That test sees a shift best; a wrong deviation or wrong edges are seen by chi-square over bins with one for each edge. The p
is that of the two together: twice the smaller (Bonferroni).
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from components.core.stage_output import StageOutput

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

FILE = "draws.json"
FEWEST = 5.0
"""Utterances expected in a bin, below which the chi-square distribution is no approximation and the test is left out."""
EDGE = 0.02275
"""The probability of what is clipped on one side, at 2 sd."""
COLUMNS = ["key", "language", "origin", "voice", "rate", "pitch", "gain", "level"]
"""Of an utterance: what the tests need."""
BINS = [0.0, EDGE, *(tenth / 10 for tenth in range(1, 10)), 1.0 - EDGE, 1.0]


def draws_table(output: StageOutput, shards: Mapping[str, pa.Table]) -> pd.DataFrame:
    """A row a parameter, and one a language for its voices: ``test``, ``utterances``, ``outside``, ``statistic``, ``p``.

    ``outside`` counts values that no clipped draw has. Below the lower edge a gain may be: a clip too loud is turned down.
    """
    import numpy as np
    import pandas as pd

    said, rows = json.loads(output.file(FILE).read_bytes()), _rows(shards)
    keys, number = rows["key"].tolist(), len(rows)
    found: list[tuple[str, str, int, int, float, float]] = []
    for name, asked in sorted(said["parameters"].items()):
        values = rows[name].to_numpy(float)
        if asked["sd"] == 0.0 or not number:
            others = int(np.count_nonzero(rows[name].to_numpy() != asked["mean"]))
            found.append((name, "equal", number, others, 0.0, float(others == 0)))
            continue
        points = probabilities(values, [f"{key} {name}" for key in keys], **asked)
        most, slack = asked["clip"] * asked["sd"], 10.0 ** -asked["decimals"]
        low = float("-inf") if name == "gain" else asked["mean"] - most - slack
        outside = int(np.count_nonzero(~((low <= values) & (values <= asked["mean"] + most + slack))))
        found.append((name, "Kolmogorov-Smirnov, chi-square", number, outside, *_normal(points)))
    for language, voices in sorted(said["voices"].items()):
        counts = rows.loc[rows["language"] == language, "voice"].value_counts().reindex(voices, fill_value=0)
        total = int((rows["language"] == language).sum())
        found.append((f"voice {language}", "chi-square", total, 0, *_uniform([int(count) for count in counts])))
    table = pd.DataFrame(found, columns=["parameter", "test", "utterances", "outside", "statistic", "p"])
    table.insert(0, "file", "shards")
    return table


def voices_table(output: StageOutput, shards: Mapping[str, pa.Table]) -> pd.DataFrame:
    """A row a voice, of those drawn from and those that speak.

    Columns: ``voice``, ``language``, ``asked`` (yes for one of ``draws.json``), ``utterances``, ``share`` of its language's
    utterances, ``p`` of so many under a uniform draw (binomial, exact for any number), ``own_level``: the mean level without
    the gain (dB of full scale), ``off``: how far that is from the mean of all voices (dB), both 0 where it says nothing.
    """
    import numpy as np
    import pandas as pd
    from scipy.stats import binomtest

    said, rows = json.loads(output.file(FILE).read_bytes()), _rows(shards)
    listed = {(language, voice) for language, voices in said["voices"].items() for voice in voices}
    own_levels = (rows["level"].astype(float) - rows["gain"].astype(float)).groupby([rows["language"], rows["voice"]])
    means = {key: float(mean) for key, mean in own_levels.mean().items()}
    spoken = {key: int(number) for key, number in own_levels.size().items()}
    totals = Counter(rows["language"].tolist())
    middle = float(np.mean(list(means.values()))) if means else 0.0
    found = []
    for language, voice in sorted(listed | set(means)):
        key, number, total = (language, voice), spoken.get((language, voice), 0), totals[language]
        among = len(said["voices"].get(language, []))
        p = float(binomtest(number, total, 1.0 / among).pvalue) if total and among else 1.0
        own = means.get(key, middle)
        share = number / total if total else 0.0
        found.append((voice, language, "yes" if key in listed else "no", number, share, p, means.get(key, 0.0), own - middle))
    names = ["voice", "language", "asked", "utterances", "share", "p", "own_level", "off"]
    table = pd.DataFrame(found, columns=names)
    table.insert(0, "file", "shards")
    return table


def probabilities(
    values: Sequence[float] | np.ndarray, keys: Sequence[str], *, mean: float, sd: float, clip: float, decimals: int
) -> np.ndarray:
    """A point in 0..1 for each value: uniform if the values are N(``mean``, ``sd``²), clipped at ``clip`` sd and rounded.

    A value out of the clip gets a point that no draw would give, 0 or 1.
    """
    import numpy as np
    from scipy.special import ndtr

    half = 0.5 * 10.0**-decimals
    low, high = mean - clip * sd, mean + clip * sd
    # Records hold single precision: .8 comes back as .80000001, which lies beside the edge's step and not on it.
    held = np.round(np.asarray(values, float), decimals)
    # As the draws are rounded: the edge's step is wherever the edge is rounded to.
    start = np.where(held <= round(low, decimals), 0.0, ndtr((held - half - mean) / sd))
    end = np.where(held >= round(high, decimals), 1.0, ndtr((held + half - mean) / sd))
    inside = (low - half <= held) & (held <= high + half)
    return np.where(inside, start + (end - start) * _shares(keys), held > mean)


def _shares(keys: Sequence[str]) -> np.ndarray:
    """A number in 0..1 for each key, uniform over keys: eight bytes of its digest."""
    import numpy as np

    digests = b"".join(hashlib.blake2b(key.encode(), digest_size=8).digest() for key in keys)
    return np.frombuffer(digests, "<u8") / 2.0**64


def _normal(points: np.ndarray) -> tuple[float, float]:
    """Kolmogorov and Smirnov's statistic of points that should be uniform on 0..1, and the p of both tests."""
    import numpy as np
    from scipy.stats import chisquare, kstest

    distance = kstest(points, "uniform")
    if len(points) * EDGE < FEWEST:
        return float(distance.statistic), float(distance.pvalue)
    counts, _ = np.histogram(points, BINS)
    binned = chisquare(counts, len(points) * np.diff(BINS))
    return float(distance.statistic), min(1.0, 2.0 * min(float(distance.pvalue), float(binned.pvalue)))


def _uniform(counts: Sequence[int]) -> tuple[float, float]:
    """Statistic and p of counts that should be alike."""
    from scipy.stats import chisquare

    if len(counts) < 2 or sum(counts) / len(counts) < FEWEST:
        return 0.0, 1.0
    outcome = chisquare(list(counts))
    return float(outcome.statistic), float(outcome.pvalue)


def _rows(shards: Mapping[str, pa.Table]) -> pd.DataFrame:
    """The synthetic utterances, of the columns that the tests need."""
    import pandas as pd

    frames = [table.select(COLUMNS).to_pandas() for table in shards.values()]
    every = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=COLUMNS)
    return every[every["origin"] == "synthetic"]
