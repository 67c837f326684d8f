"""Which model describes images in a language: a captioner of a set in that language, or a search index with such captions.

Captioners are the registered versions with the alias ``best``, or, where MLflow has none, the project's outputs; indexes are
outputs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.core.addresses import MATRICES
from components.core.digests import digest_value, sha256_file
from components.core.errors import HearsightError
from components.core.graph import Cell, Graph
from components.core.manifest import NAME
from components.core.params import did_you_mean
from components.core.records import SEARCH_STAGE
from components.core.shards import read_table
from components.core.stage_output import StageOutput
from components.models.trained_captioner import CONFIG, WEIGHTS
from components.search.index import ITEMS
from components.search.searcher import INDEX, SEARCH
from components.tracking.models import CAPTIONER, registered_name
from components.tracking.registered import has_registry, registered_folder
from components.vision.image_encoders import HUB
from components.web.html.language import guess_language

CAPTIONERS = "captioners"
IMPORTED, CARD, ENCODER = "models", "model_card.json", "encoder"
"""The folder of imported captioners; in the folder of each what it is, and the stem of the file with its encoder's weights."""


@dataclass(frozen=True)
class FoundModel:
    """The files of a model."""

    name: str
    """The cell, ``english-t2t8x8``, or the dataset of the index."""
    kind: str
    """captioner or search."""
    folder: Path
    version: str
    """``version 3`` of the registry, or ``output 0f3a…`` of the project, whose digest changes with its files."""
    set: str = ""
    """Of a captioner: the dataset it was trained on; empty for an imported one."""
    language: str = ""
    """Of an imported captioner: the language of its captions."""
    encoder: Path | None = None
    """Of an imported captioner: the file of its encoder's weights, if no package has them."""


