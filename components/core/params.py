"""Settings of stages: blocks of ``datasets/<dataset>.yaml``, validated by the ``Params`` class of each stage.

An unknown key or a value of the wrong type raises an error that names the key and, if one is similar, the intended key.
Every setting has a default in its class: the published value where there is one, with its section in the field's docstring,
otherwise a value chosen by this project, marked ``Ours.``. A dataset's file holds only the settings that it changes;
:meth:`Settings.plain` returns the effective values. ``params.yaml`` has the chain and what no dataset has of its own, and
``datasets/chain.yaml`` the chain of the user's own datasets.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, get_args, get_origin

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from components.core.errors import HearsightError

FOLDER = "datasets"
"""In the project's root: a file of settings for each dataset."""
OWN_CHAIN = f"{FOLDER}/chain.yaml"
"""The stages of the user's own datasets, and their inputs."""


class _SafeLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # in C where PyYAML has it: a tenth of the time
    """Reads scalars as DVC does (YAML 1.2): ``no`` is text, ``1e-05`` a number, and a date is text."""


_SafeLoader.yaml_implicit_resolvers = {}
for _tag, _first, _pattern in (
    ("bool", "tTfF", "true|True|TRUE|false|False|FALSE"),
    ("null", "~nN", "~|null|Null|NULL|"),
    ("int", "-+0123456789", "[-+]?(?:0|[1-9][0-9]*)"),
    ("float", "-+.0123456789", r"[-+]?(?:(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+|\.inf)|\.nan"),
    ("merge", "<", "<<"),
):
    _SafeLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), [*_first, ""])
YAML_LOADER: Any = _SafeLoader

Positive = Annotated[int, Field(ge=1)]
NotNegative = Annotated[int, Field(ge=0)]
Amount = Annotated[float, Field(ge=0)]
PositiveAmount = Annotated[float, Field(gt=0)]
S = TypeVar("S", bound="Settings")


class Settings(BaseModel):
    """Base class of every stage's ``Params``: frozen; strict types; rejects unknown keys and non-finite numbers."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)

    @classmethod
    def of(cls, block: Mapping[str, Any]) -> type[Settings]:
        """Return the class that reads ``block``: this one, unless a setting in it selects one of several subclasses."""
        return cls

    def check(self, where: str) -> None:
        """Raise HearsightError for the first value that fits its type and still cannot be used.

        Called by :func:`check_settings` when a block is read. Loads no model and uses no network.

        Args:
            where: the block, for the message.
        """

    def plain(self) -> dict[str, Any]:
        """Return the effective settings, including defaults, as JSON-serialisable values, for digests and for MLflow."""
        return self.model_dump(mode="json")


def read_params_file(path: Path) -> dict[str, Any]:
    """Return the settings of a project: ``params.yaml``, with a block for each file of ``datasets`` and the user's own chain.

    Args:
        path: of ``params.yaml``.

    Raises:
        HearsightError: a file is missing, is not YAML, or does not hold a mapping; or two files set one name.
    """
    content = read_yaml(path)
    for file in sorted((path.parent / FOLDER).glob("*.yaml")):
        if file.name == Path(OWN_CHAIN).name:
            _add_chain(content, read_yaml(file), file)
        elif file.stem in content:
            raise HearsightError(f"'{file.stem}' is in {path.name} too", where=file, hint="keep one of the two")
        else:
            content[file.stem] = read_yaml(file)
    return content


def _add_chain(content: dict[str, Any], own: Mapping[str, Any], file: Path) -> None:
    chain = content.setdefault("chain", {})
    if others := [name for name in own if name != "chain"]:
        raise HearsightError("is not the chain", where=f"{file}: {others[0]}", hint="settings are in a file of the dataset")
    for stage, takers in (own.get("chain") or {}).items():
        if twice := set(chain.get(stage) or {}) & set(takers or {}):
            what = f"chain.{stage}.{min(twice)} is in params.yaml too"
            raise HearsightError(what, where=file, hint="give your dataset another name")
        chain[stage] = (chain.get(stage) or {}) | (takers or {})


def read_yaml(path: Path) -> dict[str, Any]:
    """Return a YAML file as nested dictionaries.

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
        raise HearsightError("does not hold a mapping", where=path, hint="write 'name: value' lines, or restore it with git")
    return content


