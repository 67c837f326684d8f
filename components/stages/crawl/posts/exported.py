"""Exported posts: a JSON lines file with one post per line (``provider: jsonl``, docs/posts-to-descriptions.md).

A line has ``id``, ``url``, ``owner``, ``posted``, ``collected`` and ``caption``, and ``images``: a list of objects with ``file``
(relative to the posts' own folder) or ``url``, and optionally ``alt`` and ``type`` (image or video). Optional: ``language`` and
``visibility`` (public, unlisted, private ...). Each line that does not fit is a ledger row with its line number.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.execution.stage import Job, Task
from components.stages.crawl.posts.conversion import drop_repeated, post_to_pages
from components.stages.crawl.posts.fields import (
    Unfit,
    read_caption,
    read_identifier,
    read_language,
    read_list,
    read_object,
    read_text,
    read_time,
)
from components.stages.crawl.posts.post import Media, Post, apply_rules
from components.stages.crawl.sources.inputs import input_path, write_found
from components.stages.crawl.sources.layouts.lines import read_lines
from components.stages.crawl.sources.layouts.quotes import Line
from components.stages.crawl.sources.local_images import ImageFolderSource, name_below
from components.stages.crawl.sources.source_pages import SourcePage
from components.web.answers import Answers
from components.web.fetch import Fetcher

PROBED_LINES = 20
"""Leading lines of which at least one must be a JSON object."""
PUBLIC = ("public", "unlisted", "")
"""Values of ``visibility`` that are collected."""


class ExportedSource(ImageFolderSource):
    """See :class:`components.stages.crawl.sources.source_pages.Source`."""

    layout_settings = ("tags",)

    @property
    def beside(self) -> bool:
        return not self.source.image_folder

    def settings(self) -> dict[str, Any]:
        folder = self.source.image_folder
        return super().settings() | ({"image_folder": folder} if folder else {})

    def read(self, jobs: list[Job]) -> list[Path]:
        return self.run_jobs(read_export_job, jobs, tags=self.source.tags, folder=self.image_folder if self.beside else "")

    def pages(self, answers: Answers, live: Fetcher | None) -> Iterator[SourcePage]:
        """Yield the posts in the order of the lines, each post once."""
        seen: set[tuple[str, str]] = set()
        for page in super().pages(answers, live):
            if answers.consent.opt_in and page.row and not page.row["rule"]:
                answers.grant([candidate.image_url for candidate in page.candidates if candidate.image_url])
            yield drop_repeated(page, seen)


def read_export_job(spec: dict[str, str], task: Task, folder: Path) -> None:
    """Job: write the posts of one file as source pages."""
    pages = read_export(Path(input_path(spec, task)), spec["name"], task.params["tags"], task.params["folder"])
    write_found(folder, task, pages)


def read_export(path: Path, label: str, tags: Sequence[str], images: str = "") -> Iterator[SourcePage]:
    """Yield the posts of a file, line by line.

    Args:
        path: of the file.
        label: its name in messages and records.
        tags: the hashtags of which a post must have one.
        images: the folder that images get names in, if those in the file are relative to its own folder; '' leaves the names.

    Raises:
        HearsightError: none of its first lines is a JSON object, or it is not a complete gzip file.
    """
    objects = 0
    for line in read_lines(path, label):
        if not line.text.strip() and not line.fault:
            continue
        pages, is_object = _parse_line(line, label, tags, images)
        objects += is_object
        if line.number >= PROBED_LINES and not objects:
            break
        yield from pages
    if not objects:
        raise HearsightError(
            "holds no JSON object in its first lines",
            where=label,
            hint="give a file of one post a line (docs/posts-to-descriptions.md)",
        )


def _parse_line(line: Line, label: str, tags: Sequence[str], images: str) -> tuple[list[SourcePage], bool]:
    """Return the source pages of a line, and whether it is a JSON object."""
    number, text, fault = line
    origin: dict[str, Any] = {"archive": label, "offset": number}
    is_object = False
    try:
        if fault:
            raise Unfit(*fault)
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            raise Unfit("not_json", "no JSON", "JSON") from None
        is_object = isinstance(value, dict)
        owner, post = _parse_post(value)
        if images:
            post = replace(post, media=tuple(replace(media, file=name_below(images, label, media.file)) for media in post.media))
    except Unfit as unfit:
        return [SourcePage.drop(f"{label}:{number}", *unfit.reason, f"in {label} at {number}", **origin)], is_object
    pages = []
    for page in post_to_pages(apply_rules(post, tags), owner):
        row_with_line = {**page.row, "detail": f"{page.row['detail']}, in {label} at {number}"} if page.row else None
        pages.append(replace(page, row=row_with_line, **origin))
    return pages, is_object


def _parse_post(value: Any) -> tuple[str, Post]:
    """Return (owner, post) of a line; raises Unfit."""
    record = read_object(value, "a line")
    owner = read_text(record, "owner").lstrip("@")
    if len(owner) > 300:
        raise Unfit("wrong_type", f"owner has {len(owner)} characters", "a name")
    post_id, posted, collected = read_identifier(record, "id"), read_time(record, "posted"), read_time(record, "collected")
    url, visibility = read_text(record, "url"), read_text(record, "visibility", required=False).lower()
    media = tuple(_parse_media(image, number) for number, image in enumerate(read_list(record, "images")))
    post = Post(post_id, url, read_caption(record, "caption"), posted, read_language(record), media, collected)
    if visibility not in PUBLIC:
        post = replace(post, rule="not_public", value=visibility[:40], threshold="public unlisted")
    return owner, post


def _parse_media(value: Any, number: int) -> Media:
    record = read_object(value, "an image")
    media_type = read_text(record, "type", required=False).lower() or "image"
    kind = media_type if media_type in ("image", "video") else "other"
    return Media(str(number), kind, *(read_text(record, name, required=False) for name in ("url", "alt", "file")))
