"""Captioners of other projects: ``models/<name>`` below the project's root, as ``hearsight models import`` writes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from components.core.digests import digest_value, sha256_file
from components.core.errors import HearsightError
from components.models.model_files import CONFIG, WEIGHTS

FOLDER, CARD, ENCODER = "models", "model_card.json", "encoder"
"""The folder of imported models; the file that says what a model is; the stem of the file with its encoder's weights."""


class ImportedModel(NamedTuple):
    """A captioner that was imported."""

    name: str
    folder: Path
    card: dict[str, Any]

    @property
    def version(self) -> str:
        """``imported 0f3a…``, by the content of its files."""
        return f"imported {digest_value([sha256_file(self.folder / name) for name in (CONFIG, WEIGHTS)])[:12]}"

    @property
    def encoder(self) -> Path | None:
        """The file of its encoder's weights; None for weights that a package has, or that the model holds."""
        return next(self.folder.glob(f"{ENCODER}.*"), None)


def imported_models(root: Path) -> list[ImportedModel]:
    """Return the captioners that were imported into a project, by name.

    Raises:
        HearsightError: the files of one are damaged.
    """
    found = []
    for path in sorted((root / FOLDER).glob(f"*/{CARD}")):
        if path.parent.name.startswith("."):  # an import that was killed
            continue
        missing = [name for name in (CONFIG, WEIGHTS) if not (path.parent / name).is_file()]
        try:
            card = json.loads(path.read_bytes())
            if missing or not isinstance(card.get("language"), str):
                raise ValueError(f"lacks {', '.join(missing) or 'language'}")
        except (OSError, ValueError, AttributeError) as error:
            hint = "remove the folder, and import the model again"
            raise HearsightError(f"holds no complete model ({error})", where=path.parent, hint=hint) from None
        found.append(ImportedModel(path.parent.name, path.parent, card))
    return found