def project_settings(kind: type[S], root: Path, name: str) -> S:
    """Return the block ``name`` of ``params.yaml``, which no dataset has of its own, defaults included; raises as
    :func:`stage_params`."""
    path = root / "params.yaml"
    settings = parse_settings(kind, read_yaml(path).get(name, {}), f"{path}: {name}")
    assert isinstance(settings, kind)
    return settings


def dataset_file(root: Path, dataset: str) -> Path:
    """Return the file of a dataset's settings: ``datasets/<dataset>.yaml``."""
    return root / FOLDER / f"{dataset}.yaml"


def place(root: Path | str, dataset: str, *names: str) -> str:
    """Return where a setting of a dataset is written, for messages: ``datasets/english.yaml: filter.min_words``."""
    file = dataset_file(Path(root), dataset)
    if file.is_file():
        return f"{file}: {'.'.join(names)}" if names else str(file)
    return f"{Path(root) / 'params.yaml'}: {'.'.join((dataset, *names))}"


def stage_params(path: Path, content: Mapping[str, Any], dataset: str, stage: str, kind: type[Settings]) -> Settings:
    """Return the parameters of one stage for one dataset; a stage without a block gets the defaults.

    Raises:
        HearsightError: the dataset is missing, or the block does not fit ``kind`` exactly; names the first key at fault.
    """
    if dataset not in content:
        raise HearsightError(f"dataset '{dataset}' has no parameters", where=path, hint=did_you_mean(dataset, list(content)))
    blocks = {} if content[dataset] is None else content[dataset]
    if not isinstance(blocks, Mapping):
        raise HearsightError(
            f"should hold stages, not {blocks!r}", where=place(path.parent, dataset), hint="write one stage a line"
        )
    return parse_settings(kind, blocks.get(stage, {}), place(path.parent, dataset, stage))


def parse_settings(kind: type[Settings], block: Any, where: str) -> Settings:
    """Return ``block`` validated as the settings class ``kind``; raises as :func:`stage_params`."""
    if not isinstance(block, Mapping):
        raise HearsightError(f"should hold settings, not {block!r}", where=where, hint="write one 'name: value' a line")
    kind = kind.of(block)
    try:
        settings = kind.model_validate(dict(block))
    except ValidationError as error:
        raise _one_line(error, kind, where) from None
    check_settings(settings, where)
    return settings


def check_settings(settings: Settings, where: str) -> None:
    """Raise HearsightError for the first value that fails a :meth:`Settings.check`, nested settings first."""
    for name in type(settings).model_fields:
        if isinstance(value := getattr(settings, name), Settings):
            check_settings(value, f"{where}.{name}")
    settings.check(where)


def classes_of(annotation: Any) -> list[type[Settings]]:
    """The settings classes that a field's annotation allows: one, those of a union, or none."""
    if isinstance(annotation, type) and issubclass(annotation, Settings):
        return [annotation]
    return [found for part in get_args(annotation) for found in classes_of(part)]


def tags_of(kind: type[Settings]) -> dict[str, str]:
    """The settings that tell a class from the others of its union, with their only values (``{"kind": "site"}``)."""
    fields = kind.model_fields.items()
    only = {name: get_args(field.annotation) for name, field in fields if get_origin(field.annotation) is Literal}
    return {name: values[0] for name, values in only.items() if len(values) == 1}


class _Place(NamedTuple):
    """The place of an error as keys of the file; pydantic's own path also has the union's tag (``source.site.depth``)."""

    keys: list[str]
    holders: list[type[Settings]]
    """Classes of the block that the last key is in."""
    others: list[type[Settings]]
    """Classes of the same union that the block is not."""
    inside: list[type[Settings]]
    """Classes of the last key's own value."""


def _place(kind: type[Settings], loc: Iterable[int | str]) -> _Place:
    parents = [base for base in kind.__mro__[1:] if base is not Settings and issubclass(base, Settings)]
    place = _Place([], [kind], [], [kind])
    inside, others = [kind], [one for parent in parents for one in parent.__subclasses__() if one is not kind]
    for part in map(str, loc):
        if len(inside) > 1 and (tagged := [one for one in inside if part in tags_of(one).values()]):
            others, inside = [*others, *(one for one in inside if one not in tagged)], tagged
        else:
            fields = [one.model_fields[part] for one in inside if part in one.model_fields]
            found = list(dict.fromkeys(each for field in fields for each in classes_of(field.annotation)))
            place, inside, others = _Place([*place.keys, part], inside, others, found), found, []
    return place._replace(inside=inside)


