"""The checks of crawl settings that their types alone do not make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.core.errors import HearsightError
from components.core.params import tags_of
from components.stages.crawl.source_kinds import SOURCES

if TYPE_CHECKING:
    from components.stages.crawl import Params

NOT_NEGATIVE = ("delay", "retries", "backoff", "min_alt", "fresh_for", "max_retry_after", "min_side", "max_aspect")
LIMITS = ("shard_size", "per_host", "connections", "max_page_bytes", "max_image_bytes", "connect_timeout", "timeout")


def sound(params: Params) -> Params:
    """Return ``params`` if they pass the checks beyond types; raise HearsightError for the first that fails."""

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
    if params.base and not source.takes_base:
        again = dict.fromkeys(tags_of(kind)["kind"] for kind in SOURCES if kind.takes_base)
        raise wrong("base", f"is set, but only sources of kind {' and '.join(again)} are crawled again", "empty it")
    source.check(params, wrong)
    if params.web.kind == "open" and not params.contact and not source.is_local:
        raise wrong("contact", "is empty; a crawl of the open web must give a contact", "give a URL or a mail address")
    if params.web.kind == "folder" and not params.web.root:
        raise wrong("web.root", "is empty", "name the folder of <host>/ folders")
    return params
