"""A captioner as one file that other projects import (``hearsight models export``, ``hearsight models import``).

The file is a ZIP of three uncompressed members in a fixed order without times: ``model_card.json``, ``config.json`` with the
vocabulary and the encoder's identity, and ``weights.safetensors``. A file is read only if packing its content again gives its
bytes, so what is damaged, added or compressed is refused, and nothing in it names a path. Nothing of it is ever run.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from components.core.addresses import lineage_path
from components.core.digests import sha256_bytes, sha256_file
from components.core.errors import HearsightError
from components.core.files import link_or_copy, publish_bytes, publish_folder
from components.core.graph import Cell, Graph, load_graph
from components.core.manifest import NAME as MANIFEST
from components.core.params import did_you_mean
from components.core.stage_output import StageOutput
from components.models.model_files import CONFIG, WEIGHTS, config_bytes
from components.tools.describe.models import CARD, ENCODER, IMPORTED, FoundModel, Models, imported_models, read_config
from components.tools.describe.settings import SERVER
from components.tracking.models import CAPTIONER, registered_name
from components.web.archives.wacz import BROKEN

FORMAT = 1
MEMBERS = (CARD, CONFIG, WEIGHTS)
LARGEST = 1 << 30
"""Bytes of a file, at most: a captioner with a trained encoder has a quarter of them."""
LONGEST = 1_000
"""Words of a caption, at most."""
UNSTATED = "not stated: whoever shares this model states it (hearsight models export --licence)"
LIMITS = (
    "It calls everything by one of the words of its training captions, and does not read text in images.",
    "Hearsight publishes no weights trained on Flickr8k or other sets of images: whoever shares this file answers for its data.",
)


def export_model(root: Path, name: str, file: Path, *, licence: str = "", registry: bool = True) -> dict[str, Any]:
    """Write a captioner to a file and return its model card. Equal models and scores give equal bytes.

    Args:
        name: a captioner's cell (``english-t2t8x8``), its registered name, or an imported model.
        licence: of the data it was trained on; empty if nobody has stated it.

    Raises:
        HearsightError: there is no such captioner, or it cannot describe images.
    """
    models = Models(load_graph(root), registry=registry)
    cells = {cell.name: cell for cell in models.graph.cells.values()}
    cells |= {registered_name(cell.dataset, CAPTIONER): cell for cell in cells.values()}
    imported = {one.name: one for one in imported_models(models.graph.root)}
    if name not in cells and name not in imported:
        raise HearsightError("is no captioner", where=name, hint=did_you_mean(name, [*cells, *imported]))
    found = imported[name] if name in imported else models.captioner(cells[name])
    if found is None:
        raise HearsightError("is not trained yet", where=name, hint=f"run `dvc repro train_captioner@{cells[name].name}`")
    folder = found.folder
    card = json.loads((folder / CARD).read_bytes()) if name in imported else _card(models, cells[name], found)
    files = {name: (folder / name).read_bytes() for name in (CONFIG, WEIGHTS)}
    card |= {"licence_of_data": licence or card.get("licence_of_data", UNSTATED)}
    card["files"] = {name: sha256_bytes(data) for name, data in files.items()}
    packed = _pack(files | {CARD: config_bytes(card)})
    if len(packed) > LARGEST:
        raise HearsightError(f"has more than {LARGEST >> 20} MiB", where=name, hint="share its folder instead")
    publish_bytes(file, packed)
    return card


def _card(models: Models, cell: Cell, found: FoundModel) -> dict[str, Any]:
    config = read_config(found.folder)
    if not config.get("encoder"):
        raise HearsightError("does not say which encoder its features are of", where=found.folder, hint="train it again")
    about = {"dataset": cell.set, **config.get("trained_on", {}), "output_sha256": (config.get("set") or {}).get("digest", "")}
    return {
        "format": FORMAT,
        "kind": CAPTIONER,
        "name": cell.name,
        "language": models.language(found),
        "network": cell.network,
        "encoder": config["encoder"],
        "trained_on": about,
        "scores": _scores(models.graph, cell, sha256_file(found.folder / WEIGHTS)),
        "validation_cider_d": config.get("validation"),
        "limits": LIMITS,
        "made_by": f"Hearsight {version('hearsight')}",
    }


def _scores(graph: Graph, cell: Cell, weights: str) -> dict[str, dict[str, float]]:
    """Return test set → metric → mean over seeds, of every evaluation of the output that holds these weights."""
    trained = StageOutput(graph.output("train_captioner", cell.dataset))
    if not (trained.path / MANIFEST).is_file() or weights not in trained.table(["weights_sha256"])["weights_sha256"].to_pylist():
        return {}
    scores = {}
    for dataset in graph.chain.get("evaluate_captioners", {}):
        output = StageOutput(graph.output("evaluate_captioners", dataset))
        if not (output.path / MANIFEST).is_file() or not lineage_path(output.path).is_file():
            continue
        parents = json.loads(lineage_path(output.path).read_bytes())["parents"]
        if trained.manifest.digest not in [parent.get("manifest_sha256") for parent in parents]:
            continue
        for test, table in json.loads(output.file("scores.json").read_bytes()).items():
            if own := table.get("cells", {}).get(cell.name):
                scores[test] = {metric: value["mean"] for metric, value in own.items()}
    return scores


def import_model(root: Path, file: Path, *, name: str = "", encoder: Path | None = None) -> dict[str, Any]:
    """Write the captioner of a file to ``models/<name>`` of a project, whole or not at all; return its model card.

    Args:
        name: how this project calls it; empty for the name in the card.
        encoder: the file of its image encoder's weights, if no package has them.

    Raises:
        HearsightError: the file is damaged, too large or of another kind, the name is taken, or the encoder lacks its weights.
    """
    graph = load_graph(root)
    files = _unpack(file)
    card = json.loads(files[CARD])
    name = name or card["name"]
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,99}", name):
        raise HearsightError(
            f"'{name[:100]}' is no name for a model", where="--name", hint="use a-z, 0-9, full stops and hyphens"
        )
    if name in {SERVER, *graph.datasets, *(cell.name for cell in graph.cells.values())}:
        raise HearsightError(f"'{name}' is something else in this project", where=file, hint="give another --name")
    target = root / IMPORTED / name

    def write(folder: Path) -> None:
        for member, data in files.items():
            (folder / member).write_bytes(data)
        try:
            config = _require_captioner(folder)
        except Exception as error:  # networks raise what they like for a configuration that was made to deceive
            raise _refused(file, str(error).replace(f"{folder}/", "")) from None
        if (weights := _encoder_weights(file, config["encoder"], encoder)) is not None:
            link_or_copy(weights, folder / f"{ENCODER}{weights.suffix or '.bin'}")

    if not publish_folder(target, write, keep=lambda _: True):
        raise HearsightError("is there already", where=target, hint="remove the folder, or give another --name")
    return card | {"name": name}


def _encoder_weights(file: Path, about: Mapping[str, Any], given: Path | None) -> Path | None:
    """Return the file of an encoder's weights that the model needs beside its own; None if it needs none."""
    # Here: loads torch.
    from components.models.encoders import ENCODERS
    from components.vision.image_encoders import PACKAGED, weights_digest

    name, wanted = about.get("name"), about.get("weights_sha256")
    if about.get("trained") or name not in ENCODERS or name in PACKAGED:
        return None
    if given is None:
        what = f"reads images by {name}, whose weights no package has"
        raise HearsightError(what, where=file, hint=f"give --encoder FILE with those of sha256 {wanted}")
    if weights_digest(name, given) != wanted:
        raise HearsightError(f"is not the file of {name} that the model was trained with", where=given, hint=f"sha256 {wanted}")
    return given