class Models:
    """The models of a project.

    Args:
        registry: ask MLflow; otherwise only the project's outputs are read.
    """

    def __init__(self, graph: Graph, *, registry: bool = True) -> None:
        self.graph, self.registry = graph, registry and has_registry(graph.root)

    def choose(self, language: str, model: str = "") -> FoundModel:
        """Return the model named ``model``, or the default for a language.

        The default is the smallest imported captioner in that language, or else the smallest of the first set in it; without one,
        the first index with captions in it.

        Raises:
            HearsightError: there is no such model, or none for the language; it says what to train.
        """
        cells = [cell for cell in self.graph.cells.values() if cell.matrix == CAPTIONERS]
        indexes = list(self.graph.chain.get(SEARCH_STAGE, {}))
        if model:
            return self._named(model, language, cells, indexes)
        if imported := [found for found in imported_models(self.graph.root) if found.language == language]:
            return min(imported, key=_size)
        captioners = [found for cell in cells if (found := self.captioner(cell)) and self.language(found) == language]
        if captioners:
            return min((found for found in captioners if found.set == captioners[0].set), key=_size)
        for dataset in indexes:
            if (found := self.index(dataset)) and language in index_languages(found.folder):
                return found
        raise HearsightError(
            f"no captioner was trained on captions in '{language}', and no search index holds any",
            where="describe",
            hint="name a model server or a hub's model (docs/describe.md), run `make demo`, or add a dataset with such captions "
            "to `sets` in datasets/captioners.yaml, and run `dvc repro`",
        )

    def _named(self, model: str, language: str, cells: list[Cell], indexes: list[str]) -> FoundModel:
        by_name, imported = {cell.name: cell for cell in cells}, {one.name: one for one in imported_models(self.graph.root)}
        found: FoundModel | None
        if model in imported:
            found, run, spoken = imported[model], "", [imported[model].language]
        elif model in by_name:
            found = self.captioner(by_name[model])
            run, spoken = f"train_captioner@{model}", [self.language(found)] if found else []
        elif model in indexes:
            found = self.index(model)
            run, spoken = f"{SEARCH_STAGE}@{model}", index_languages(found.folder) if found else []
        else:
            known = ["server", *imported, *by_name, *indexes]
            what = "is no captioner, no dataset with an index, no `server`, and no hub's model (ID@COMMIT, or a path)"
            raise HearsightError(what, where=model, hint=did_you_mean(model, known))
        if found is None:
            raise HearsightError("is not trained yet", where=model, hint=f"run `dvc repro {run}`, or `dvc pull`")
        if language not in spoken:
            what = f"writes captions in {' and '.join(spoken)}, not in '{language}'"
            raise HearsightError(what, where=model, hint=f"give --language {spoken[0]}, or another --model")
        return found

    def captioner(self, cell: Cell) -> FoundModel | None:
        """Return the best captioner of a cell; None if there is none."""
        name = registered_name(cell.dataset, CAPTIONER)
        if self.registry and (registered := registered_folder(self.graph.root, name)):
            return FoundModel(cell.name, CAPTIONER, registered.folder, f"version {registered.version}", cell.set)
        output = self._output(MATRICES[CAPTIONERS][0], cell.dataset)
        if output is None:
            return None
        rows = output.table(["key", "seed", "validation", "weights"]).to_pylist()
        best = max(rows, key=lambda row: (row["validation"], -row["seed"]), default=None)
        if best is None:
            return None
        folder = output.fetch(Path(best["weights"]).parent.as_posix())
        return FoundModel(cell.name, CAPTIONER, folder, f"output {output.digest[:12]}", cell.set)

    def index(self, dataset: str) -> FoundModel | None:
        """Return the search index of a dataset; None if there is none."""
        output = self._output(SEARCH_STAGE, dataset)
        return FoundModel(dataset, SEARCH, output.fetch(SEARCH), f"output {output.digest[:12]}") if output else None

    def language(self, captioner: FoundModel) -> str:
        """Return the language of a captioner's captions: of most records of its set, or where that is gone, of its words."""
        if captioner.language:
            return captioner.language
        if output := self.training_set(captioner.set):
            languages = output.table(["language"])["language"].to_pylist()
            return max(sorted(set(languages)), key=languages.count) if languages else ""
        return guess_language(" ".join(read_config(captioner.folder)["vocabulary"]))

    def training_set(self, name: str) -> StageOutput | None:
        """Return the prepared set of a captioner; None if it is not there."""
        return self._output(MATRICES[CAPTIONERS][1], name) if name else None

    def encoder_weights(self, name: str) -> Path | None:
        """Return the file of weights that a dataset's settings name for the frozen encoder; None if packaged, or of a hub."""
        stage = MATRICES[CAPTIONERS][1]
        encoder = ((self.graph.params.get(name) or {}).get(stage) or {}).get("encoder") or {}
        weights = encoder.get("weights", "")
        # A model that was trained over a hub's records which.
        return self.graph.root / weights if weights and encoder.get("name") != HUB else None

    def _output(self, stage: str, dataset: str) -> StageOutput | None:
        folder = self.graph.output(stage, dataset)
        return StageOutput(folder) if (folder / NAME).is_file() else None


def imported_models(root: Path) -> list[FoundModel]:
    """Return the captioners that ``tools.model_archive`` wrote; raise HearsightError for a damaged one."""
    found = []
    for card in sorted((root / IMPORTED).glob(f"[!.]*/{CARD}")):
        folder = card.parent
        try:
            language = str(json.loads(card.read_bytes())["language"])
            version = digest_value([sha256_file(folder / name) for name in (CONFIG, WEIGHTS)])
        except (OSError, ValueError, KeyError, TypeError) as error:
            hint = "remove the folder, and import the model again"
            raise HearsightError(f"holds no complete model ({error})", where=folder, hint=hint) from None
        encoder = next(folder.glob(f"{ENCODER}.*"), None)
        found.append(FoundModel(folder.name, CAPTIONER, folder, f"imported {version[:12]}", "", language, encoder))
    return found


def read_config(folder: Path) -> dict[str, Any]:
    """Return a captioner's ``config.json``; raise HearsightError if it cannot be read."""
    try:
        config: dict[str, Any] = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise HearsightError(f"cannot be read ({error})", where=folder / CONFIG, hint="train it again") from None
    return config


def index_languages(folder: Path) -> list[str]:
    """Return the languages of an index's captions."""
    lists = read_table(folder / INDEX / ITEMS, ["languages"])["languages"].to_pylist()
    return sorted({language for each in lists for language in each})


def _size(found: FoundModel) -> tuple[int, str]:
    return int(read_config(found.folder).get("parameters", 0)), found.name
