"""Captions that pass the label rule beside captions of another image: ``python -m benchmarks.label_overlap FOLDER``.

FOLDER has Flickr8k's files: ``images/``, ``Flickr8k.token.txt`` (five captions an image) and ``Flickr_8k.testImages.txt``. Each
image is paired with its own captions, with those of the next image in a fixed random order, and with headlines if a file of
them is given. Prints the shares that pass by evidence and by stem, for captions with and without persons; the shares by
threshold; images a CPU second.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import show
from components.language.parser import EnglishParser, nouns_of
from components.language.wordnet import load_wordnet
from components.language.words import words_of
from components.providers.registry import EmbeddedLabels
from components.stages.filter import Params
from components.stages.filter.image_rules import label_overlap
from components.stages.filter.rules import Subject
from components.vision.detector import PERSON
from components.vision.evidence import GROUPS, mean_evidence

THRESHOLDS = (-0.3, -0.2, -0.15, -0.1, -0.05, 0.0, 0.1, 0.25, 0.4)


def read_captions(folder: Path) -> dict[str, list[str]]:
    """Return the captions of each image's file name."""
    captions: dict[str, list[str]] = {}
    for line in (folder / "Flickr8k.token.txt").read_text(encoding="utf-8").splitlines():
        name, caption = line.split("\t", 1)
        captions.setdefault(name.partition("#")[0], []).append(caption.strip())
    return captions


def names_person(nouns: Sequence[str]) -> bool:
    """Return whether any noun means a person or a group of persons by its first meaning."""
    senses = [found[0] for noun in nouns if (found := load_wordnet().senses(noun))]
    return any(load_wordnet().is_a(sense, GROUPS | {PERSON}) for sense in senses)


def main() -> None:
    """Measure the images of a list and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--list", choices=("test", "dev", "train"), default="test", help="the list of images")
    parser.add_argument("--images", type=int, default=0, help="only this many, drawn at random; 0: all")
    parser.add_argument("--headlines", type=Path, help="a file of headlines, one a line; each image gets one")
    given = parser.parse_args()
    names = sorted((given.folder / f"Flickr_8k.{given.list}Images.txt").read_text(encoding="utf-8").split())
    random.Random(1).shuffle(names)
    names = names[: given.images or len(names)]
    texts, role, rules = read_captions(given.folder), EmbeddedLabels(), Params()
    role.annotator.compute((given.folder / "images" / names[0]).read_bytes())  # loads the networks
    begun = time.process_time()
    images = [role.annotator.compute((given.folder / "images" / name).read_bytes()) for name in names]
    seconds = time.process_time() - begun
    captions = [caption for name in names for caption in texts[name]]
    headlines = given.headlines.read_text(encoding="utf-8").splitlines() if given.headlines else []
    beside = [headlines[number % len(headlines)] for number in range(len(names))] if headlines else []
    parses = iter(EnglishParser().compute_many([*captions, *beside]))
    rows: list[list[tuple[str, list[str]]]] = [[(caption, nouns_of(next(parses))) for caption in texts[name]] for name in names]
    # The names are in random order, so the next image is a random other one.
    results = {
        "true": [_subject(*row, role, image, rules) for image, of in zip(images, rows, strict=True) for row in of],
        "shuffled": [
            _subject(*row, role, image, rules) for image, of in zip(images, rows[1:] + rows[:1], strict=True) for row in of
        ],
    }
    persons = np.array([names_person(nouns) for of in rows for _, nouns in of])
    # In "shuffled" the captions start with those of the second image.
    with_persons = {"true": persons, "shuffled": np.roll(persons, -len(rows[0]))}
    if beside:
        of = [(headline, nouns_of(next(parses))) for headline in beside]
        results["headlines"] = [_subject(*each, role, image, rules) for each, image in zip(of, images, strict=True)]
        with_persons["headlines"] = np.array([names_person(nouns) for _, nouns in of])
    show({"images": len(names), "images a CPU s": round(len(names) / seconds, 1)})
    for row in _summary(results, with_persons, rules):
        show(row)


def _subject(text: str, nouns: list[str], role: EmbeddedLabels, image: Any, rules: Params) -> Subject:
    subject = Subject(text, text, tuple(words_of(text)))
    subject.labels, subject.kinds = role.labels(image, rules), role.kinds(nouns, image, rules)
    subject.evidence = role.evidence(nouns, image)
    return subject


def _summary(results: dict[str, list[Subject]], persons: dict[str, Any], rules: Params) -> Iterator[dict[str, Any]]:
    yield {"captions": len(results["true"]), "with persons": round(float(persons["true"].mean()), 3)}
    for overlap in ("evidence", "stem"):
        settings = rules.model_copy(update={"overlap": overlap})
        for kind, subjects in results.items():
            passed = np.array([label_overlap(subject, settings).passed for subject in subjects])
            yield {
                "pass by": overlap,
                "captions": kind,
                "all": round(float(passed.mean()), 3),
                "with persons": round(float(passed[persons[kind]].mean()), 3),
                "without": round(float(passed[~persons[kind]].mean()), 3),
            }
    means = {kind: np.array([mean_evidence(subject.evidence) for subject in subjects]) for kind, subjects in results.items()}
    for least in THRESHOLDS:
        yield {"evidence of at least": least, **{kind: round(float((means[kind] >= least).mean()), 3) for kind in means}}


if __name__ == "__main__":
    main()
