"""The test sets and the models: which input is which, and what a test item is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.core.addresses import PREPARED_FILE, parse_output_name, stage_address
from components.core.errors import HearsightError

if TYPE_CHECKING:
    from components.core.stage_output import StageOutput
    from components.execution.stage import Stage

COLUMNS = ["key", "split", "group", "language", "caption", "words", "labels", "image_sha256", "media", "thumbnail"]


@dataclass(frozen=True)
class Item:
    """A picture of a test split."""

    key: str
    """Of its first record."""
    picture: str
    """sha256."""
    media: str
    thumbnail: str
    language: str
    references: Sequence[str]
    """The different captions of its group."""
    words: Sequence[Sequence[str]]
    """Their tokens."""
    labels: Sequence[str]
    """What is seen in it."""


@dataclass(frozen=True)
class EvaluationSet:
    """A test split."""

    name: str
    """The dataset."""
    input: str
    """What the stage calls it."""
    digest: str
    items: Sequence[Item]
    about: dict[str, Any]
    """``prepared.json``; empty where there is none."""

    @property
    def language(self) -> str:
        """Of most of its items."""
        languages = [item.language for item in self.items]
        return max(sorted(set(languages)), key=languages.count)

    @property
    def references(self) -> int:
        """How many different ones there are in all, item by item."""
        return sum(len(item.references) for item in self.items)


@dataclass(frozen=True)
class Model:
    """A trained captioner: one seed of a cell."""

    cell: str
    """What the stage calls its output."""
    training: str
    """The set it learned from."""
    network: str
    seed: int
    key: str
    """In its output."""
    folder: str
    """In its output, holding ``weights.safetensors`` and ``config.json``."""
    digests: dict[str, str]
    """Of those two files."""
    phase: str = ""
    """Of training, that its weights are of; empty where its configuration does not tell."""

    @property
    def name(self) -> str:
        """``<training set>-<network>-<seed>``."""
        return f"{self.training}-{self.key}"


def open_inputs(stage: Stage) -> tuple[list[EvaluationSet], list[Model]]:
    """The test sets and the models, each in the order of the chain.

    Raises:
        HearsightError: there is no test set or no model, a set has no test item or comes twice, or a cell no model of its own.
    """
    sets: list[EvaluationSet] = []
    models: list[Model] = []
    for name, output in stage.inputs.items():
        if output.manifest.record == "PREPARED":
            found = read_set(name, output)
            if found.name in {other.name for other in sets}:
                raise HearsightError(
                    f"is a test set of two inputs, '{name}' is the second",
                    where=f"params.yaml: chain.compare.{stage.dataset}: {found.name}",
                    hint="leave one out",
                )
            sets.append(found)
        elif output.manifest.record == "MODEL":
            models += read_models(name, output)
        else:
            raise HearsightError(
                f"holds {output.manifest.record} records: a test set has PREPARED ones, a cell MODEL ones",
                where=output.path,
                hint=f"fix params.yaml: chain.compare.{stage.dataset}.{name}",
            )
    for what, got in (("test set", sets), ("captioner", models)):
        if not got:
            raise HearsightError(
                f"names no {what}", where=f"params.yaml: chain.compare.{stage.dataset}", hint="add one (docs/captioners.md)"
            )
    return sets, models


def read_set(name: str, output: StageOutput) -> EvaluationSet:
    """The test items of a prepared set, in order of their first records' keys.

    Raises:
        HearsightError: it has none.
    """
    rows = rows_of(output, "test")
    dataset, _ = parse_output_name(output.name)
    if not rows:
        raise HearsightError("has no record in its test split", where=output.path, hint="raise split.test, or import more")
    known: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        known.setdefault(row["group"], {}).setdefault(row["caption"], row["words"])
    first: dict[str, dict[str, Any]] = {}
    for row in rows:
        first.setdefault(row["image_sha256"], row)
    items = [
        Item(
            row["key"],
            picture,
            row["media"],
            row["thumbnail"],
            row["language"],
            list(known[row["group"]]),
            list(known[row["group"]].values()),
            row["labels"],
        )
        for picture, row in first.items()
    ]
    return EvaluationSet(dataset, name, output.digest, items, read_about(output))


def rows_of(output: StageOutput, split: str) -> list[dict[str, Any]]:
    """The records of a split, in key order."""
    import pyarrow.compute as pc

    table = output.table(COLUMNS)
    return sorted(table.filter(pc.equal(table["split"], split)).to_pylist(), key=lambda row: str(row["key"]))


def read_about(output: StageOutput) -> dict[str, Any]:
    """What a prepared set says of itself; empty where it says nothing."""
    if all(entry.path != PREPARED_FILE for entry in output.manifest.files):
        return {}
    found: dict[str, Any] = json.loads(output.file(PREPARED_FILE).read_text(encoding="utf-8"))
    return found


def read_models(name: str, output: StageOutput) -> list[Model]:
    """The models of a cell, by seed.

    Raises:
        HearsightError: there are none, or one is of another network than the cell.
    """
    dataset, stage = parse_output_name(output.name)
    cell, again = dataset.rpartition("/")[2], f"run `dvc repro -f -s {stage_address(dataset, stage)}`"
    rows = sorted(output.table(["key", "kind", "seed", "weights"]).to_pylist(), key=lambda row: (row["seed"], row["key"]))
    if not rows:
        raise HearsightError("holds no trained captioner", where=output.path, hint=again)
    digests = {entry.path: entry.sha256 for entry in output.manifest.files}
    models = []
    for row in rows:
        network, (folder, _, weights) = row["key"].rpartition("-")[0], row["weights"].rpartition("/")
        config = f"{folder}/config.json"
        if not network or not cell.endswith(f"-{network}") or row["kind"] != "captioner":
            raise HearsightError(f"holds '{row['key']}', which is no captioner of the cell {cell}", where=output.path, hint=again)
        if row["weights"] not in digests or config not in digests:
            missing = row["weights"] if row["weights"] not in digests else config
            raise HearsightError(f"holds no file '{missing}'", where=output.path, hint=again)
        files = {weights: digests[row["weights"]], "config.json": digests[config]}
        phase = _phase(output.file(config))
        models.append(Model(name, cell[: -len(network) - 1], network, row["seed"], row["key"], folder, files, phase))
    return models


def _phase(config: Path) -> str:
    try:
        told = json.loads(config.read_bytes())
        return str(told.get("best_phase", "")) if isinstance(told, dict) else ""
    except ValueError:
        return ""  # whoever reads the model says what is wrong with it
