"""Captions scored against the references of a test split, and the constant caption to beat.

One place (:func:`caption_scores`) asks the metrics' package, another (:func:`judge`) what is named and not there.
Captions and references alike are scored as Penn Treebank tokens, as the published figures are (:mod:`components.metrics.ptb`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from components.stages.evaluate_captioners.inputs import Item, read_set, rows_of

if TYPE_CHECKING:
    from components.execution.stage import Task
    from components.metrics.lexicon import Lexicon
    from components.metrics.parses import Parses

SCORES, CONSTANT = "scores.json", "constant.json"
METRICS = {
    "bleu_1": "BLEU-1",
    "bleu_2": "BLEU-2",
    "bleu_3": "BLEU-3",
    "bleu_4": "BLEU-4",
    "rouge_l": "ROUGE-L",
    "meteor": "METEOR",
    "spice": "SPICE",
    "cider_d": "CIDEr-D",
    "cider_r": "CIDEr-R",
    "cider_plain": "CIDEr, first formula",
    "scene_graph_f": "scene graph F (own)",
}
"""Name → title, in the tables' order; a table has the columns that there are scores of. What the published tools print as
CIDEr is the formula of CIDEr-D."""
MAIN = "cider_d"
"""The metric that captioners are chosen by (CC, section 5.2), and that pages compare by."""


PACKAGED = "packaged"
"""As ``compare.meteor``: the jar of an installed pycocoevalcap."""


class Scores(NamedTuple):
    """Of the captions of a test split."""

    corpus: dict[str, float]
    """Metric → its value for the whole split."""
    items: dict[str, list[float]]
    """Metric → the value of each item; of those whose corpus value is their mean."""


class Things(NamedTuple):
    """What one caption names."""

    named: int | None
    """How many things; None where nothing can tell them."""
    unseen: list[str]
    """The lemmas of those that neither the references nor the labels know."""
    places: list[tuple[int, int]]
    """Where these stand in the caption: first character, place after the last."""


class Reading(NamedTuple):
    """English captions and references as the analyses of their content read them."""

    parses: Parses
    lexicon: Lexicon | None
    """None where there is no dictionary."""


class Scored(NamedTuple):
    """One model's captions of one test split, item by item."""

    captions: list[str]
    scores: Scores
    things: list[Things]


def score_captions(spec: dict[str, Any], task: Task, folder: Path) -> None:
    """Write ``scores.json`` of ``spec["captions"]``, in ``spec["language"]``, one an item of ``spec["test"]`` in its order."""
    items = read_set(spec["test"], task.inputs[spec["test"]]).items
    words, known = [scored_words(caption) for caption in spec["captions"]], [[*map(scored_words, i.references)] for i in items]
    scores = caption_scores(words, known)
    things = [Things(None, [], [])] * len(items)
    if {item.language for item in items} == {"en"}:
        add_jars(scores, words, known, **spec["jars"])
        read = reading_of(spec["captions"], items, task)
        add_scene_graphs(scores, spec["captions"], items, read)
        if spec["language"] == "en":
            things = judge(spec["captions"], items, read)
    content = {"corpus": scores.corpus, "items": scores.items, "things": things}
    (folder / SCORES).write_text(json.dumps(content, sort_keys=True, ensure_ascii=False), encoding="utf-8")


def read_scores(folder: Path, captions: list[str]) -> Scored:
    """What :func:`score_captions` wrote."""
    content = json.loads((folder / SCORES).read_text(encoding="utf-8"))
    things = [Things(named, unseen, [(start, end) for start, end in places]) for named, unseen, places in content["things"]]
    return Scored(captions, Scores(content["corpus"], content["items"]), things)


def choose_constant(spec: dict[str, Any], task: Task, folder: Path) -> None:
    """Write ``constant.json``: the training caption that scores best said of every training picture, and its mean CIDEr-D there.

    It is null where the set ``spec["test"]`` has no training split.
    """
    from components.metrics.cider import best_constant

    known: dict[str, dict[tuple[str, ...], None]] = {}
    pictures: dict[str, str] = {}
    for row in rows_of(task.inputs[spec["test"]], "train"):
        known.setdefault(row["group"], {})[tuple(row["words"])] = None
        pictures.setdefault(row["image_sha256"], row["group"])
    found: dict[str, Any] | None = None
    if pictures:
        words, score = best_constant([list(known[group]) for group in pictures.values()], candidates=spec["constants"])
        found = {"caption": " ".join(words), "train": score}
    (folder / CONSTANT).write_text(json.dumps(found, sort_keys=True, ensure_ascii=False), encoding="utf-8")


