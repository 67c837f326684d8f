"""Exported posts: a file of JSON lines, one post a line (``posts.provider: jsonl``, docs/posts-to-descriptions.md).

A line has ``id``, ``url``, ``owner``, ``posted``, ``collected`` and ``caption``, and ``images``: a list of objects with ``url``
and perhaps ``alt`` and ``type`` (image or video). It may have ``language`` and ``visibility`` (public, unlisted, private ...).
Each line that does not fit is a ledger row with its number.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.core.ledger import dropped
from components.execution.stage import Job, Task
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
from components.stages.crawl.posts.found import drop_repeated, post_to_pages
from components.stages.crawl.posts.post import Media, Post, apply_rules
from components.stages.crawl.sources.files import INPUT_SETTINGS, PAGES_FILE, STEP, FileSource, input_path
from components.stages.crawl.sources.found import SourcePage, write_pages
from components.stages.crawl.sources.layouts.lines import MAX_LINE, read_numbered_lines
from components.stages.crawl.sources.taken import redact_page
from components.web.answers import Answers
from components.web.fetch import Fetcher
from components.web.takedown_list import Takedown

LOOKED_AT = 20
"""Lines a file is known by: when none of them is a JSON object, it is something else."""
PUBLIC = ("public", "unlisted", "")


class ExportedSource(FileSource):
    """See :class:`components.stages.crawl.sources.Source`."""

    def settings(self) -> dict[str, Any]:
        """The files named and the hashtags looked for."""
        return {
            "source": "posts",
            "tags": self.params.posts.tags,
            **{name: getattr(self.params, name) for name in INPUT_SETTINGS},
        }

    def read(self, jobs: list[Job]) -> list[Path]:
        """One job a file."""
        return self.stage.jobs(
            read_export_job, jobs, step=STEP, params={"tags": self.params.posts.tags, "takedown": self.taken.plain()}
        )

    def pages(self, answers: Answers, live: Fetcher | None) -> Iterator[SourcePage]:
        """Every line, each post once."""
        seen: set[tuple[str, str]] = set()
        for page in super().pages(answers, live):
            if answers.consent.opt_in and page.row and not page.row["rule"]:
                answers.grant([one.image_url for one in page.candidates if one.image_url])
            yield drop_repeated(page, seen)


def read_export_job(spec: dict[str, str], task: Task, folder: Path) -> None:
    """A job: the posts of one file."""
    taken = Takedown.of(task.params["takedown"])
    pages = read_export(Path(input_path(spec, task)), spec["name"], task.params["tags"])
    write_pages(folder / PAGES_FILE, (redact_page(page, taken) for page in pages))


def read_export(path: Path, shown: str, tags: Sequence[str]) -> Iterator[SourcePage]:
    """The posts of a file, line by line.

    Raises:
        HearsightError: none of its first lines is a JSON object, or it is no whole gzip file.
    """
    fitting = 0
    try:
        for number, line in read_numbered_lines(path):
            if not line.strip():
                continue
            pages, is_object = _of_line(number, line, shown, tags)
            fitting += is_object
            if number >= LOOKED_AT and not fitting:
                break
            yield from pages
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise HearsightError(f"is not a whole gzip file ({error})", where=shown, hint="fetch it again") from None
    if not fitting:
        raise HearsightError(
            "holds no JSON object in its first lines",
            where=shown,
            hint="give a file of one post a line (docs/posts-to-descriptions.md)",
        )


def _of_line(number: int, line: bytes, shown: str, tags: Sequence[str]) -> tuple[list[SourcePage], bool]:
    place: dict[str, Any] = {"archive": shown, "offset": number}
    is_object = False
    try:
        if len(line) > MAX_LINE:
            raise Unfit("row_too_long", f"over {MAX_LINE} bytes", f"{MAX_LINE} bytes")
        try:
            value = json.loads(line.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            raise Unfit("bad_encoding", f"byte 0x{line[error.start]:02x} at {error.start}", "UTF-8") from None
        except (ValueError, RecursionError):
            raise Unfit("not_json", "no JSON", "JSON") from None
        is_object = isinstance(value, dict)
        owner, post = _post(value)
    except Unfit as unfit:
        row = dropped(
            f"{shown}:{number}", unfit.rule, unfit.value, unfit.threshold, kind="page", detail=f"in {shown} at {number}"
        )
        return [SourcePage(row, **place)], is_object
    pages = []
    for page in post_to_pages(apply_rules(post, tags), owner):
        located = {**page.row, "detail": f"{page.row['detail']}, in {shown} at {number}"} if page.row else None
        pages.append(replace(page, row=located, **place))
    return pages, is_object


def _post(value: Any) -> tuple[str, Post]:
    """(owner, post) of a line; raises Unfit."""
    record = read_object(value, "a line")
    owner = read_text(record, "owner").lstrip("@")
    if len(owner) > 300:
        raise Unfit("wrong_type", f"owner has {len(owner)} characters", "a name")
    known, posted, collected = read_identifier(record, "id"), read_time(record, "posted"), read_time(record, "collected")
    url, said = read_text(record, "url"), read_text(record, "visibility", required=False).lower()
    media = tuple(_media(one, number) for number, one in enumerate(read_list(record, "images")))
    post = Post(known, url, read_caption(record, "caption"), posted, read_language(record), media, collected)
    if said not in PUBLIC:
        post = replace(post, rule="not_public", value=said[:40], threshold="public unlisted")
    return owner, post


def _media(value: Any, number: int) -> Media:
    record = read_object(value, "an image")
    kind = read_text(record, "type", required=False).lower() or "image"
    known = kind if kind in ("image", "video") else "other"
    return Media(str(number), known, read_text(record, "url", required=False), read_text(record, "alt", required=False))
