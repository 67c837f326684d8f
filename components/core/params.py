"""Typed parameters: ``params.yaml`` read into each stage's own ``Params``, exactly.

A value that is unknown, missing or of another type is an error that names the key and, where one is near,
the key that was meant. There are no defaults in code: what a run used is what ``params.yaml`` says.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from components.core.errors import HearsightError

YAML_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The safe loader in C where PyYAML has one: it reads params.yaml in a tenth of the time."""


class Settings(BaseModel):
    """Base of every stage's ``Params``: frozen, strict about types, closed to unknown keys, and numbers are finite."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)

    def plain(self) -> dict[str, Any]:
        """The settings as plain JSON-able values, for digests and for MLflow."""
        return self.model_dump(mode="json")


def read_params_file(path: Path) -> dict[str, Any]:
    """``params.yaml`` as nested dictionaries.

    Raises:
        HearsightError: the file is missing, is not YAML, or does not hold a mapping.
    """
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), YAML_LOADER)
    except FileNotFoundError:
        raise HearsightError("is missing", where=path, hint="run from the project's root, or restore it with git") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise HearsightError(f"is not YAML: {' '.join(str(error).split())}", where=path, hint="fix that line") from None
    if not isinstance(content, dict):
        raise HearsightError("does not hold a mapping of datasets", where=path, hint="restore it with git")
    return content


def stage_params(path: Path, content: Mapping[str, Any], dataset: str, stage: str, kind: type[Settings]) -> Settings:
    """The parameters of one stage for one dataset.

    Raises:
        HearsightError: the block is missing or does not fit ``kind`` exactly; names the first key at fault.
    """
    for name, scope, what in ((dataset, content, "dataset"), (stage, content.get(dataset) or {}, "stage")):
        if not isinstance(scope, Mapping) or name not in scope:
            names = list(scope) if isinstance(scope, Mapping) else []
            raise HearsightError(f"{what} '{name}' has no parameters", where=path, hint=_did_you_mean(name, names))
    return parse_settings(kind, content[dataset][stage], f"{path}: {dataset}.{stage}")


def parse_settings(kind: type[Settings], block: Any, where: str) -> Settings:
    """``block`` as ``kind``; see :func:`stage_params` for the errors."""
    if not isinstance(block, Mapping):
        raise HearsightError(f"should hold settings, not {block!r}", where=where, hint="write one 'name: value' a line")
    try:
        return kind.model_validate(dict(block))
    except ValidationError as error:
        raise _one_line(error, kind, where) from None


def _one_line(error: ValidationError, kind: type[Settings], where: str) -> HearsightError:
    # An unknown key usually is the missing one misspelt: tell about the unknown first.
    details = sorted(error.errors(), key=lambda item: item["type"] != "extra_forbidden")
    first, more = details[0], len(details) - 1
    key = ".".join(str(part) for part in first["loc"])
    place = f"{where}.{key}"
    rest = f" (and {more} more)" if more else ""
    if first["type"] == "extra_forbidden":
        return HearsightError(
            f"is not a setting{rest}", where=place, hint=_did_you_mean(key.split(".")[-1], _names(kind, first["loc"]))
        )
    if first["type"] == "missing":
        return HearsightError(f"is missing{rest}", where=place, hint=_help(kind, first["loc"]))
    if first["type"] == "finite_number":
        return HearsightError(
            f"should be a finite number, not {first['input']!r}{rest}", where=place, hint=_help(kind, first["loc"])
        )
    return HearsightError(f"{first['msg'].lower()}, not {first['input']!r}{rest}", where=place, hint=_help(kind, first["loc"]))


def _names(kind: type[Settings], loc: tuple[int | str, ...]) -> list[str]:
    for part in loc[:-1]:
        annotation = kind.model_fields[part].annotation if isinstance(part, str) and part in kind.model_fields else None
        if isinstance(annotation, type) and issubclass(annotation, Settings):
            kind = annotation
    return list(kind.model_fields)


def _help(kind: type[Settings], loc: tuple[int | str, ...]) -> str:
    field = kind.model_fields.get(str(loc[0])) if loc else None
    text = (field.description or "").strip().split("\n")[0] if field else ""
    return f"give a value: {text}" if text else "give it a value of that kind"


def _did_you_mean(name: str, names: list[str]) -> str:
    near = difflib.get_close_matches(name, [str(n) for n in names], n=1, cutoff=0.6)
    if near:
        return f"did you mean '{near[0]}'?"
    return f"known are: {', '.join(map(str, names))}" if names else "add the block to params.yaml"
