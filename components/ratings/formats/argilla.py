"""Argilla 2: records with responses as ``records.to_json`` writes them, and records with settings to import.

A record's metadata has the item's key as ``item``; without it the record's id is the key. The question is ``verdict``. Exported
responses have neither a time nor a duration, and only some versions state their status.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import orjson
import pyarrow as pa

from components.ratings.formats.readings import BAD, CANCELLED, GOOD, columns_of, damaged, normal_table

NAME = "argilla"
UNIT = "record"
QUESTION = "verdict"
Place = Callable[[Mapping[str, Any]], str]
"""RATING_ITEM record → where Argilla finds its image or speech."""


def is_record(value: Any) -> bool:
    """Return whether a JSON value is a record of Argilla."""
    return isinstance(value, dict) and "fields" in value and "responses" in value


def read(records: Sequence[Any], where: str) -> pa.Table:
    """Return the ratings of exported records; records without a response give none.

    Raises:
        HearsightError: a record has no item, a response no rater, or a value cannot be read.
    """
    ratings = [rating for number, record in enumerate(records, 1) for rating in _of_record(record, number, where)]
    return normal_table(columns_of(ratings), where, UNIT)


def _of_record(record: Any, number: int, where: str) -> Iterator[tuple[str, str, str, str, str, str, int, str]]:
    if not is_record(record):
        raise damaged(where, UNIT, number, "has no fields and responses", "export records with their responses")
    metadata = record.get("metadata")
    item = (metadata.get("item") if isinstance(metadata, dict) else None) or record.get("id")
    if not isinstance(item, str):
        raise damaged(where, UNIT, number, "has no item", "export the records that `hearsight ratings tasks` wrote")
    responses = record["responses"].get(QUESTION, []) if isinstance(record["responses"], dict) else None
    if not isinstance(responses, list) or not all(isinstance(response, dict) for response in responses):
        raise damaged(where, UNIT, number, f"its responses to {QUESTION} are no list", "export the file again")
    for response in responses:
        value, user, status = (response.get(name) for name in ("value", "user_id", "status"))
        left_out = "" if status in (None, "submitted") else CANCELLED
        yield item, _text(user), _text(value), "", "", NAME, number, left_out


def _text(value: Any) -> str:
    return "" if value is None or isinstance(value, (dict, list)) else str(value)


def write(ratings: pa.Table) -> bytes:
    """Return RATING records as exported records: one for each item, in the order of its first rating; without times."""
    records: dict[str, dict[str, Any]] = {}
    for rating in ratings.select(["item", "rater", "verdict"]).to_pylist():
        item = rating["item"]
        record = records.setdefault(
            item, {"id": item, "fields": {}, "metadata": {"item": item}, "suggestions": {}, "responses": {QUESTION: []}}
        )
        response = {"value": rating["verdict"], "user_id": rating["rater"], "status": "submitted"}
        record["responses"][QUESTION].append(response)
    return orjson.dumps(list(records.values()), option=orjson.OPT_INDENT_2) + b"\n"


def tasks(items: Sequence[Mapping[str, Any]], image: Place, audio: Place) -> bytes:
    """Return RATING_ITEM records as records for ``records.log``; speech is named in the field ``audio``."""
    content = []
    for item in items:
        shown = {"audio": audio(item)} if item["audio_sha256"] else {"text": item["caption"]}
        fields = {"image": image(item), **shown}
        content.append({"id": item["key"], "fields": fields, "metadata": {"item": item["key"], "language": item["language"]}})
    return orjson.dumps(content, option=orjson.OPT_INDENT_2) + b"\n"


def settings(speech: bool, question: str) -> bytes:
    """Return the dataset's settings as ``Settings.to_json`` writes them: fields, the question and its labels, metadata."""
    text = {"type": "text", "use_markdown": False}
    shown = [("image", {"type": "image"}), ("audio" if speech else "text", text)]
    options = [{"value": verdict, "text": verdict, "description": None} for verdict in (GOOD, BAD)]
    asked = {"type": "label_selection", "options": options}
    content = {
        "guidelines": None,
        "fields": [{"name": name, "title": name, "required": True, "settings": kind} for name, kind in shown],
        "questions": [{"name": QUESTION, "title": question, "required": True, "settings": asked}],
        "metadata": [{"name": name, "title": name, "settings": {"type": "terms"}} for name in ("item", "language")],
        "vectors": [],
        "allow_extra_metadata": False,
    }
    return orjson.dumps(content, option=orjson.OPT_INDENT_2) + b"\n"
