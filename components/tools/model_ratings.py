"""Ratings by a vision model on a server: it is asked about what people rate, and its verdicts are a file of ratings of their own.

Its rater is ``model:<name>.<8 hex digits of the prompt>`` and its source ``model``, so people's figures never count it.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa

from components.core.addresses import STATE, state_folder
from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.core.progress import progress
from components.core.result_cache import ResultCache
from components.execution.usage import REQUESTS, total_usage
from components.model_server.client import ANSWERED, SENT, Question, ServerAnswers, open_answers, read_answer
from components.model_server.prompts import Verdict
from components.ratings.formats import csv
from components.ratings.formats.readings import BY_MODEL
from components.ratings.items import RatingItems
from components.ratings.running import open_items
from components.tools.rating_files import canonical

AT_A_TIME = 16
"""Items that are asked about between two steps of the progress."""


def ask_model(root: Path, dataset: str, model: str = "") -> dict[str, object]:
    """Ask about each rating item that has no stored answer; write ``ratings/<dataset>/model-<name>.csv``, also after an error.

    Items whose speech is played are left out.

    Args:
        model: its name on the server; empty for ``server.vision``.

    Returns:
        What was rated, what has no answer, requests and price, and the file.

    Raises:
        HearsightError: the dataset has no items with text, or as :meth:`ServerAnswers.ask_many`.
    """
    items, folder = open_items(root, dataset), root / STATE / "work" / dataset / "model_ratings"
    shutil.rmtree(folder, ignore_errors=True)  # counts of an earlier run
    annotator = open_answers(root, "judge", model, folder)
    params, prompt = annotator.params, annotator.prompt
    keys = [key for key, audio in zip(items.keys, items.column("audio_sha256"), strict=True) if not audio]
    if not keys:
        raise HearsightError("has no items that show a text", where=dataset, hint="set build_rating_items.voiced: false")
    cache, name = ResultCache(state_folder(root) / "annotations"), re.sub(r"[^\w.-]+", "-", annotator.served)[-40:].strip("-.")
    path, verdicts = root / "ratings" / dataset / f"model-{name}.csv", dict[str, str]()
    try:
        for _ in progress(_asked(cache, annotator, items, keys), total=len(keys), desc=f"{dataset} {annotator.served}"):
            pass
    finally:
        for key, stored in cache.read(annotator, keys).items():
            if isinstance(answer := read_answer(stored, Verdict), Verdict):
                verdicts[key] = answer.verdict
        if verdicts:
            publish_bytes(path, _file(verdicts, f"{BY_MODEL}:{name}.{prompt.digest[:8]}"))
    counts = total_usage(folder)
    return {
        "rated": len(verdicts), "good": sum(verdict == "GOOD" for verdict in verdicts.values()),
        "unanswered": len(keys) - len(verdicts), "speech_left_out": len(items) - len(keys), "requests": counts[REQUESTS],
        "usd": round(params.price(counts[SENT], counts[ANSWERED]), 4), "sent_to": params.place or "this machine",
        "file": str(path.relative_to(root)) if verdicts else "", "next": f"dvc repro evaluate_ratings@{dataset}",
    }  # fmt: skip


def _asked(cache: ResultCache, annotator: ServerAnswers, items: RatingItems, keys: Sequence[str]) -> Iterator[str]:
    captions = dict(zip(items.keys, items.column("caption"), strict=True))
    for start in range(0, len(keys), AT_A_TIME):
        part = keys[start : start + AT_A_TIME]
        yield from cache.annotate(annotator, {key: partial(_question, items, key, captions[key]) for key in part})


def _question(items: RatingItems, key: str, caption: str) -> Question:
    return Question({"caption": caption}, items.image(key))


def _file(verdicts: dict[str, str], rater: str) -> bytes:
    columns = {"item": list(verdicts), "rater": [rater] * len(verdicts), "verdict": list(verdicts.values())}
    return csv.write(canonical(pa.table(columns | {"source": [BY_MODEL] * len(verdicts)})))
