"""A hub's model as a run uses it: chosen by the stage's own process, found again by its workers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from components.core.errors import HearsightError
from components.execution.resources import Accelerator, Device, Resources, choose_device
from components.hub.model import HubFolder, HubModel, find_model


class ChosenModel(NamedTuple):
    """A model, the digest of its files, and how it computes, as JSON values for cache keys."""

    model: str
    digest: str
    device: Device = "cpu"
    batch: int = 1

    @property
    def identity(self) -> str:
        """What its results depend on, for the names of their caches."""
        name = re.sub(r"[^A-Za-z0-9.-]+", "-", self.model.partition("@")[0]).strip("-")
        how = ("" if self.device == "cpu" else f"-{self.device}") + ("" if self.batch == 1 else f"-batch-{self.batch}")
        return f"{name}-{self.digest[:16]}{how}"

    def find(self, project: Path) -> HubFolder:
        """Return its files; raise HearsightError if they have changed, or as :func:`find_model`."""
        found = find_model(project, self.model)
        if found.digest != self.digest:
            raise HearsightError("the model's files have changed during the run", where=self.model, hint="run again")
        return found


def choose_model(
    project: Path, settings: HubModel, device: Callable[[Accelerator], Device] = choose_device
) -> ChosenModel | None:
    """Return the model that settings name, None for none; raise HearsightError as :func:`find_model`, or without the GPU.

    Args:
        device: :meth:`components.execution.engine.Engine.device` of the run.
    """
    if not settings.model:
        return None
    return ChosenModel(settings.model, find_model(project, settings.model).digest, device(settings.device), settings.batch)


def resources_for(models: Iterable[ChosenModel]) -> Resources:
    """Return what an item needs that computes with these models."""
    return Resources(gpus=int(any(model.device == "gpu" for model in models)))
