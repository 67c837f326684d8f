"""The publishers' answers for a dataset's datasheet: ``params.yaml:release.<dataset>``."""

from __future__ import annotations

from pathlib import Path

from components.core.errors import HearsightError
from components.core.params import Settings, parse_settings, read_params_file


class Publisher(Settings):
    """Answers of the publishers; an empty one is told to be missing. Nothing else in the release comes from here."""

    purpose: str = ""
    """Why the dataset was made."""
    creators: str = ""
    """Who made it, on whose behalf."""
    funding: str = ""
    """Who paid for it, under which grant."""
    compensation: str = ""
    """Who took part in the collection, and how they were paid."""
    ethics: str = ""
    """Ethical reviews, and their outcome."""
    notification: str = ""
    """Whether and how the owners of the posts were told."""
    consent: str = ""
    """Whether they consented, or the ground in law without."""
    impact: str = ""
    """Analyses of what the dataset does to those it is about."""
    used_for: str = ""
    """What it was used for already."""
    uses_listed_at: str = ""
    """Where papers and systems that use it are listed."""
    third_parties: str = ""
    """To whom it is given."""
    distribution: str = ""
    """Where and how it is given out."""
    available_from: str = ""
    """Since when, or from when."""
    licence: str = ""
    """The terms it is given under; --licence stands before it."""
    restrictions: str = ""
    """Export controls and other rules."""
    maintainer: str = ""
    """Who looks after it."""
    contact: str = ""
    """How they are reached, also by who wants a post taken down."""
    updates: str = ""
    """Whether, how often and by whom it is brought up to date."""
    older_versions: str = ""
    """What becomes of earlier versions."""
    contributions: str = ""
    """How others can contribute."""


def read_publisher(root: Path, dataset: str, licence: str) -> Publisher:
    """Read the publishers' block; all fields are empty where there is none.

    Raises:
        HearsightError: the block is not valid; names the key.
    """
    path = root / "params.yaml"
    block = read_params_file(path).get("release") or {}
    if not isinstance(block, dict):
        raise HearsightError(
            "must hold a block for each dataset", where=f"{path}: release", hint="see docs/release-and-takedown.md"
        )
    publisher = parse_settings(Publisher, block.get(dataset, {}), f"{path}: release.{dataset}")
    assert isinstance(publisher, Publisher)
    return publisher.model_copy(update={"licence": licence}) if licence.strip() else publisher
