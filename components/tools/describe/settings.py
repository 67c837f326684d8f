"""Settings of descriptions: ``params.yaml: describe``."""

from __future__ import annotations

from pathlib import Path

from components.core.errors import HearsightError
from components.core.params import Settings, project_settings
from components.execution.resources import Accelerator
from components.model_server.settings import server_params
from components.tools.describe.wording import LANGUAGES

SERVER = "server"
"""The name that stands for the model server (``params.yaml: server``)."""


class DescribeParams(Settings):
    """``params.yaml: describe``; the command's options come first."""

    model: str = ""
    """What describes: a captioner, a dataset with a search index, ``server``, or a model of a hub (``ID@COMMIT``, or a folder);
    empty for the lightest captioner. Ours."""
    languages: list[str] = ["en"]
    """Languages in which a model of a hub writes; in others the project's own models describe. Ours."""
    prompt: str = ""
    """What a model of a hub is asked; empty for what its kind needs. Ours."""
    device: Accelerator = "cpu"
    """Where a model of a hub computes. Ours."""
    read_text: bool = True
    """Read the text in images where the extra ``ocr`` is installed. Ours."""

    def check(self, where: str) -> None:
        """Require languages of captions."""
        for language in self.languages:
            if language not in LANGUAGES:
                hint = f"write {', '.join(LANGUAGES)}"
                raise HearsightError(f"'{language}' is not a language here", where=f"{where}.languages", hint=hint)


def describe_params(root: Path) -> DescribeParams:
    """Return ``params.yaml: describe``, defaults included; raise HearsightError if it is invalid."""
    return project_settings(DescribeParams, root, "describe")


def place_of_images(root: Path) -> str:
    """Return the machine to which descriptions send images by the settings; empty if they stay on this one."""
    return server_params(root).place if describe_params(root).model == SERVER else ""


def is_foreign(model: str) -> bool:
    """Return whether a name is of a model of a hub: an id has a slash, as a path of a folder has; names of ours have none."""
    return "/" in model
