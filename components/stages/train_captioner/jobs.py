"""Training job of one captioner, in one or two phases."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import torch
from torch import nn

from components.core.addresses import installed_file
from components.core.digests import digest_value
from components.core.errors import HearsightError
from components.execution.ranks import rank_number
from components.models.captioners import build
from components.models.captioners.interface import CaptionerConfig, reads_grid
from components.models.trained_captioner import ImageCaptioner, save_trained
from components.stages.train_captioner import data
from components.stages.train_captioner.data import Split, references_by_group
from components.stages.train_captioner.items import FeatureItems, ImageItems, Items
from components.stages.train_captioner.recipe import CaptionerTraining, CiderReward
from components.training.fit import CAPTIONER, fit, history_csv
from components.training.progress import open_progress
from components.training.recipe import reseed
from components.vision.image_encoders import weights_digest
from components.vision.trained_encoders import captioner_encoder

if TYPE_CHECKING:
    from components.execution.stage import Task
    from components.training.settings import Hardware

PHASES = ("cross_entropy", "self_critical")


class Trained(NamedTuple):
    """The result of a training."""

    recipe: CaptionerTraining
    """The last phase, with the history and best weights of all phases."""
    config: dict[str, Any]


def train_captioner(spec: dict[str, Any], task: Task, folder: Path) -> None:
    """Train one captioner and write ``weights.safetensors``, ``config.json`` and ``history.csv`` to ``folder``.

    Args:
        spec: ``network`` (a name), ``seed``, ``settings`` (CaptionerSettings as a dict), and ``encoder``: that of the features,
            ``{"name", "weights_sha256", "trained": false}``, or one to train, with ``"weights"`` (a path; empty for random
            weights), ``"side"`` (px) and ``"trained": true``.
        task: ``inputs["input"]`` is the prepared set, ``params`` the :class:`~components.training.settings.Hardware`,
            ``code`` the training's version, which is part of the name of the checkpoints' folder.

    Raises:
        HearsightError: there is nothing to train on, the loss diverges, memory is too small, or a file is damaged.
    """
    trained = train(spec, task)
    best = trained.recipe.best
    save_trained(folder, best["weights"], trained.recipe.vocabulary, trained.config)
    (folder / "history.csv").write_text(history_csv(trained.recipe.history, CAPTIONER), encoding="utf-8")


def train(spec: dict[str, Any], task: Task) -> Trained:
    """Train to the end, resuming from the checkpoints in the scratch folder; see :func:`train_captioner`."""
    settings, seed, hardware, output = spec["settings"], spec["seed"], task.params, task.inputs["input"]
    torch.set_num_threads(hardware.threads)
    where = f"train_captioner, {spec['network']}-{seed} on {output.name}"
    split = data.training_split(output, output.name)
    vocabulary = data.build_vocabulary(split.words, settings["min_count"])
    split, words, left_out = data.encode_known_captions(split, vocabulary, settings["longest"], output.name)
    validation = data.read_split(output, "validation")
    scored_images, references = data.validation_references(validation, output.name)
    make = _items(spec, hardware)
    leading, grouped = data.group_captions(split.image, words, settings["captions_per_image"])
    training = make(split.members, split.image[leading], grouped, split.table["key"].take(pa.array(leading)), training=True)
    scored_keys = [validation.sha256[image] for image in scored_images]
    judging = make(validation.members, scored_images, None, scored_keys, training=False)
    reseed(seed, spec["network"], "weights")
    encoder = build_encoder(spec["encoder"], task.project)
    chosen = {name: settings[name] for name in ("width", "heads", "layers", "feedforward", "pre_norm", "dropout", "longest")}
    network_config = CaptionerConfig(spec["network"], len(vocabulary), image_features=_width(training, encoder), **chosen)
    model = ImageCaptioner(build(network_config), encoder)
    # Other settings of the second phase continue from the same first phase.
    first_spec = spec | {"settings": {name: value for name, value in settings.items() if name != "self_critical"}}
    both_phases, first_phase = (
        digest_value([part, output.digest, task.code, hardware.plain()])[:32] for part in (spec, first_spec)
    )
    scratch = task.work / first_phase
    common: dict[str, Any] = {"vocabulary": vocabulary, "validation": (judging, references), "name": where}
    by_image = settings | {"batch": max(1, settings["batch"] // settings["captions_per_image"])}
    recipe = CaptionerTraining(model, by_image, seed, keys=training.key, **common)
    with open_progress(task.project, task.work, f"{spec['network']}-{seed}", both_phases, writes=rank_number() == 0) as log:
        fit(recipe, training, scratch / PHASES[0], hardware, log)
        phase = settings["self_critical"]
        if phase["epochs"]:
            images, rewarded = _images(make, split)
            model.load_state_dict(recipe.best["weights"])
            phase_settings = {**settings, **{name: phase[name] for name in ("epochs", "batch", "learning_rate")}}
            second = CaptionerTraining(
                model,
                phase_settings | {"warm_up_steps": 0, "decay_per_1000": 1.0},
                seed,
                reward=CiderReward(rewarded),
                keys=images.key,
                **common,
            )
            # The second phase keeps the best weights of the first until it beats them, and continues its epoch numbers.
            second.continue_from(recipe)
            fit(second, images, scratch / f"{PHASES[1]}-{both_phases}", hardware, log)
            recipe = second
    best = recipe.best
    config = {
        "seed": seed,
        "network": network_config.plain(),
        "encoder": {name: value for name, value in spec["encoder"].items() if name != "weights"},
        "settings": settings,
        "set": {"output": output.name, "digest": output.digest},
        "best_epoch": best["epoch"],
        "best_phase": best["phase"],
        "validation": best["validation"],
        "validation_data": data.scored_digest(validation),
        "steps": recipe.steps,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "left_out": {"captions_of_unknown_words": left_out},
    }
    return Trained(recipe, config)


def build_encoder(encoder: dict[str, Any], project: Path) -> nn.Module | None:
    """Build what is trained of the encoder, with its first weights.

    Raises:
        HearsightError: the encoder is unknown, or the file does not fit it.
    """
    path = installed_file(project, encoder["weights"]) if encoder.get("weights") else None
    if path is not None and weights_digest(encoder["name"], path) != encoder["weights_sha256"]:
        raise HearsightError("the weights changed during the run", where=path, hint="run again")
    return captioner_encoder(encoder, path)


def _items(spec: dict[str, Any], hardware: Hardware) -> Any:
    """Return the factory of a split's items: features, or images if the encoder is trained."""
    common: dict[str, Any] = {"seed": spec["seed"], "fixed_shape": hardware.compile}
    if spec["encoder"]["trained"]:
        return partial(ImageItems, side=spec["encoder"]["side"], **common)
    grid = reads_grid(spec["network"]) or bool(spec["encoder"].get("trained_blocks"))
    return partial(FeatureItems, grid=grid, **common)


def _images(make: Any, split: Split) -> tuple[Items, list[list[list[str]]]]:
    """Return the training images with captions, each once, and the references of each."""
    images = np.unique(split.image)
    references = references_by_group(split)
    items: Items = make(split.members, images, None, [split.sha256[image] for image in images], training=True)
    return items, [references[split.group[image]] for image in images]


def _width(items: Items, encoder: nn.Module | None) -> int:
    """Return the number of features per vector, F."""
    if encoder is None:
        assert isinstance(items, FeatureItems)
        return items.width
    seen = items.read_views([(0, 0)])
    encode: Any = encoder.eval().encode
    with torch.no_grad():
        width = int(encode(torch.from_numpy(seen if seen.dtype == np.uint8 else seen.astype(np.float32))).shape[2])
    encoder.train()
    return width
