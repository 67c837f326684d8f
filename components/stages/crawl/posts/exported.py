"""Exported posts: a file of JSON lines, one post a line (``provider: jsonl``, docs/posts-to-descriptions.md).

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
from components.stages.crawl.posts.fields import Unfit, caption, identifier, language, listed, mapping, moment, text
from components.stages.crawl.posts.found import once, pages_of_post
from components.stages.crawl.posts.post import Media, Post, judged
from components.stages.crawl.sources.files import CHOSEN_BY, FINDINGS, STEP, FileSource, path_of
from components.stages.crawl.sources.found import SourcePage, write_found
from components.stages.crawl.sources.layouts.lines import MAX_LINE, numbered_lines
from components.stages.crawl.sources.taken import without_listed
from components.web.answers import Answers
from components.web.fetch import Fetcher
from components.web.takedown_list import Takedown

LOOKED_AT = 20
"""Lines a file is known by: when none of them is a JSON object, it is something else."""
SEEN = ("public", "unlisted", "")


class ExportedSource(FileSource):
    """See :class:`components.stages.crawl.sources.Source`."""

    def settings(self) -> dict[str, Any]:
        """The files named and the hashtags looked for."""
        return {"source": "posts", "tags": self.source.tags, **{name: getattr(self.source, name) for name in CHOSEN_BY}}

    def read(self, jobs: list[Job]) -> list[Path]:
        """One job a file."""
        return self.stage.jobs(read_one, jobs, step=STEP, params={"tags": self.source.tags, "takedown": self.taken.plain()})

    def pages(self, answers: Answers, live: Fetcher | None) -> Iterator[SourcePage]:
        """Every line, each post once."""
        seen: set[tuple[str, str]] = set()
        for page in super().pages(answers, live):
            if answers.consent.opt_in and page.row and not page.row["rule"]:
                answers.grant([one.image_url for one in page.candidates if one.image_url])
            yield once(page, seen)


def read_one(spec: dict[str, str], task: Task, folder: Path) -> None:
    """A job: the posts of one file."""
    taken = Takedown.of(task.params["takedown"])
    pages = pages_of_file(Path(path_of(spec, task)), spec["name"], task.params["tags"])
    write_found(folder / FINDINGS, (without_listed(page, taken) for page in pages))


def pages_of_file(path: Path, shown: str, tags: Sequence[str]) -> Iterator[SourcePage]:
    """The posts of a file, line by line.

    Raises:
        HearsightError: none of its first lines is a JSON object, or it is no whole gzip file.
    """
    fitting = 0
    try:
        for number, line in numbered_lines(path):
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
    for page in pages_of_post(judged(post, tags), owner):
        located = {**page.row, "detail": f"{page.row['detail']}, in {shown} at {number}"} if page.row else None
        pages.append(replace(page, row=located, **place))
    return pages, is_object


def _post(value: Any) -> tuple[str, Post]:
    """(owner, post) of a line; raises Unfit."""
    record = mapping(value, "a line")
    owner = text(record, "owner").lstrip("@")
    if len(owner) > 300:
        raise Unfit("wrong_type", f"owner has {len(owner)} characters", "a name")
    known, posted, collected = identifier(record, "id"), moment(record, "posted"), moment(record, "collected")
    url, said = text(record, "url"), text(record, "visibility", required=False).lower()
    media = tuple(_media(one, number) for number, one in enumerate(listed(record, "images")))
    post = Post(known, url, caption(record, "caption"), posted, language(record), media, collected)
    if said not in SEEN:
        post = replace(post, rule="not_public", value=said[:40], threshold="public unlisted")
    return owner, post


def _media(value: Any, number: int) -> Media:
    record = mapping(value, "an image")
    kind = text(record, "type", required=False).lower() or "image"
    known = kind if kind in ("image", "video") else "other"
    return Media(str(number), known, text(record, "url", required=False), text(record, "alt", required=False))
