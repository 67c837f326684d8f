"""Test sets and trained captioners, read from the stage's inputs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from components.core.addresses import PREPARED_FILE, parse_output_name, stage_address
from components.core.errors import HearsightError
from components.models.vocabulary import SPECIAL

if TYPE_CHECKING:
    from components.core.stage_output import StageOutput
    from components.execution.stage import Stage

COLUMNS = ["key", "split", "group", "language", "caption", "words", "labels", "image_sha256", "media", "thumbnail"]


@dataclass(frozen=True)
class Item:
    """An image of a test split, with its references."""

    key: str
    """Key of its first record."""
    image: str
    """Its sha256."""
    media: str
    thumbnail: str
    language: str
    references: Sequence[str]
    """The distinct captions of its near-duplicate group."""
    words: Sequence[Sequence[str]]
    """Tokens of each reference."""
    labels: Sequence[str]


@dataclass(frozen=True)
class EvaluationSet:
    """A split of a prepared set."""

    name: str
    """Name of the dataset."""
    input: str
    """Name of the stage's input."""
    digest: str
    items: Sequence[Item]
    settings: dict[str, Any]
    """Content of ``prepared.json``; empty without one."""
    split: str = "test"

    @property
    def language(self) -> str:
        """The language of most items."""
        languages = [item.language for item in self.items]
        return max(sorted(set(languages)), key=languages.count)

    @property
    def references(self) -> int:
        """The number of references, summed over items."""
        return sum(len(item.references) for item in self.items)


@dataclass(frozen=True)
class Model:
    """What writes captions: a trained captioner (one seed of a cell) or an ensemble of them, also with consensus reranking."""

    training: str
    """Name of its training set."""
    network: str
    """Name of its row: the network's, with what is not plain decoding of one seed."""
    seed: int
    """Of an ensemble, the first."""
    files: Sequence[dict[str, Any]]
    """Of each seed: ``cell``, the name of the stage's input; ``folder`` in it; ``digests``, file name → sha256."""
    vocabulary: str
    """Digest of its vocabulary; this and the following are those of its configuration, if it has them."""
    words: int = 0
    """Number of words that it knows."""
    min_count: int = 0
    """How often a word occurs at least in the training captions."""
    phase: str = ""
    """Training phase of its weights."""
    reranked: bool = False
    """Whether the consensus chooses among its hypotheses."""

    @property
    def name(self) -> str:
        """``<training set>-<network>-<seed>``, of an ensemble without the seed."""
        return f"{self.training}-{self.network}" + (f"-{self.seed}" if len(self.files) == 1 else "")

    @property
    def trained(self) -> bool:
        """Whether it is a trained captioner, decoded plainly."""
        return len(self.files) == 1 and not self.reranked


def open_inputs(stage: Stage) -> tuple[list[EvaluationSet], list[Model]]:
    """Return the test sets and the models, each in the order of the chain.

    A training set without a test split is no test set, as COCO's with the hold-out of CC §5.1.

    Raises:
        HearsightError: there is no test set or model, a set is empty or given twice, or a cell has no model of its own.
    """
    sets: list[EvaluationSet] = []
    models: list[Model] = []
    untested: list[StageOutput] = []
    for name, output in stage.inputs.items():
        if output.manifest.record == "FEATURES" and "test" not in output.table(["split"])["split"].unique().to_pylist():
            untested.append(output)
        elif output.manifest.record == "FEATURES":
            test_set = read_set(name, output)
            if test_set.name in {other.name for other in sets}:
                raise HearsightError(
                    f"is the test set of two inputs, the second is '{name}'",
                    where=f"chain.evaluate_captioners.{stage.dataset}: {test_set.name}",
                    hint="remove one",
                )
            sets.append(test_set)
        elif output.manifest.record == "MODEL":
            models += read_models(name, output)
        else:
            raise HearsightError(
                f"holds {output.manifest.record} records; a test set needs FEATURES records, a cell MODEL records",
                where=output.path,
                hint=f"fix chain.evaluate_captioners.{stage.dataset}.{name}",
            )
    trainings = {model.training for model in models}
    for output in untested:
        if not sets or parse_output_name(output.name)[0] not in trainings:
            raise _empty_error(output)
    for missing, given in (("test set", sets), ("captioner", models)):
        if not given:
            raise HearsightError(
                f"names no {missing}",
                where=f"chain.evaluate_captioners.{stage.dataset}",
                hint="add one (docs/captioners.md)",
            )
    return sets, models


