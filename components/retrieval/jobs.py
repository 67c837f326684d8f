"""The training job of one dual encoder, from scratch or from a trained model's towers, and parts of the job's cache key."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from components.core.addresses import installed_file
from components.core.digests import digest_value
from components.core.errors import HearsightError
from components.core.seeded_rng import seeded_rng
from components.execution.ranks import rank_number
from components.hub.model import find_model
from components.models.contrastive import LossSettings
from components.models.dual_encoder import DualEncoder, DualEncoderConfig
from components.models.dual_encoder_files import save_dual_encoder, warm_start
from components.retrieval.embedding import empty_image_encoder, open_dual_encoder
from components.retrieval.inputs import open_input, vocabulary_of
from components.retrieval.items import PairItems
from components.retrieval.pairs import Pairs, read_pairs, sets_of
from components.retrieval.recipe import DualEncoderTraining
from components.speech.recognition.hub_states import HubStates, open_ear
from components.training.fit import DUAL_ENCODER, fit, history_csv
from components.training.progress import open_progress
from components.training.recipe import reseed
from components.vision.image_encoders import weights_digest
from components.vision.trained_encoders import trainable_encoder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from components.core.stage_output import StageOutput
    from components.execution.stage import Task
    from components.models.encoders import ImageEncoder
    from components.retrieval.settings import Towers

START = "start"
"""Name of the input with the pretrained models."""


def starting_weights(towers: Towers, project: Path) -> str:
    """Return the digest of a large image tower's initial weights; empty without initial weights.

    Raises:
        HearsightError: the file cannot be read.
    """
    if not towers.weights:
        return ""
    return weights_digest(towers.image, installed_file(project, towers.weights))


def plain_towers(towers: Towers, tower: str, project: Path) -> dict[str, Any]:
    """Return the settings of the rows that name this speech tower, with digest and width of an ear.

    Raises:
        HearsightError: the ear is no speech encoder, or not there.
    """
    plain = towers.of_row(tower)
    if "ear" not in plain:
        return plain
    heard = HubStates(find_model(project, plain["ear"]))
    return plain | {"ear_sha256": heard.found.digest, "states": heard.width}


def input_digests(inputs: Mapping[str, StageOutput]) -> dict[str, str]:
    """Return the digest of each input set. Pretrained models are left out: the job's spec names the one that is used."""
    return {name: output.digest for name, output in inputs.items() if name != START}


TRAINED_ON = ("train", "validation")
"""The splits that a training reads."""
WHOLE = 100
"""Percent for all training pairs."""


def train_dual_encoder(spec: dict[str, Any], task: Task, folder: Path) -> None:
    """Train one dual encoder; write ``weights.safetensors``, ``config.json`` and ``history.csv`` to ``folder``.

    Args:
        spec: ``row`` and ``seed``; ``settings``, a plain :class:`~components.retrieval.settings.DualEncoderSettings` with the
            row's batch; ``loss``, its name; ``percent`` of the training pairs; ``towers``, a plain
            :func:`plain_towers` with ``weights_sha256`` beside ``weights``; ``start``: None, or
            ``{"model", "weights_sha256", "towers"}``: a model of ``inputs["start"]`` and the towers to copy from it (the network
            is then that model's, and ``towers`` may be None); ``sets``: the sets' digests, since a job is cached by its spec;
            ``voices``: those to train on, absent for all.
        task: ``inputs`` are the sets (:func:`~components.retrieval.pairs.sets_of`) and, for a warm start, ``start``; ``params``
            is the :class:`~components.training.settings.Hardware`; ``code`` is the training's version.

    Raises:
        HearsightError: there are no training pairs, the loss diverges, memory is insufficient, or a file is damaged.
    """
    recipe, config = train(spec, task)
    save_dual_encoder(folder, recipe.best["weights"], config)
    (folder / "history.csv").write_text(history_csv(recipe.history, DUAL_ENCODER), encoding="utf-8")


