"""Share of unseen captions that are spoken without an error: ``python -m benchmarks.spoken [--all]``.

``spoken_unseen/<language>.tsv`` holds 75 captions a language, each with what a careful speaker accepts. Their author had not seen
the code, and who wrote the rules had not seen them. A line is the caption, a tab, and the accepted forms: ``{a|b}`` is a choice.
Compared are words, without case, punctuation and hyphens. Prints the share of each language with its 95 % interval (Wilson), and
what was not accepted (``--all``: everything).
"""

from __future__ import annotations

import argparse
import itertools
import math
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from benchmarks.harness import show

FOLDER = Path(__file__).parent / "spoken_unseen"


def captions(language: str) -> Iterator[tuple[str, str]]:
    """Yield each caption and its pattern of accepted forms."""
    for line in (FOLDER / f"{language}.tsv").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            written, _, accepted = line.partition("\t")
            yield written, accepted


def compared(text: str) -> str:
    """Return a text as it is compared: lower case, words alone."""
    letters = "".join(
        c if c.isalnum() or unicodedata.category(c).startswith("M") else " " for c in unicodedata.normalize("NFC", text)
    )
    return " ".join(letters.casefold().split())


def accepted_forms(pattern: str) -> set[str]:
    """Return every form that a pattern of choices accepts, as compared."""
    parts = [part[1:-1].split("|") if part.startswith("{") else [part] for part in re.split(r"(\{[^{}]*\})", pattern)]
    return {compared("".join(choice)) for choice in itertools.product(*parts)}


def share(right: int, count: int, z: float = 1.96) -> str:
    """Return a share in words, with Wilson's interval."""
    value, spread = right / count, z * z / count
    half = z * math.sqrt(value * (1 - value) / count + spread / count / 4)
    low, high = ((value + spread / 2 + side) / (1 + spread) for side in (-half, half))
    return f"{right} of {count}, {value:.3f} ({low:.3f} to {high:.3f})"


def main() -> None:
    """Print the shares, and the captions that were not accepted."""
    from components.speech.text_normalization import NormalisedText, normalise_for_speech

    parser = argparse.ArgumentParser(description="Share of unseen captions that are spoken without an error.")
    parser.add_argument("--all", action="store_true", help="print every caption with what was said")
    everything = parser.parse_args().all
    total = [0, 0]
    for path in sorted(FOLDER.glob("*.tsv")):
        right, count = 0, 0
        for written, pattern in captions(path.stem):
            result = normalise_for_speech(written, path.stem, max_characters=1000)
            said = result.text if isinstance(result, NormalisedText) else f"!{result.rule}"
            good = compared(said) in accepted_forms(pattern)
            right, count = right + good, count + 1
            if everything or not good:
                print(f"{'right' if good else 'WRONG'}\t{path.stem}\t{written}\n\tsaid      {said}\n\taccepted  {pattern}")
        total = [total[0] + right, total[1] + count]
        show({"language": path.stem, "right": share(right, count)})
    show({"language": "all", "right": share(*total)})


if __name__ == "__main__":
    main()
