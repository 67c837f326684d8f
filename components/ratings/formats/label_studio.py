"""Label Studio: tasks with annotations as it exports them (JSON and JSON-MIN), and tasks with a configuration to import.

A task's ``data`` has the item's key as ``item``. An annotation has one result of type ``choices`` named ``verdict``. Its rater is
``completed_by``: a number, or an object with an address of e-mail. Skipped annotations have ``was_cancelled``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

import orjson
import pyarrow as pa

from components.ratings.formats.readings import BAD, CANCELLED, GOOD, UNANSWERED, columns_of, damaged, normal_table

NAME = "label_studio"
UNIT = "task"
CONTROL = "verdict"
"""The name of the choices in the configuration, and of their key in JSON-MIN."""
QUESTION = "Does the caption describe the image?"
Place = Callable[[Mapping[str, Any]], str]
"""RATING_ITEM record → where the labelling tool finds its image or speech."""


def is_record(value: Any) -> bool:
    """Return whether a JSON value is a task: with annotations, or flat with an annotator (JSON-MIN)."""
    return isinstance(value, dict) and ("annotations" in value or "annotator" in value)


def read(tasks: Sequence[Any], where: str) -> pa.Table:
    """Return the ratings of exported tasks.

    Raises:
        HearsightError: a task has no item, an annotation no rater, or a value cannot be read.
    """
    ratings = [rating for number, task in enumerate(tasks, 1) for rating in _of_task(task, number, where)]
    return normal_table(columns_of(ratings), where, UNIT)


def _of_task(task: Any, number: int, where: str) -> Iterator[tuple[str, str, str, str, str, str, int, str]]:
    if not is_record(task):
        raise damaged(where, UNIT, number, "has no annotations", "export tasks with their annotations")
    flat = "annotations" not in task
    data = task if flat else task.get("data")
    item = data.get("item") if isinstance(data, dict) else None
    if not isinstance(item, str):
        raise damaged(where, UNIT, number, "has no item", "export the tasks that `hearsight ratings tasks` wrote: data.item")
    annotations = [task] if flat else task["annotations"]
    if not isinstance(annotations, list):
        raise damaged(where, UNIT, number, "its annotations are no list", "export the file again")
    for annotation in annotations:
        if not isinstance(annotation, dict):
            raise damaged(where, UNIT, number, "an annotation is no object", "export the file again")
        answer = _choice(annotation.get(CONTROL)) if flat else _answer(annotation.get("result"))
        left_out = CANCELLED if annotation.get("was_cancelled") is True else "" if answer else UNANSWERED
        rater = _rater(annotation.get("annotator" if flat else "completed_by"))
        time, seconds = (annotation.get(name) for name in ("created_at", "lead_time"))
        yield item, rater, answer, _text(time), _text(seconds), NAME, number, left_out


def _answer(result: Any) -> str:
    """Return the choice of an annotation: that of the control ``verdict``, or of the only choices."""
    regions = [region for region in result if isinstance(region, dict)] if isinstance(result, list) else []
    choices = [region for region in regions if region.get("type") == "choices"]
    named = [region for region in choices if region.get("from_name") == CONTROL] or choices
    return _choice(named[0].get("value")) if named else ""


def _choice(value: Any) -> str:
    if isinstance(value, dict):
        value = value.get("choices")
    if isinstance(value, list):
        value = value[0] if len(value) == 1 else ""
    return _text(value)


def _rater(value: Any) -> str:
    """Return the rater of an annotation; of an object its e-mail, name or number."""
    if isinstance(value, dict):
        names = " ".join(filter(None, (_text(value.get(name)) for name in ("first_name", "last_name"))))
        return _text(value.get("email")) or names or _text(value.get("id"))
    return _text(value)


def _text(value: Any) -> str:
    return "" if value is None or isinstance(value, (dict, list)) else str(value)


def tasks(items: Sequence[Mapping[str, Any]], image: Place, audio: Place) -> bytes:
    """Return RATING_ITEM records as tasks to import: image, caption or speech, and key; nothing of sources and ranks."""
    content = []
    for item in items:
        data = {"item": item["key"], "image": image(item), "language": item["language"]}
        data |= {"audio": audio(item)} if item["audio_sha256"] else {"text": item["caption"]}
        content.append({"data": data})
    return orjson.dumps(content, option=orjson.OPT_INDENT_2) + b"\n"


def configuration(speech: bool, question: str = QUESTION) -> str:
    """Return the labeling configuration of tasks with a text, or with speech."""
    shown = '<Audio name="audio" value="$audio"/>' if speech else '<Text name="text" value="$text"/>'
    choices = "".join(f'<Choice value="{verdict}" hotkey="{key}"/>' for verdict, key in ((GOOD, "1"), (BAD, "2")))
    return (
        f'<View>\n  <Image name="image" value="$image"/>\n  {shown}\n  <Header value={quoteattr(question)}/>\n'
        f'  <Choices name="{CONTROL}" toName="image" choice="single" required="true">{choices}</Choices>\n</View>\n'
    )