def train(spec: dict[str, Any], task: Task) -> tuple[DualEncoderTraining, dict[str, Any]]:
    """Train to the end, resuming from the scratch folder; return the recipe and the model's ``config.json``."""
    hardware, settings, seed = task.params, spec["settings"], spec["seed"]
    torch.set_num_threads(hardware.threads)
    clips, chosen = settings["clips"], settings["loss"]
    run_name = f"{spec['row']}-{seed} of {task.dataset}"
    sets = sets_of(task.inputs)
    by, voices = chosen["matching"], spec.get("voices", ())
    splits = {split: read_pairs(sets, split, by, voices) for split in TRAINED_ON}
    training, validation = splits.values()
    rows = subset(training, spec["percent"], seed)
    if len(rows) < 2:
        what = f"needs at least 2 training pairs and has {len(rows)}"
        raise HearsightError(what, where=run_name, hint="raise the row's percent, or bring more data")
    reseed(seed, "dual_encoder", "weights")
    network, started = build(spec, task, training)
    ear = open_ear(network.config.plain(), task.project, hardware.device())
    reading: dict[str, Any] = {"held": clips["held"], "annotations": task.annotations, "ear": ear}
    inputs = {split: open_input(network.speech, of_split, **reading) for split, of_split in splits.items()}
    common: dict[str, Any] = {"seed": seed, "frames": clips["frames"], "side": network.config.image_side}
    common["fixed"] = hardware.compile or network.speech.padding_counts
    items = PairItems(training, inputs["train"], rows, training=True, **common)
    validation_items = PairItems(validation, inputs["validation"], np.arange(len(validation)), training=False, **common)
    if "speech" not in started:
        mean, deviation = inputs["train"].statistics(rows, seed)
        network.speech.mean.copy_(mean)
        network.speech.deviation.copy_(deviation)
    scratch = task.work / digest_value([spec, task.code, hardware.plain()])[:32]
    # Fewer pairs get more epochs, so that every row takes about the same number of steps.
    optimisation = settings["optimisation"]
    epochs = max(1, round(optimisation["epochs"] * WHOLE / spec["percent"]))
    margins = {name: value for name, value in chosen.items() if name != "matching"}
    recipe = DualEncoderTraining(
        network,
        optimisation | {"epochs": epochs},
        seed,
        loss=LossSettings(loss=spec["loss"], **margins),
        masks=inputs["train"].masks(clips["mask_coefficients"], clips["mask_frames"]),
        training=items,
        validation=validation_items,
        name=run_name,
    )
    with open_progress(task.project, task.work, f"{spec['row']}-{seed}", scratch.name, writes=rank_number() == 0) as log:
        fit(recipe, items, scratch / "training", hardware, log)
    best = recipe.best
    config = {
        "row": spec["row"],
        "seed": seed,
        "network": network.config.plain(),
        "encoder": {name: value for name, value in training.encoder.items() if name != "weights"},
        "settings": settings,
        "loss": spec["loss"],
        "percent": spec["percent"],
        "training_pairs": len(rows),
        "start": spec["start"],
        "frames": clips["frames"],
        "matching": chosen["matching"],
        "sets": {name: {"output": task.inputs[name].name, "digest": digest} for name, digest in spec["sets"].items()},
        "best_epoch": best["epoch"],
        "validation": best["validation"],
        "validation_data": validation.digest(),
        "steps": recipe.steps,
        "parameters": sum(parameter.numel() for parameter in network.parameters()),
    }
    return recipe, config


def subset(pairs: Pairs, percent: int, seed: int) -> NDArray[np.int64]:
    """Return the indices of a drawn part of the pairs (CSC, figure 3); smaller parts of the same seed are subsets of larger
    ones."""
    keys = pairs.keys
    if percent >= WHOLE:
        return np.arange(len(keys))
    ordered = sorted(range(len(keys)), key=lambda index: seeded_rng(seed, keys[index], "subset").random())
    return np.array(sorted(ordered[: math.ceil(len(keys) * percent / WHOLE)]), dtype=np.int64)


def build(spec: dict[str, Any], task: Task, training: Pairs) -> tuple[DualEncoder, set[str]]:
    """Return the network to train, and the towers that were copied from a trained model.

    Raises:
        HearsightError: the initial model is damaged, or was trained with another image encoder.
    """
    if START not in task.inputs:
        towers = spec["towers"]
        config = _config(towers, training)
        return DualEncoder(config, _image_encoder(config, task.project, towers["weights"], towers["weights_sha256"])), set()
    start, output = spec["start"], task.inputs[START]
    source = open_dual_encoder(output, start["model"])
    try:
        trained_on = source.config["encoder"]
        if trained_on != training.encoder:
            raise ValueError(f"model {start['model']} was trained with the image encoder {trained_on}, not {training.encoder}")
        network = DualEncoder(source.model.config, empty_image_encoder(source.model.config))
        warm_start(network, source, set(start["towers"]))
    except ValueError as error:
        hint = "run extract_features with the same settings as the model, then run again"
        raise HearsightError(str(error), where=output.name, hint=hint) from error
    return network, set(start["towers"])


def _config(towers: dict[str, Any], training: Pairs) -> DualEncoderConfig:
    chosen = {name: value for name, value in towers.items() if not name.startswith("weights")}
    if towers["speech"] == "text":
        chosen["vocabulary"] = vocabulary_of(training.utterances["caption"].to_pylist())
    frozen = not training.encoder["trained"]
    if frozen != (towers["image"] == "features"):
        what = f"the image tower '{towers['image']}' reads {'images' if frozen else 'features'}, but the other are stored"
        raise HearsightError(what, where="towers.image", hint=f"set extract_features' encoder.frozen: {str(not frozen).lower()}")
    if frozen:
        chosen["image_features"] = int(training.media.choose_view(0, first=True).shape[1])
    try:
        return DualEncoderConfig(**chosen)
    except ValueError as error:
        raise HearsightError(str(error), where="towers", hint="correct the setting") from error


def _image_encoder(config: DualEncoderConfig, project: Path, weights: str, digest: str) -> ImageEncoder | None:
    """Return a large image tower with its initial weights: the file's, a package's, or none."""
    if not weights:
        return empty_image_encoder(config)
    path = installed_file(project, weights)
    if weights_digest(config.image, path) != digest:
        raise HearsightError("the weights have changed since the run started", where=path, hint="run again")
    return trainable_encoder(config.image, path, config.image_side)
