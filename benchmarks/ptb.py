"""Our PTB tokens beside the published tool's, and METEOR's values: ``python -m benchmarks.ptb`` (needs Java).

Input: every different alt-text and some lines of text of the sample's packages (``hearsight data --benchmarks`` first;
``--packages`` names another folder), and captions put together at random of what tokenisers differ over. The tool is the
Stanford tokeniser's jar as pycocoevalcap runs it, in an environment of its own. Each caption is followed by a line of one
comma, since the jar lets a caption that ends in "vitamin C." depend on the next; ``--neighbours`` counts how many do in a file
of captions as they come.

``--table FILE`` writes what the jar makes of the inputs in ``tests/metrics/data/ptb_inputs.txt``; the tests hold ours to it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.harness import PACKAGES, ROOT, children_cpu, environment, seconds, show

INPUTS = ROOT / "tests" / "metrics" / "data" / "ptb_inputs.txt"
PUNCTUATION = ["''", "'", "``", "`", "-LRB-", "-RRB-", "-LCB-", "-RCB-", ".", "?", "!", ",", ":", "-", "--", "...", ";"]
_LINES = re.compile("[\r\n\x0b\x0c\x85\u2028\u2029]")
_SEPARATORS = [" "] * 12 + [""] * 6 + ["  ", "\t", "\xa0", ", ", ". ", "; ", "-", "/", "'", ".", ","]
_CHARACTERS = "aAbnNsStTdDlLxUS.,'\"`’-_/&;:()[]{}<>@#$%*+=!?0123459 \té½£€😀…—\xad"


def packaged() -> Path:
    """The folder of the tool's package, in its own environment."""
    python = environment("pycocoevalcap")
    code = "import pycocoevalcap; print(list(pycocoevalcap.__path__)[0])"
    return Path(subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip())


