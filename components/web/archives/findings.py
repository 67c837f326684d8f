"""What an archive gives: a page with its candidates, or a part of it that could not be read."""

from __future__ import annotations

from dataclasses import dataclass

from components.web.html.page import Candidate


@dataclass(frozen=True)
class ArchivePage:
    """One page of an archive, or one failure to read a part of it (then ``failure`` is not empty)."""

    url: str
    """The page's address as the archive gives it; of a failure '' when the record was too broken to tell."""
    candidates: list[Candidate]
    """Its ``<img>`` in document order; empty for a failure."""
    language: str
    """ISO 639-1 code, or ``un``: declared, guessed from the text, or unknown."""
    noindex: bool
    """The page, in a meta tag or an X-Robots-Tag, asks to be kept out of collections."""
    archive: str
    """The archive's path or address, as given; of a WACZ followed by ``/`` and the name of the file inside it."""
    offset: int
    """Where the record begins, in bytes of the archive, or of the file inside it, as stored (compressed when it is)."""
    failure: str = ""
    """'' or truncated | bad_gzip | not_gzip | bad_zstd | not_zstd | bad_zip | bad_record | wrong_length | too_large |
    bad_encoding | bad_metadata | page_over_budget."""
    detail: str = ""
    """One line for a person on what went wrong."""
    inner: str = ""
    """The name of the file inside a WACZ."""
