"""Prompts: files with a version, and the forms of their answers.

A file has a first line ``version: N``, the instructions, a line ``---``, and what is asked, with fields in braces. Fields are
data of other people (an alt-text, a page): they stand in quotes, and the instructions say that they give no orders. Answers are
JSON of the form's schema; whatever they say, our own checks decide what is used.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from string import Formatter
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError

_VERSION = re.compile(r"version: (\d+)\n")


class Form(BaseModel):
    """The form of an answer."""

    model_config = ConfigDict(extra="ignore")


class Proposal(Form):
    """What a vision model says of an image."""

    description: str = Field(max_length=2000)
    sure: bool


class Rewriting(Form):
    """An alt-text as a caption without names; empty where nothing can be kept."""

    caption: str = Field(max_length=2000)


class Verdict(Form):
    """A judgement of a pair."""

    verdict: Literal["GOOD", "BAD"]


FORMS: dict[str, type[Form]] = {"describe": Proposal, "rewrite": Rewriting, "judge": Verdict}
"""Prompt → the form of its answers."""
FIELDS = {"describe": {"language"}, "rewrite": {"text"}, "judge": {"caption"}}
"""Prompt → the fields that its question may have."""


@dataclass(frozen=True)
class Prompt:
    """A prompt."""

    name: str
    version: int
    instructions: str
    question: str
    digest: str
    """sha256 of its file."""

    @property
    def form(self) -> type[Form]:
        """The form of its answers."""
        return FORMS[self.name]

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of its answers."""
        schema = self.form.model_json_schema()
        return {name: schema[name] for name in ("type", "properties", "required")} | {"additionalProperties": False}

    def ask(self, fields: dict[str, str]) -> str:
        """Return what is asked; the values of fields are quoted as JSON."""
        return self.question.format(**{name: json.dumps(value, ensure_ascii=False) for name, value in fields.items()})


def load_prompt(name: str, folder: Path | None = None) -> Prompt:
    """Return a prompt of :data:`FORMS`.

    Args:
        folder: with files of one's own; prompts that it lacks are ours.

    Raises:
        HearsightError: the file is no prompt.
    """
    own = folder / f"{name}.txt" if folder is not None else None
    packaged = resources.files("components.model_server") / "data" / f"{name}.txt"
    data = own.read_bytes() if own is not None and own.is_file() else packaged.read_bytes()
    where = str(own or name)
    hint = "begin with `version: 1`, then the instructions, a line ---, and the question (docs/providers.md)"
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise HearsightError("is not UTF-8", where=where, hint=hint) from None
    version, (instructions, line, question) = _VERSION.match(text), text.partition("\n---\n")
    if version is None or not line:
        raise HearsightError("is no prompt", where=where, hint=hint)
    try:
        named = {name for _, name, _, _ in Formatter().parse(question) if name is not None}
    except ValueError:
        named = {"{"}
    if unknown := named - FIELDS[name]:
        hint = f"its fields are {', '.join(sorted(FIELDS[name]))}; write {{{{ for a brace that is no field"
        raise HearsightError(f"asks for an unknown field {{{min(unknown)}}}", where=where, hint=hint)
    return Prompt(name, int(version[1]), instructions[version.end() :].strip(), question.strip(), sha256_bytes(data))


def read_form(content: str, form: type[Form]) -> Form:
    """Return the last JSON object of an answer that has the form; raise ValueError (one line) without one."""
    decoder, why, found = json.JSONDecoder(), "no JSON", None
    at = content.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(content, at)
            found = form.model_validate(value)
        except ValidationError as error:
            first = error.errors()[0]
            why = f"{'.'.join(map(str, first['loc']))}: {first['msg']}".lower()
        except (ValueError, RecursionError):
            end = at + 1
        at = content.find("{", end)
    if found is None:
        raise ValueError(why)
    return found