def scored_words(caption: str) -> list[str]:
    """A caption's tokens as the published figures count them."""
    from components.metrics.ptb import ptb_tokenize, split_multiword_tokens

    return split_multiword_tokens(ptb_tokenize(caption))


def caption_scores(candidates: Sequence[Sequence[str]], references: Sequence[Sequence[Sequence[str]]]) -> Scores:
    """Every metric of tokenised candidates, one an item."""
    from components.metrics.captions import score_captions as score

    found = score(candidates, references)
    corpus = {name: value for name, value in found.corpus.items() if name in METRICS}
    items = {name: values.tolist() for name, values in found.items.items() if name in corpus and not name.startswith("bleu_")}
    return Scores(corpus, items)


def add_jars(
    scores: Scores, candidates: Sequence[Sequence[str]], references: Sequence[Sequence[Sequence[str]]], *, meteor: str, spice: str
) -> None:
    """METEOR and SPICE of English captions, each where it is asked for.

    Raises:
        HearsightError: what is asked for cannot be run here.
    """
    from components.core.errors import HearsightError
    from components.metrics import meteor as meteors
    from components.metrics import spice as spices
    from components.metrics.jars import JarUnavailable

    try:
        if meteor:
            scores.corpus["meteor"], _ = meteors.meteor(candidates, references, jar="" if meteor == PACKAGED else meteor)
        if spice:
            found = spices.spice(candidates, references, spice)
            scores.corpus["spice"], scores.items["spice"] = found.mean, list(found.items)
    except JarUnavailable as problem:
        raise HearsightError(str(problem), where="compare.meteor, compare.spice", hint="fix that, or leave it empty") from None


def read_besides(meteor: str, spice: str) -> dict[str, str]:
    """What scores depend on that is no input, by content: the dictionary, and the jars that are asked for.

    Raises:
        HearsightError: a jar that is asked for is not there.
    """
    from components.core.digests import digest_value, sha256_file
    from components.core.errors import HearsightError
    from components.language.wordnet import wordnet_folder
    from components.metrics.jars import JarUnavailable
    from components.metrics.meteor import meteor_jar
    from components.metrics.spice import spice_jar

    found = {"dictionary": digest_value([(path.name, sha256_file(path)) for path in sorted(wordnet_folder().glob("*.*"))])}
    try:
        if meteor:
            found["meteor"] = sha256_file(meteor_jar("" if meteor == PACKAGED else meteor))
        if spice:
            found["spice"] = sha256_file(spice_jar(spice))
    except JarUnavailable as problem:
        raise HearsightError(str(problem), where="compare.meteor, compare.spice", hint="fix that, or leave it empty") from None
    return found


def reading_of(captions: Sequence[str], items: Sequence[Item], task: Task) -> Reading:
    """What scene graphs and things named are read from: every English text parsed once, and the dictionary."""
    from components.language.metric_lexicon import load_lexicon
    from components.metrics.caption_parses import parse_captions

    texts = [*captions, *(text for item in items for text in item.references)]
    return Reading(parse_captions(texts, "en", task.annotations), load_lexicon())


def add_scene_graphs(scores: Scores, captions: Sequence[str], items: Sequence[Item], read: Reading) -> None:
    """The own scene-graph F-score of captions of English pictures, whatever their language."""
    from components.metrics.scene_graph import scene_graph_f

    found = scene_graph_f(captions, [item.references for item in items], read.parses, read.lexicon)
    if found.mean is not None:
        scores.corpus["scene_graph_f"], scores.items["scene_graph_f"] = found.mean, [item.f for item in found.items]


def judge(captions: Sequence[str], items: Sequence[Item], read: Reading) -> list[Things]:
    """What each English caption names that is not in its picture."""
    from components.metrics.hallucination import find_hallucinations

    known, labels = [item.references for item in items], [item.labels for item in items]
    judged = [
        (one.mentions, one.hallucinated) for one in find_hallucinations(captions, known, labels, read.parses, read.lexicon).items
    ]
    return [Things(len(named), [m.lemma for m in gone], [(m.start, m.end) for m in gone]) for named, gone in judged]


def mean(values: Sequence[float]) -> float:
    """Their mean; 0 without any."""
    return math.fsum(values) / len(values) if values else 0.0