def add_rows(models: Sequence[Model], *, ensemble: bool, reranked: bool) -> list[Model]:
    """Return the models with the ensemble of each cell's seeds, and all of these with consensus reranking, a row after another.

    Raises:
        HearsightError: the seeds of a cell have different vocabularies.
    """
    cells: dict[tuple[str, str], list[Model]] = {}
    for model in models:
        cells.setdefault((model.training, model.network), []).append(model)
    rows = []
    for seeds in cells.values():
        rows.append(seeds)
        if ensemble and len(seeds) > 1:
            if len({model.vocabulary for model in seeds}) > 1:
                raise HearsightError(
                    f"{' and '.join(model.name for model in seeds)} have different vocabularies, so they cannot be an ensemble",
                    where=f"evaluate_captioners.ensemble: {seeds[0].training}-{seeds[0].network}",
                    hint="train all seeds on the same set, or set ensemble: false",
                )
            files = [file for model in seeds for file in model.files]
            rows.append([replace(seeds[0], network=f"{seeds[0].network} x {len(seeds)} seeds", files=files)])
    if reranked:
        rows = [
            row
            for plain in rows
            for row in (plain, [replace(model, network=f"{model.network}, consensus", reranked=True) for model in plain])
        ]
    return [model for row in rows for model in row]


def read_set(name: str, output: StageOutput, split: str = "test") -> EvaluationSet:
    """Return the items of a split of a prepared set, in order of their first records' keys.

    Raises:
        HearsightError: the split has no item.
    """
    rows = read_rows(output, split)
    dataset, _ = parse_output_name(output.name)
    if not rows:
        raise _empty_error(output, split)
    references: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        references.setdefault(row["group"], {}).setdefault(row["caption"], row["words"])
    first = {row["image_sha256"]: row for row in reversed(rows)}
    items = []
    for image in dict.fromkeys(row["image_sha256"] for row in rows):
        row, texts = first[image], references[first[image]["group"]]
        files = {name: row[name] for name in ("key", "media", "thumbnail", "language", "labels")}
        items.append(Item(image=image, references=list(texts), words=list(texts.values()), **files))
    return EvaluationSet(dataset, name, output.digest, items, read_settings(output), split)


def _empty_error(output: StageOutput, split: str = "test") -> HearsightError:
    return HearsightError(f"has no record in its {split} split", where=output.path, hint=f"raise split.{split}, or import more")


def read_rows(output: StageOutput, split: str) -> list[dict[str, Any]]:
    """Return the records of a split, in key order."""
    table = output.table(COLUMNS)
    return sorted(table.filter(pc.equal(table["split"], split)).to_pylist(), key=lambda row: str(row["key"]))


def read_settings(output: StageOutput) -> dict[str, Any]:
    """Return the settings that a prepared set was made with (``prepared.json``); empty without that file."""
    if all(entry.path != PREPARED_FILE for entry in output.manifest.files):
        return {}
    test_set: dict[str, Any] = json.loads(output.file(PREPARED_FILE).read_text(encoding="utf-8"))
    return test_set


def read_models(name: str, output: StageOutput) -> list[Model]:
    """Return the models of a cell, by seed; raise HearsightError if the cell has no model, or one of another network."""
    dataset, stage = parse_output_name(output.name)
    cell, retrain = dataset.rpartition("/")[2], f"run `dvc repro -f -s {stage_address(dataset, stage)}`"
    rows = sorted(output.table(["key", "kind", "seed", "weights"]).to_pylist(), key=lambda row: (row["seed"], row["key"]))
    if not rows:
        raise HearsightError("holds no trained captioner", where=output.path, hint=retrain)
    digests = {entry.path: entry.sha256 for entry in output.manifest.files}
    models = []
    for row in rows:
        network, (folder, _, weights) = row["key"].rpartition("-")[0], row["weights"].rpartition("/")
        config = f"{folder}/config.json"
        if not network or not cell.endswith(f"-{network}") or row["kind"] != "captioner":
            what = f"holds '{row['key']}', which is not a captioner of the cell {cell}"
            raise HearsightError(what, where=output.path, hint=retrain)
        if missing := [name for name in (row["weights"], config) if name not in digests]:
            raise HearsightError(f"lacks the file '{missing[0]}'", where=output.path, hint=retrain)
        files = {"cell": name, "folder": folder, "digests": {weights: digests[row["weights"]], "config.json": digests[config]}}
        about = _read_config(output.file(config))
        words, least = len(about.get("vocabulary", SPECIAL)) - len(SPECIAL), about.get("settings", {}).get("min_count", 0)
        known = (str(about.get("vocabulary_sha256", "")), words, least, str(about.get("best_phase", "")))
        models.append(Model(cell[: -len(network) - 1], network, row["seed"], [files], *known))
    return models


def _read_config(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes())
        return content if isinstance(content, dict) else {}
    except ValueError:
        return {}  # loading the model reports the damage
