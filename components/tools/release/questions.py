"""Answer the questions of a sheet from measured values and the publishers' statements: a datasheet, a summary, RAI metadata.

A sheet is a file ``data/<name>.yaml``. Of a question, ``stated`` names the publishers' field whose text comes first, and
``answer`` is a Jinja template of measured values, a paragraph a line. Where that is empty, the field ``otherwise`` stands for it.
A question without any of them is answered ``missing``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import Field, create_model

from components.core.graph import load_graph
from components.core.params import Settings, parse_settings, read_params_file, read_yaml
from components.reporting.pages import render, render_text

DATA = Path(__file__).parent / "data"
Table = Sequence[Sequence[str]]


class Answer(NamedTuple):
    """The paragraphs below a question, then a table whose first row is the head."""

    question: str
    paragraphs: list[str]
    table: Table = ()


class Sheet(NamedTuple):
    """The text of a sheet."""

    questions: dict[str, dict[str, str]]
    """Number → question, stated, answer, otherwise."""
    title: str = ""
    intro: str = ""
    missing: str = ""
    sections: Mapping[str, str] = {}
    """Number of a section → its heading."""
    words: Mapping[str, Any] = {}
    """Words that the values of the sheet are made with."""

    @classmethod
    def read(cls, name: str) -> Sheet:
        """Return a sheet of the folder ``data``."""
        return cls(**read_yaml(DATA / f"{name}.yaml"))

    @property
    def fields(self) -> dict[str, str]:
        """The publishers' fields with the questions that they answer; last those that stand for what was not measured."""
        entries = self.questions.values()
        return {entry[kind]: entry["question"] for kind in ("stated", "otherwise") for entry in entries if kind in entry}

    def answers(self, values: Mapping[str, Any], publisher: Mapping[str, str], tables: Mapping[str, Table]) -> dict[str, Answer]:
        """Return every question's answer, in order."""
        answers: dict[str, Answer] = {}
        for number, entry in self.questions.items():
            texts = [text.strip() for text in render_text(entry.get("answer", ""), values).split("\n") if text.strip()]
            table = tables.get(number, ())
            if "stated" in entry:
                texts.insert(0, publisher[entry["stated"]] or self.missing)
            elif not (texts or table):
                texts = [publisher.get(entry.get("otherwise", "")) or self.missing]
            answers[number] = Answer(entry.get("question", number), texts, table)
        return answers

    def texts(self, name: str, dataset: str, answers: Mapping[str, Answer]) -> dict[str, str]:
        """Return the answers as Markdown and as a page, by file."""
        values: dict[str, Any] = {"sheet": self, "title": self.title.format(dataset), "answers": answers}
        return {f"{name}.{suffix}": render(DATA, f"sheet.{suffix}", **values) for suffix in ("md", "html")}

    def write(self, path: Path, dataset: str, answers: Mapping[str, Answer]) -> list[str]:
        """Write the texts beside each other; return the publishers' fields whose questions have no answer."""
        for name, text in self.texts(path.name, dataset, answers).items():
            path.with_name(name).write_text(text, encoding="utf-8")
        fields = {number: entry.get("stated") or entry.get("otherwise") for number, entry in self.questions.items()}
        return [name for number, name in fields.items() if name and answers[number].paragraphs[:1] == [self.missing]]


def share(part: float, whole: float) -> str:
    """Return a share in per cent, or 'none' where the whole is 0."""
    return f"{part / whole:.1%}" if whole else "none"


DATASHEET, SUMMARY, RAI = (Sheet.read(name) for name in ("datasheet", "summary", "rai"))
METADATA: dict[str, dict[str, Any]] = read_yaml(DATA / "metadata.yaml")
"""Statements that only metadata have: their meaning and, where Croissant 1.1 requires one, their form."""
_FIELDS: dict[str, Any] = {
    **{name: (str, Field("", description=text)) for sheet in (DATASHEET, SUMMARY, RAI) for name, text in sheet.fields.items()},
    **{name: (str, Field("", **about)) for name, about in METADATA.items()},
}
Publisher = create_model("Publisher", __base__=Settings, **_FIELDS)
"""The publishers' answers, ``params.yaml:release.<dataset>``; an empty one is reported as missing."""


def read_publisher(root: Path, dataset: str, licence: str) -> dict[str, str]:
    """Return the publishers' answers by field, each on one line; a ``licence`` takes precedence.

    Raises:
        HearsightError: the block is not valid; names the key.
    """
    path = root / "params.yaml"
    known: dict[str, Any] = {name: (Publisher, Publisher()) for name in (*load_graph(root).datasets, dataset)}
    release = create_model("Release", __base__=Settings, **known)
    answers = parse_settings(release, read_params_file(path).get("release") or {}, f"{path}: release").plain()[dataset]
    lines = {name: " ".join(text.split()) for name, text in answers.items()}
    return lines | ({"licence": given} if (given := " ".join(licence.split())) else {})
