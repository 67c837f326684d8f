"""``python -m tests.gold.posts.train_segments``: train the score of segments of a post's caption, whether one describes an image.

It learns from captions with the description that each should give. A segment of the text behind the tag is positive if its words
come next in the description. Each description is learned once more as the stage writes it: in one line, with nothing to remove.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from scipy.sparse import csr_matrix

from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.core.printing import print_line
from components.core.streams import report_errors, run_program
from components.core.text_encoding import parse_json_lines, read_text
from components.language.identification import language_probability
from components.language.logistic import Features, choose_features
from components.stages.extract_descriptions import LISTS
from components.stages.extract_descriptions.describing import BIAS, START, features
from components.stages.extract_descriptions.extract import text_to_cut
from components.stages.extract_descriptions.forms import HASHED
from components.stages.extract_descriptions.marks import without_marks
from components.stages.extract_descriptions.rules import Rules, load_rules
from components.stages.extract_descriptions.segments import split
from components.stages.extract_descriptions.words import count_words, words_of
from tests.gold.posts.describing_runs import Text, fit_runs

PENALTY = 0.3
LEAST = 4
"""Segments that a feature must occur in."""
REFUSED = 3.0
"""Importance of a segment of a caption without a description: there are few, and one mistaken segment keeps its advert."""
_FEW = 3
"""Words of a text that is too short, whatever it says."""
_SKIPPED, _SHARE = 2, 0.6
"""Words of a description that a piece may lack, and the least share of a piece's words in it: links, mentions and labels go."""
_DECIMALS = 2
HINT = "docs/posts-to-descriptions.md says how to write the file"


def train(files: Sequence[Path], out: Path, language: str = "pt", about: str = "") -> dict[str, Any]:
    """Write the weights learned from files of captions, and return what they were trained on.

    Args:
        files: JSON lines with ``caption`` and ``description`` (null: the caption has none). A file given twice counts double.
        about: said in the file of weights.

    Raises:
        HearsightError: a line has other fields, or all segments are of one kind.
    """
    cases = [case for file in files for case in _read(file)]
    rows, labels, texts = examples(cases, load_rules(language))
    if len(set(labels)) < 2:
        raise HearsightError(
            "all segments are of one kind", where="train-segments", hint="give captions with more than their description"
        )
    names = choose_features(rows, LEAST)
    fitted = fit_runs(_sparse(rows, names), texts, PENALTY, START)
    weights = {name: round(float(weight), _DECIMALS) for name, weight in zip([*names, BIAS], fitted, strict=True)}
    described = sum(case["description"] is not None for case in cases)
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    trained_on = {"about": about, "captions": len(cases), "with_description": described, "segments": len(rows), "sha256": digest}
    kept = {name: weight for name, weight in weights.items() if weight or name == BIAS}
    hashed = " ".join(f"{name}:{weight:g}" for name, weight in kept.items() if name.startswith(HASHED))
    named = {name: weight for name, weight in kept.items() if not name.startswith(HASHED)}
    content = {"trained_on": trained_on, "weights": named, "words": hashed}
    publish_bytes(out, (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode())
    return trained_on


def _sparse(examples: Sequence[Features], names: Sequence[str]) -> csr_matrix:
    """Return examples × features, with a last column of ones for the intercept."""
    columns = {name: at for at, name in enumerate(names)}
    present = [{columns[name]: value for name, value in example.items() if name in columns} for example in examples]
    cells = [(row, column, value) for row, example in enumerate(present) for column, value in example.items()]
    rows, places, values = zip(*cells, *((row, len(names), 1.0) for row in range(len(examples))), strict=True)
    return csr_matrix((values, (rows, places)), shape=(len(examples), len(names) + 1))


def _read(file: Path) -> list[dict[str, Any]]:
    cases = []
    for number, case in parse_json_lines(read_text(file, HINT), file, HINT):
        if not (isinstance(case.get("caption"), str) and isinstance(case.get("description", 0), str | None)):
            raise HearsightError("no `caption` with its `description`", where=f"{file}, line {number}", hint=HINT)
        cases.append(case)
    return cases


def examples(cases: Iterable[dict[str, Any]], rules: Rules) -> tuple[list[Features], list[bool], list[Text]]:
    """Return the features and the label of each segment of the captions, and the texts they are of, in order."""
    rows: list[Features] = []
    labels: list[bool] = []
    texts: list[Text] = []
    for case in cases:
        description = case["description"] or ""
        pieces = [text_to_cut(case["caption"], rules, language_probability), description]
        if not description and count_words(without_marks(pieces[0])) <= _FEW:
            continue
        for text in filter(None, dict.fromkeys(pieces)):
            found = split(text, rules)
            rows += features(text, found, rules)
            describes = label([text[segment.start : segment.end] for segment in found], description)
            labels += describes
            places = [at for at, positive in enumerate(describes) if positive]
            texts.append(Text(len(found), (places[0], places[-1]) if places else None, 1.0 if description else REFUSED))
    return rows, labels, texts


def label(pieces: Sequence[str], description: str) -> list[bool]:
    """Return for each piece of a text, in order, whether most of its words are next in the description."""
    wanted, at, labels = [word.folded for word in words_of(description)], 0, []
    for piece in pieces:
        words = [word.folded for word in words_of(piece)]
        near = wanted[at : at + len(words) + _SKIPPED]
        blocks = [block for block in SequenceMatcher(None, words, near, autojunk=False).get_matching_blocks() if block.size]
        found = sum(block.size for block in blocks)
        positive = bool(found) and blocks[0].b <= _SKIPPED and found >= _SHARE * len(words)
        labels.append(positive)
        at += blocks[-1].b + blocks[-1].size if positive else 0
    return labels


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the weights and print what they were trained on; return 2 for an unusable file."""
    parser = argparse.ArgumentParser(prog="python -m tests.gold.posts.train_segments", description="Train the score of segments.")
    parser.add_argument("files", nargs="+", type=Path, help="JSON lines with caption and its description or null; twice: double")
    parser.add_argument("--language", default="pt", help="language of the captions (ISO 639-1)")
    parser.add_argument("--about", default="", help="what the captions are; the file of weights says it")
    parser.add_argument("--out", type=Path, help="the file of weights (default: that of the project)")
    chosen = parser.parse_args(arguments)
    path = chosen.out or LISTS / f"segments.{chosen.language}.json"
    return report_errors(lambda: print_line(train(chosen.files, path, chosen.language, chosen.about) | {"weights": str(path)}))


if __name__ == "__main__":
    run_program(main)
