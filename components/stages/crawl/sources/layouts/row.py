"""A row of an existing set, and what every layout offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar


@dataclass(frozen=True)
class Row:
    """One image with one caption, or a row that does not fit (then ``rule`` is not empty)."""

    number: int
    """Its line in the file, or its place in the file's list, from 1."""
    caption: str = ""
    url: str = ""
    """Where the image is on the web, as the file spells it; '' when the layout or the row has none."""
    file: str = ""
    """The image's file name, as the file spells it; '' when the layout or the row has none."""
    owner: str = ""
    """Whose post it is, where the set says so."""
    post: str = ""
    """What identifies it at its source, beside others of the same image: ``name.jpg#0``."""
    language: str = ""
    """The caption's, ISO 639-1, where the file tells; '' where ``crawl.language`` does for all of it."""
    posted: str = ""
    """When it was posted, as the set spells it."""
    note: str = ""
    """What else the set says of it, for the ledger: its split, its date."""
    rule: str = ""
    """Why it does not fit: missing_field | bad_encoding | row_too_long | unequal_labels | unknown_image |
    unusable_url | bad_row."""
    value: str = ""
    threshold: str = ""


class Layout(ABC):
    """One published way to write images with captions into a file."""

    name: ClassVar[str]
    has_urls: ClassVar[bool] = False
    """Its rows name images on the web."""
    has_files: ClassVar[bool] = False
    """Its rows name files of an image folder."""
    relative_to_table: ClassVar[bool] = False
    """Those names are relative to the file's own folder, not to the image folder."""
    folder_optional: ClassVar[bool] = False
    """Without an image folder, those names are relative to the file's own folder, and never to the web."""
    has_languages: ClassVar[bool] = False
    """Its rows tell their languages, of which ``crawl.languages`` caption_field some."""

    @abstractmethod
    def rows(self, path: Path, label: str) -> Iterator[Row]:
        """Every row of the file, those that do not fit included, in its order.

        Args:
            path: where the file is.
            label: its name for messages.

        Raises:
            HearsightError: the file is of another layout; names the line.
        """