def _pack(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in MEMBERS:
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.create_system, info.external_attr = 3, 0o644 << 16
            archive.writestr(info, files[name])
    return buffer.getvalue()


def _unpack(file: Path) -> dict[str, bytes]:
    """Return the members of a file, which are those that its card names; raise HearsightError if it is no such file."""
    try:
        if not file.is_file() or file.stat().st_size > LARGEST:
            raise ValueError(f"it is no file of at most {LARGEST >> 20} MiB")
        data = file.read_bytes()
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if tuple(one.filename for one in members) != MEMBERS or any(one.compress_type for one in members):
                raise ValueError("it holds other files, or compressed ones")
            files = {one.filename: archive.read(one) for one in members}
        if _pack(files) != data:
            raise ValueError("it is damaged")
        card = json.loads(files[CARD])
        if card["format"] != FORMAT or not isinstance(card["name"], str) or not isinstance(card["language"], str):
            raise ValueError("it is of another version of Hearsight")
        digests = {name: sha256_bytes(files[name]) for name in (CONFIG, WEIGHTS)}
        if (card["files"], card["encoder"]) != (digests, json.loads(files[CONFIG])["encoder"]):
            raise ValueError("its files are not those of its card")
    except (*BROKEN, TypeError) as error:
        raise _refused(file, str(error)) from None
    return files


def _require_captioner(folder: Path) -> dict[str, Any]:
    """Return the configuration in a folder; raise, mostly ValueError, unless the weights are of its network."""
    # Here: torch is slow to load.
    import torch

    from components.models.captioners import build
    from components.models.captioners.interface import CaptionerConfig
    from components.models.model_files import read_weights_of
    from components.models.trained_captioner import read_captioner_config

    config = read_captioner_config(folder / CONFIG)
    shapes = {name: tensor.shape for name, tensor in read_weights_of(folder / WEIGHTS, CAPTIONER).items()}
    network = CaptionerConfig(**config["network"])
    if not isinstance(config["encoder"], dict) or network.layers > len(shapes) or not 0 < network.longest <= LONGEST:
        raise ValueError("its configuration is of another model")
    with torch.device("meta"):  # takes no memory, whatever the configuration says
        wanted = {f"network.{name}": tensor.shape for name, tensor in build(network).state_dict().items()}
    if wanted != {name: shape for name, shape in shapes.items() if not name.startswith("encoder.")}:
        raise ValueError("its weights are of another network than its configuration")
    return config


def _refused(file: Path, reason: str) -> HearsightError:
    hint = "get it again; `hearsight models export` writes such files"
    return HearsightError(f"is no model that can be imported ({' '.join(reason.split())[:200]})", where=file, hint=hint)
