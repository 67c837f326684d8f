"""A row of an existing set, and the interface of every layout."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from components.stages.crawl.sources.layouts.quotes import Quotes


@dataclass(frozen=True)
class Row:
    """One image with one caption, or a row that does not fit (then ``rule`` is not empty)."""

    number: int
    """Its line in the file, or its position in the file's list, from 1."""
    caption: str = ""
    url: str = ""
    """Web address of the image as the file spells it; '' when the layout or the row has none."""
    file: str = ""
    """File name of the image as the file spells it; '' when the layout or the row has none."""
    owner: str = ""
    """Account name of the post's owner, if the set states it."""
    post: str = ""
    """Identifier at its source, distinct for captions of the same image: ``name.jpg#0``."""
    language: str = ""
    """ISO 639-1 language of the caption; '' where ``crawl.source.language`` holds for the whole file."""
    posted: str = ""
    """Time of posting, as the set spells it."""
    note: str = ""
    """Further facts for the ledger: its split, its date."""
    rule: str = ""
    """Why it does not fit: missing_field | bad_encoding | row_too_long | unequal_labels | unknown_image |
    unusable_url | bad_row | unclear_quotes.
    """
    value: str = ""
    threshold: str = ""


class Layout(ABC):
    """One published file format for images with captions."""

    name: ClassVar[str]
    has_urls: ClassVar[bool] = False
    """Whether its rows name images on the web."""
    has_files: ClassVar[bool] = False
    """Whether its rows name files of an image folder."""
    relative_to_table: ClassVar[bool] = False
    """Whether file names are relative to the table's own folder instead of the image folder."""
    folder_optional: ClassVar[bool] = False
    """Whether file names are relative to the table's own folder when no image folder is set."""
    has_languages: ClassVar[bool] = False
    """Whether its rows state their languages, which ``crawl.source.languages`` selects from."""
    columns: ClassVar[int] = 0
    """Number of its fields where they are separated by tabs, so that a spreadsheet could have quoted them; otherwise 0."""

    def __init__(self, quotes: Quotes = "auto") -> None:
        """Create the layout of files with quotation marks as ``crawl.source.quotes`` says."""
        self.quotes = quotes

    @abstractmethod
    def rows(self, path: Path, label: str) -> Iterator[Row]:
        """Yield every row of the file in order, rows that do not fit included; ``label`` names the file in messages.

        Raises:
            HearsightError: the file has another layout; names the line.
        """
