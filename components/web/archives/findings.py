"""The result of reading an archive: a page with its candidates, or a part that could not be read."""

from __future__ import annotations

from dataclasses import dataclass

from components.web.html.page import Candidate


@dataclass(frozen=True)
class ArchivePage:
    """One page of an archive, or one part that could not be read (then ``failure`` is set)."""

    url: str
    """The page's address as the archive states it; '' for a failure when the record is too broken to tell."""
    candidates: list[Candidate]
    """The page's ``<img>`` in document order; empty for a failure."""
    language: str
    """ISO 639-1 code, declared or guessed; ``un`` when unknown."""
    noindex: bool
    """Whether a meta tag or X-Robots-Tag of the page asks to be kept out of collections."""
    archive: str
    """The archive's path or address as given; for a WACZ followed by ``/`` and the inner file's name."""
    offset: int
    """Start of the record in bytes of the stored archive, or of the file inside a WACZ."""
    failure: str = ""
    """'' or truncated | bad_gzip | not_gzip | bad_zstd | not_zstd | bad_zip | bad_record | wrong_length | too_large |
    bad_encoding | bad_metadata | page_over_budget."""
    detail: str = ""
    """One line that describes the failure."""
    inner: str = ""
    """The name of the file inside a WACZ."""
