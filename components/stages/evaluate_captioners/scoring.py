"""Scores of captions against the references of a test split, and the constant-caption baseline.

Captions and references are scored as Penn Treebank tokens, like the published figures (:mod:`components.metrics.ptb`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from components.core.digests import digest_value, sha256_file
from components.core.errors import HearsightError
from components.language.wordnet import wordnet_folder
from components.metrics import meteor as meteors
from components.metrics import spice as spices
from components.metrics.caption_parses import parse_captions
from components.metrics.captions import score_captions as score_corpus
from components.metrics.cider import SIGMA, best_constant
from components.metrics.hallucination import find_hallucinations
from components.metrics.jars import JarUnavailable
from components.metrics.lexicon import Lexicon, load_lexicon
from components.metrics.meteor import LanguageUnavailable, find_meteor, meteor_jar
from components.metrics.ngrams import ORDER
from components.metrics.ptb import ptb_tokenize, split_multiword_tokens
from components.metrics.spice import spice_jar
from components.stages.evaluate_captioners.inputs import Item, read_rows, read_set

if TYPE_CHECKING:
    from components.execution.stage import Task
    from components.metrics.parses import Sentence

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
}
"""Name → title, in the tables' order; a table has the columns that have scores. The published tools print CIDEr-D as CIDEr."""
MAIN = "cider_d"
"""The metric that selects captioners (CC §5.2) and that pages compare by."""
SIGNATURE = (
    f"CIDEr-D: n-grams of 1 to {ORDER} tokens, clipped counts, Gaussian of the difference in length with sigma {SIGMA:g}, times "
    "10; Penn Treebank tokens without punctuation, no end sign; document frequencies of the test references. The reward of "
    "self-critical training: the network's tokens and the end sign; document frequencies of the training captions."
)
"""Which CIDEr-D the tables show. Values of another one are not comparable (SacreEOS, arXiv 2305.12254)."""
PACKAGED = "packaged"
"""Value of the setting ``meteor``: the jar of an installed pycocoevalcap."""


class Scores(NamedTuple):
    """Scores of one model's captions of a test split."""

    corpus: dict[str, float]
    """Metric → its value over the split."""
    items: dict[str, list[float]]
    """Metric → the value of each item, for metrics whose corpus value is their mean."""


class ObjectMentions(NamedTuple):
    """Objects that one caption mentions."""

    mentioned: int | None
    """Number of objects; None where they cannot be recognised."""
    unsupported: list[str]
    """Lemmas of hallucinated objects: those in no reference and no label."""
    spans: list[tuple[int, int]]
    """Of the hallucinated objects in the caption: first character, position after the last."""


class Scored(NamedTuple):
    """One model's captions of one test split with their scores, item by item."""

    captions: list[str]
    scores: Scores
    objects: list[ObjectMentions]


def score_captions(spec: dict[str, Any], task: Task, folder: Path) -> None:
    """Write ``scores.json`` of ``spec["captions"]`` (in ``spec["language"]``, one per item of the set ``spec["test"]``)."""
    items = read_set(spec["test"], task.inputs[spec["test"]]).items
    words = [tokenize_caption(caption) for caption in spec["captions"]]
    references = [[tokenize_caption(text) for text in item.references] for item in items]
    scores = score_tokens(words, references)
    objects = [ObjectMentions(None, [], [])] * len(items)
    add_jars(scores, items, words, references, **spec["jars"])
    if spec["language"] == "en" and _languages(items) == ["en"]:
        texts = [*spec["captions"], *(text for item in items for text in item.references)]
        parses = parse_captions(texts, task.annotations)
        objects = find_unsupported_objects(spec["captions"], items, parses, load_lexicon())
    content = {"corpus": scores.corpus, "items": scores.items, "objects": objects}
    (folder / SCORES).write_text(json.dumps(content, sort_keys=True, ensure_ascii=False), encoding="utf-8")


def read_scores(folder: Path, captions: list[str]) -> Scored:
    """Read the scores that :func:`score_captions` wrote."""
    content = json.loads((folder / SCORES).read_text(encoding="utf-8"))
    objects = [
        ObjectMentions(mentioned, unsupported, [(start, end) for start, end in spans])
        for mentioned, unsupported, spans in content["objects"]
    ]
    return Scored(captions, Scores(content["corpus"], content["items"]), objects)