def by_jar(captions: Sequence[str], *, between: str | None = ",") -> list[list[str]]:
    """The jar's tokens without punctuation, as the tool drops it."""
    lines = [line for caption in captions for line in ((caption,) if between is None else (caption, between))]
    jar = packaged() / "tokenizer" / "stanford-corenlp-3.4.1.jar"
    with tempfile.NamedTemporaryFile("wb", suffix=".txt") as file:
        file.write("\n".join(lines).encode())
        file.flush()
        command = ["java", "-Dfile.encoding=UTF-8", "-cp", str(jar), "edu.stanford.nlp.process.PTBTokenizer"]
        command += ["-preserveLines", "-lowerCase", file.name]
        done = subprocess.run(command, capture_output=True, check=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
    found = done.stdout.decode().split("\n")[: len(lines) : 1 if between is None else 2]
    return [[token for token in line.rstrip().split(" ") if token and token not in PUNCTUATION] for line in found]


def alt_texts(packages: Path) -> list[str]:
    """Every different alt-text of the HTML files, in sorted order."""
    from components.web.html.page import read_page

    pages = [path for path in sorted(packages.rglob("*.html")) if path.is_file()]
    found = {each.alt for page in pages for each in read_page(page.read_bytes(), "http://x/").candidates if each.alt}
    return sorted(_LINES.sub(" ", text) for text in found)


def text_lines(packages: Path, most: int) -> list[str]:
    """Different lines of 9 to 299 characters between the pages' tags, drawn at random."""
    found: set[str] = set()
    for page in sorted(packages.rglob("*.html")):
        if page.is_file():
            plain = re.sub(rb"(?s)<(script|style).*?</\1>|<[^>]*>", b"\n", page.read_bytes()).decode("utf-8", "replace")
            found.update(line for raw in plain.splitlines() if 8 < len(line := _LINES.sub(" ", raw.strip())) < 300)
    lines = sorted(found)
    random.Random(1).shuffle(lines)
    return lines[:most]


def random_captions(most: int, seed: int) -> list[str]:
    """Three in five of pieces that tokenisers differ over, the rest of single characters."""
    source = random.Random(seed)
    pieces = sorted({piece for line in INPUTS.read_text(encoding="utf-8").splitlines() for piece in line.split(" ")})
    found = []
    for number in range(most):
        if number % 5 < 3:
            parts = [source.choice(pieces) + source.choice(_SEPARATORS) for _ in range(source.randint(1, 9))]
        else:
            parts = [source.choice(_CHARACTERS) for _ in range(source.randint(1, 14))]
        found.append("".join(parts))
    return found


def agreement(what: str, captions: Sequence[str]) -> None:
    """Print how many are equal, and the first that are not."""
    from components.metrics.ptb import ptb_tokenize

    theirs = by_jar(captions)
    ours = [ptb_tokenize(caption) for caption in captions]
    other = [(caption, mine, jar) for caption, mine, jar in zip(captions, ours, theirs, strict=True) if mine != jar]
    line = {"what": what, "captions": len(captions), "differ": len(other), "first": other[:3]}
    show(line)


def neighbours(captions: Sequence[str]) -> None:
    """Print of captions as they come, how many the jar takes otherwise than alone."""
    alone, together = by_jar(captions), by_jar(captions, between=None)
    differ = sum(one != other for one, other in zip(alone, together, strict=True))
    show({"what": "captions that depend on the next", "captions": len(captions), "differ": differ})


def speed(captions: Sequence[str], runs: int) -> None:
    """Print captions a CPU second, in turns; the jar's with Java's start, and without (twice the input less once)."""
    from components.metrics import ptb

    times: dict[str, list[float]] = {"ours, cold": [], "ours, warm": [], "jar": [], "jar, twice": []}
    ptb.ptb_tokenize("compile the rules")
    for _ in range(runs):
        for name, given in (("jar", captions), ("jar, twice", [*captions, *captions])):
            times[name].append(seconds(lambda given=given: by_jar(given, between=None), children_cpu))
        ptb._part.cache_clear()
        for name in ("ours, cold", "ours, warm"):
            times[name].append(seconds(lambda: [ptb.ptb_tokenize(caption) for caption in captions]))
    median = {name: statistics.median(each) for name, each in times.items()}
    median["jar, without its start"] = max(median.pop("jar, twice") - median["jar"], 1e-9)
    rates = {name: round(len(captions) / seconds) for name, seconds in median.items()}
    line: dict[str, Any] = {"what": "captions a CPU second", "captions": len(captions), **rates}
    line["ours, cold / jar"] = round(median["jar"] / median["ours, cold"], 2)
    show(line)


def meteor_values(captions: Sequence[str], items: int) -> None:
    """Print the greatest difference of METEOR's values from the tool's own wrapper over shuffled captions."""
    from components.metrics.meteor import meteor
    from components.metrics.ptb import ptb_tokenize

    source = random.Random(2)
    candidates, references = [], []
    for number in range(items):
        caption = source.choice(captions)
        words = caption.split()
        source.shuffle(words)
        candidates.append(ptb_tokenize(" ".join(words[:12])) if number % 50 else [])
        references.append([ptb_tokenize(text) for text in (caption, *source.choices(captions, k=source.randint(0, 4)))])
    package = packaged()
    mine, each = meteor(candidates, references, jar=package / "meteor")
    given = {"res": [" ".join(text) for text in candidates], "gts": [[" ".join(text) for text in known] for known in references]}
    code = (
        "import json, sys; from pycocoevalcap.meteor.meteor import Meteor; given = json.load(sys.stdin); "
        "gts = dict(enumerate(given['gts'])); res = {at: [text] for at, text in enumerate(given['res'])}; "
        "print(json.dumps(Meteor().compute_score(gts, res)))"
    )
    command = [environment("pycocoevalcap"), "-c", code]
    done = subprocess.run(
        command, input=json.dumps(given), capture_output=True, text=True, check=True, env={**os.environ, "LC_ALL": "C.UTF-8"}
    )
    total, scores = json.loads(done.stdout.splitlines()[-1])
    worst = max(abs(one - other) for one, other in zip([mine, *each], [total, *scores], strict=True))
    show({"what": "METEOR", "items": items, "corpus": mine, "greatest difference": worst})


def write_table(path: Path) -> None:
    """What the jar makes of the test's inputs, a JSON pair a line."""
    captions = INPUTS.read_text(encoding="utf-8").splitlines()
    pairs = zip(captions, by_jar(captions), strict=True)
    path.write_text("".join(json.dumps(pair, ensure_ascii=True) + "\n" for pair in pairs), encoding="utf-8")


def main() -> None:
    """Print a line a comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packages", type=Path, default=PACKAGES)
    parser.add_argument("--random", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--neighbours", type=Path, help="captions, one a line")
    parser.add_argument("--table", type=Path)
    options = parser.parse_args()
    if options.table:
        write_table(options.table)
        return
    if options.neighbours:
        neighbours(options.neighbours.read_text(encoding="utf-8").splitlines())
        return
    alts, lines = alt_texts(options.packages), text_lines(options.packages, 60_000)
    agreement("alt-texts", alts)
    agreement("lines of pages", lines)
    agreement("random", random_captions(options.random, options.seed))
    speed([*alts, *lines][:20_000], options.runs)
    meteor_values(alts, 300)


if __name__ == "__main__":
    main()
