"""The checks of crawl settings that their types alone do not make."""

from __future__ import annotations

from collections.abc import Callable

from components.core.errors import HearsightError
from components.stages.crawl import Params
from components.stages.crawl.source_settings import Files, Table, sound_posts
from components.stages.crawl.sources.layouts import layout_named

NOT_NEGATIVE = ("delay", "retries", "backoff", "min_alt", "fresh_for", "max_retry_after", "min_side", "max_aspect")
LIMITS = ("shard_size", "per_host", "connections", "max_page_bytes", "max_image_bytes", "connect_timeout", "timeout")


def sound(params: Params) -> Params:
    """The parameters, after the checks that types alone do not make."""

    def wrong(name: str, what: str, hint: str) -> HearsightError:
        return HearsightError(what, where=f"params.yaml: crawl.{name}", hint=hint)

    for name in LIMITS:
        if getattr(params, name) <= 0:
            raise wrong(name, "must be more than 0", "give a positive number")
    for name in NOT_NEGATIVE:
        if getattr(params, name) < 0:
            raise wrong(name, "must not be negative", "give 0 or more")
    source = params.source
    for name, least in (("max_pages", 1), ("depth", 0), ("sample", 0)):
        if getattr(source, name, least) < least:
            raise wrong(f"source.{name}", f"must be {least} or more", "raise it")
    for name, value in params.budget:
        if value <= 0:
            raise wrong(f"budget.{name}", "must be more than 0", "give a positive number, or leave it out for the default")
    for name in ("snapshot", "base"):
        folder = getattr(params, name)
        named = all(char.isalnum() or char in "-_." for char in folder) and folder[:1] != "."
        if not named or (not folder and name == "snapshot"):
            raise wrong(name, f"'{folder}' cannot name a folder", "use letters, digits, '-', '_' and '.'")
    if params.base and source.kind not in ("site", "posts"):
        raise wrong("base", "is set, but only sources of kind site and posts are crawled again", "empty it")
    _sound_source(params, wrong)
    is_local = source.kind == "table" and (bool(source.image_folder) or layout_named(source.layout).folder_optional)
    if params.web.kind == "open" and not params.contact and not is_local:
        raise wrong("contact", "is empty, and a crawl of the open web must say whose it is", "give a URL or a mail address")
    if params.web.kind == "folder" and not params.web.root:
        raise wrong("web.root", "is empty", "name the folder of <host>/ folders")
    return params


def _sound_source(params: Params, wrong: Callable[[str, str, str], HearsightError]) -> None:
    source = params.source
    if source.kind == "site":
        if not source.seeds:
            raise wrong("source.seeds", "is empty", "name at least one page")
        return
    if isinstance(source, Files) and not source.inputs:
        raise wrong("source.inputs", "is empty", "name at least one file")
    if source.kind == "posts":
        sound_posts(params, wrong)
    elif source.kind == "table":
        _sound_table(source, wrong)


def _sound_table(source: Table, wrong: Callable[[str, str, str], HearsightError]) -> None:
    layout = layout_named(source.layout)
    if layout.has_languages != bool(source.languages):
        what = "is empty, and its rows tell many" if layout.has_languages else "is set, and its rows tell none"
        raise wrong("source.languages", f"{what} (layout: {source.layout})", "name those to take, or leave it out")
    if layout.has_languages:
        if source.language:
            raise wrong("source.language", "is set, and source.languages as well", "leave it out")
    elif len(source.language) != 2 or not source.language.isalpha() or not source.language.isascii():
        raise wrong("source.language", f"'{source.language}' is no language", "give the captions' language as ISO 639-1, e.g. en")
    if source.image_folder and not layout.has_files:
        raise wrong("source.image_folder", f"is set, but layout: {source.layout} names images by address", "empty it")
    if not source.image_folder and not layout.has_urls and not layout.folder_optional:
        what = f"is empty, and layout: {source.layout} names images by file"
        raise wrong("source.image_folder", what, "name the folder of the images")