_RANGES = {
    "greater_than_equal": ("is too small", "give {ge} or more"),
    "greater_than": ("is too small", "give more than {gt}"),
    "less_than_equal": ("is too large", "give {le} or less"),
    "less_than": ("is too large", "give less than {lt}"),
}
"""pydantic's kinds of errors about a number's range → what is wrong, and how to correct it."""


def _one_line(error: ValidationError, kind: type[Settings], where: str) -> HearsightError:
    # A setting that selects the class decides which keys are valid; an unknown key is usually a misspelt one.
    selecting = {name for variant in kind.__subclasses__() for name in tags_of(variant)}
    details = sorted(error.errors(), key=lambda item: (item["loc"][0] not in selecting, item["type"] != "extra_forbidden"))
    first, more = details[0], len(details) - 1
    at = _place(kind, first["loc"])
    place, rest = ".".join([where, *at.keys]), f" (and {more} more)" if more else ""
    if first["type"].startswith("union_tag"):
        name = str(first["ctx"]["discriminator"]).strip("'")
        known = list(dict.fromkeys(tags_of(one)[name] for one in at.inside if name in tags_of(one)))
        if first["type"] == "union_tag_not_found":
            return HearsightError(f"is missing{rest}", where=f"{place}.{name}", hint=f"give one of: {', '.join(known)}")
        value = str(first["ctx"]["tag"])
        return HearsightError(f"'{value}' is not known{rest}", where=f"{place}.{name}", hint=did_you_mean(value, known))
    if first["type"] == "extra_forbidden":
        name = at.keys[-1]
        if owners := [_tagged(one) for one in at.others if name in one.model_fields]:
            what = f"is not a setting of {_tagged(at.holders[0])}{rest}"
            return HearsightError(what, where=place, hint=f"remove it; it belongs to {' or '.join(owners)}")
        below = [
            field
            for one in at.holders
            for field, about in one.model_fields.items()
            for each in classes_of(about.annotation)
            if name in each.model_fields
        ]
        hint = f"did you mean '{below[0]}.{name}'?" if below else did_you_mean(name, _names(at.holders))
        return HearsightError(f"is not a setting{rest}", where=place, hint=hint)
    if first["type"] == "missing":
        return HearsightError(f"is missing{rest}", where=place, hint=_help(at))
    if first["type"] == "finite_number":
        return HearsightError(f"should be a finite number, not {first['input']!r}{rest}", where=place, hint=_help(at))
    if first["type"] in _RANGES:
        what, advice = _RANGES[first["type"]]
        return HearsightError(f"{first['input']} {what}{rest}", where=place, hint=advice.format(**first["ctx"]))
    return HearsightError(f"{first['msg'].lower()}, not {first['input']!r}{rest}", where=place, hint=_help(at))


def _tagged(kind: type[Settings]) -> str:
    return ", ".join(f"{name}: {value}" for name, value in tags_of(kind).items()) or kind.__name__


def _names(kinds: Iterable[type[Settings]]) -> list[str]:
    return list(dict.fromkeys(name for kind in kinds for name in kind.model_fields))


def _help(at: _Place) -> str:
    fields = [kind.model_fields[at.keys[-1]] for kind in at.holders if at.keys and at.keys[-1] in kind.model_fields]
    text = (fields[0].description or "").strip().split("\n")[0] if fields else ""
    return f"give a value: {text}" if text else "set a value of the expected type"


def dotted(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (name, value) of nested settings, with dots between the keys."""
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from dotted(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def did_you_mean(name: str, names: Iterable[str], otherwise: str = "") -> str:
    """Return the hint for an unknown name: the nearest of ``names``, or if none is similar, ``otherwise`` or all of them."""
    names = [str(known) for known in names]
    if near := difflib.get_close_matches(name, names, n=1, cutoff=0.6):
        return f"did you mean '{near[0]}'?"
    if otherwise:
        return otherwise
    return f"known names: {', '.join(names)}" if names else "add the dataset"
