"""The checks of crawl settings that their types alone do not make."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from components.core.errors import HearsightError

if TYPE_CHECKING:
    from components.stages.crawl import Params

NOT_NEGATIVE = (
    "depth", "delay", "retries", "backoff", "min_alt", "sample", "fresh_for", "max_retry_after", "min_side", "max_aspect",
)  # fmt: skip
LIMITS = ("shard_size", "max_pages", "per_host", "connections", "max_page_bytes", "max_image_bytes", "connect_timeout", "timeout")


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
    for name, value in params.budget:
        if value <= 0:
            raise wrong(f"budget.{name}", "must be more than 0", "give a positive number, or leave it out for the default")
    for name in ("snapshot", "base"):
        folder = getattr(params, name)
        named = all(char.isalnum() or char in "-_." for char in folder) and folder[:1] != "."
        if not named or (not folder and name == "snapshot"):
            raise wrong(name, f"'{folder}' cannot name a folder", "use letters, digits, '-', '_' and '.'")
    if params.base and params.source not in ("site", "posts"):
        raise wrong("base", "is set, but only source: site and source: posts are crawled again", "empty it")
    _sound_source(params, wrong)
    if params.web == "open" and not params.contact and not _images_are_local(params):
        raise wrong("contact", "is empty, and a crawl of the open web must say whose it is", "give a URL or a mail address")
    if params.web == "folder" and not params.web_root:
        raise wrong("web_root", "is empty", "name the folder of <host>/ folders")
    return params


def _images_are_local(params: Params) -> bool:
    from components.stages.crawl.sources.layouts import layout_named

    return bool(params.image_folder) or (params.source == "table" and layout_named(params.layout).folder_optional)


def _sound_source(params: Params, wrong: Callable[[str, str, str], HearsightError]) -> None:
    """Hold the settings of a source to what it reads; those of the others must be empty, so that none is set in vain."""
    if params.languages is not None and params.source != "table":
        raise wrong("languages", f"is set, but source: {params.source} does not read it", "leave it out")
    if params.posts is not None and params.source != "posts":
        raise wrong("posts", f"is set, but source: {params.source} does not read it", "leave it out, or change crawl.source")
    if params.source == "posts":
        if params.posts is None:
            raise wrong("posts", "is missing", "tell where the posts come from (docs/posts-to-descriptions.md)")
        idle = ["seeds", "hosts", "layout", "image_folder", "language", "sitemaps"]
        if params.posts.provider != "jsonl":
            idle += ["input_prefix", "sample"]
    elif params.source == "site":
        if not params.seeds:
            raise wrong("seeds", "is empty", "name at least one page")
        idle = ["inputs", "input_prefix", "sample", "layout", "image_folder", "language"]
    else:
        if not params.inputs:
            raise wrong("inputs", "is empty", f"name at least one file for source: {params.source}")
        idle = ["seeds", "hosts"] + (["layout", "image_folder", "language"] if params.source == "archives" else [])
    for name in idle:
        if getattr(params, name):
            raise wrong(name, f"is set, but source: {params.source} does not read it", "empty it, or change crawl.source")
    if params.posts is not None:
        from components.stages.crawl.posts.settings import sound_posts

        sound_posts(params, wrong)
    if params.source != "table":
        return
    from components.stages.crawl.sources.layouts import layout_named

    layout = layout_named(params.layout)
    if layout.has_languages != (params.languages is not None):
        what = "is missing, and its rows tell many" if layout.has_languages else "is set, and its rows tell none"
        raise wrong("languages", f"{what} (layout: {params.layout})", "name those to take, or leave it out")
    if layout.has_languages:
        if params.language or not params.languages:
            raise wrong("languages", "names no language, or crawl.language does as well", "give e.g. [fr, es], and language: ''")
    elif len(params.language) != 2 or not params.language.isalpha() or not params.language.isascii():
        raise wrong("language", f"'{params.language}' is no language", "give the captions' language as ISO 639-1, e.g. en")
    if params.image_folder and not layout.has_files:
        raise wrong("image_folder", f"is set, but layout: {params.layout} names images by address", "empty it")
    if not params.image_folder and not layout.has_urls and not layout.folder_optional:
        raise wrong(
            "image_folder", f"is empty, and layout: {params.layout} names images by file", "name the folder of the images"
        )