def choose_constant(spec: dict[str, Any], task: Task, folder: Path) -> None:
    """Write ``constant.json``: the caption that scores best for all training images alike, and its mean CIDEr-D on them.

    The file holds null where the set ``spec["test"]`` has no training split.
    """
    references: dict[str, dict[tuple[str, ...], None]] = {}
    images: dict[str, str] = {}
    for row in read_rows(task.inputs[spec["test"]], "train"):
        references.setdefault(row["group"], {})[tuple(row["words"])] = None
        images.setdefault(row["image_sha256"], row["group"])
    constant: dict[str, Any] | None = None
    if images:
        words, score = best_constant([list(references[group]) for group in images.values()], candidates=spec["constants"])
        constant = {"caption": " ".join(words), "train": score}
    (folder / CONSTANT).write_text(json.dumps(constant, sort_keys=True, ensure_ascii=False), encoding="utf-8")


def tokenize_caption(caption: str) -> list[str]:
    """Return a caption's Penn Treebank tokens."""
    return split_multiword_tokens(ptb_tokenize(caption))


def score_tokens(candidates: Sequence[Sequence[str]], references: Sequence[Sequence[Sequence[str]]]) -> Scores:
    """Return all metrics of tokenised candidates, one per item."""
    scores = score_corpus(candidates, references)
    corpus = {name: value for name, value in scores.corpus.items() if name in METRICS}
    items = {name: values.tolist() for name, values in scores.items.items() if name in corpus and not name.startswith("bleu_")}
    return Scores(corpus, items)


def add_jars(
    scores: Scores,
    items: Sequence[Item],
    candidates: Sequence[Sequence[str]],
    references: Sequence[Sequence[Sequence[str]]],
    *,
    meteor: str,
    spice: str,
) -> None:
    """Add METEOR in the items' language and SPICE of English items, if they are enabled and have that language.

    Raises:
        HearsightError: an enabled metric cannot run here.
    """
    gaps = find_language_gaps(items, meteor, spice)
    with _jar_errors():
        if meteor and "meteor" not in gaps:
            (language,) = _languages(items)
            scores.corpus["meteor"], _ = meteors.meteor(candidates, references, language=language, jar=_path(meteor))
        if spice and "spice" not in gaps:
            result = spices.spice(candidates, references, spice)
            scores.corpus["spice"], scores.items["spice"] = result.mean, list(result.items)


def find_language_gaps(items: Sequence[Item], meteor: str, spice: str) -> dict[str, str]:
    """Return enabled metric → why it is left out on these items: the language of their captions.

    Raises:
        HearsightError: METEOR's jar is missing.
    """
    languages, gaps = _languages(items), {}
    if meteor and len(languages) > 1:
        gaps["meteor"] = f"METEOR: it scores captions of one language, and these are in {' and '.join(languages)}"
    elif meteor:
        with _jar_errors():
            try:
                meteor_jar(_path(meteor), languages[0])
            except LanguageUnavailable as gap:
                gaps["meteor"] = str(gap)
    if spice and languages != ["en"]:
        gaps["spice"] = f"SPICE: it reads English, and these captions are in {' and '.join(languages)}"
    return gaps


def _languages(items: Sequence[Item]) -> list[str]:
    return sorted({item.language for item in items})


def _path(meteor: str) -> str:
    """Return the path of METEOR's jar in the setting; empty for pycocoevalcap's."""
    return "" if meteor == PACKAGED else meteor


@contextmanager
def _jar_errors() -> Iterator[None]:
    try:
        yield
    except JarUnavailable as problem:
        where = "evaluate_captioners.meteor, evaluate_captioners.spice"
        raise HearsightError(str(problem), where=where, hint="set a valid path, or leave it empty") from None


def digest_scoring_inputs(meteor: str, spice: str) -> dict[str, str]:
    """Return the digests of what scores depend on besides the inputs: the dictionary and the enabled jars.

    Raises:
        HearsightError: the jar of an enabled metric is missing.
    """
    digests = {"dictionary": digest_value([(path.name, sha256_file(path)) for path in sorted(wordnet_folder().glob("*.*"))])}
    with _jar_errors():
        if meteor:
            jar = find_meteor(_path(meteor))
            tables = sorted((path.name, path.stat().st_size) for path in jar.parent.glob("data/paraphrase-*.gz"))
            digests["meteor"] = digest_value([sha256_file(jar), tables])
        if spice:
            digests["spice"] = sha256_file(spice_jar(spice))
    return digests


def find_unsupported_objects(
    captions: Sequence[str], items: Sequence[Item], parses: Mapping[str, Sentence], lexicon: Lexicon | None
) -> list[ObjectMentions]:
    """Return the objects that each English caption mentions, with those that neither labels nor references contain."""
    references, labels = [item.references for item in items], [item.labels for item in items]
    return [
        ObjectMentions(len(item.mentions), [m.lemma for m in item.hallucinated], [(m.start, m.end) for m in item.hallucinated])
        for item in find_hallucinations(captions, references, labels, parses, lexicon)
    ]


def mean(values: Sequence[float]) -> float:
    """Return the mean of values; 0 without any."""
    return math.fsum(values) / len(values) if values else 0.0
