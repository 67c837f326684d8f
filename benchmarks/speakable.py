"""How many captions a second are made speakable: ``python -m benchmarks.speakable``.

Input: every alt-text of the pages of the sample's packages (as in ``benchmarks.captions``; ``hearsight data --benchmarks``
first), the written cases of the tests (nearly all of them need a rule), and the longest time any one of some hostile texts of
5,000 characters takes. There is no peer: no installable package does this for the four languages. One process, CPU time,
medians.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable

HOSTILE = [
    "0",
    "1 ",
    "1.",
    "1-",
    "1x",
    "$1",
    "a.",
    "A1",
    "/",
    "a/",
    "<",
    "#a ",
    "'",
    "(",
    "I ",
    "St. ",
    " ",
    "😀",
    "日 ",
    "May 1 ",
    "10⁶",
    "1°1'",
    "5ft 1in ",
    "9:00-",
    "II-",
    "1 1/2 ",
    "1/km² ",
    "N. Main St ",
]
LIMIT = 5000


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def main(runs: int = 7) -> None:
    """Print a line of figures for each input."""
    from benchmarks.captions import alt_texts
    from components.speech.text_normalization import languages, normalise_for_speech
    from components.speech.text_normalization.language import language_of
    from components.speech.text_normalization.plain_words import is_plain
    from tests.speech.text_normalization.test_cases import CASES

    english = language_of("en")
    assert english is not None
    alts = [("en", alt) for alt in alt_texts()]
    inputs = {
        "alt-texts": alts,
        "alt-texts that are plain": [pair for pair in alts if is_plain(pair[1], english)],
        "alt-texts that are not": [pair for pair in alts if not is_plain(pair[1], english)],
        **{f"cases {code}": [(case[0], case[2]) for case in CASES if case[0] == code] * 10 for code in languages()},
    }
    for name, texts in inputs.items():

        def work(texts: list[tuple[str, str]] = texts) -> None:
            for language, text in texts:
                normalise_for_speech(text, language, max_characters=LIMIT)

        work()  # compiles the patterns
        seconds = statistics.median(cpu_seconds(work) for _ in range(runs))
        print(json.dumps({"what": name, "texts": len(texts), "per CPU s": round(len(texts) / seconds)}), flush=True)
    times = {
        (code, piece): cpu_seconds(lambda code=code, text=text: normalise_for_speech(text, code, max_characters=LIMIT))  # type: ignore[misc]
        for code in languages()
        for piece in HOSTILE
        for text in [(piece * LIMIT)[:LIMIT]]
    }
    slowest = max(times, key=times.__getitem__)
    print(json.dumps({"what": "slowest hostile text", "piece": slowest[1], "CPU s": round(times[slowest], 3)}))


if __name__ == "__main__":
    main()
