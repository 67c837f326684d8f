"""Crawl stage: collect <image, alt-text> candidates from the web (CC §3).

The stage completes the snapshot named by its parameters by a polite crawl into an append-only store. It then turns the snapshot
into CANDIDATE records without network access; equal snapshots give equal bytes. This module holds the parameters; sources of
candidates are in ``sources`` and ``posts``, record building in ``records``.
"""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlsplit

from components.core.params import Amount, NotNegative, Positive, tags_of
from components.stages.crawl.source_kinds import SOURCES, AnySource
from components.stages.crawl.source_settings import Site, wrong_setting
from components.web.consent.policy import RULES
from components.web.settings import FetchSettings, OpenWeb, Web
from components.web.urls import is_private, normalise

RULE_SETTINGS: dict[str, tuple[str, ...]] = {
    "private_address": ("allow_private",),
    "no_consent": ("consent", "consenting"),
    **dict.fromkeys(RULES[:-1], ("uses",)),
    "crawl_delay": ("budget.crawl_delay",),
    "host_failing": ("budget.host_failures",),
    "timeout": ("timeout",),
    "retry_later": ("max_retry_after",),
    "page_limit": ("source.max_pages",),
    "depth": ("source.depth",),
    "no_hashtag": ("source.tag", "source.variants"),
    "missing_file": ("source.image_folder",),
    "outside_folder": ("source.image_folder",),
    "unclear_quotes": ("source.quotes",),
    "empty_alt": ("min_alt",),
    "alt_too_long": ("budget.alt_characters",),
    "too_large": ("max_image_bytes",),
    "page_too_large": ("max_page_bytes",),
    "image_side": ("min_side",),
    "image_ratio": ("max_aspect",),
}
"""Rule of the ledger → the settings of ``Params`` that set its threshold; the other rules have none."""


class Params(FetchSettings):
    """What is crawled and how."""

    snapshot: str = ""
    """Name of the snapshot that records are made from; a new name starts a new crawl. Required."""
    base: str = ""
    """Complete snapshot to build on: its URLs get conditional requests, its records keep their shards; '' for none."""
    fresh_for: Amount = 30.0
    """Days for which an image without ETag or Last-Modified is not requested again; 0: always requested. Ours."""
    source: AnySource = Site()
    """Where candidates come from, by ``kind``: site, archives, table or posts."""
    web: Web = OpenWeb()
    """Where requests are sent, by ``kind``: the sample web, a local folder, or the open web."""
    tdmrep: bool = True
    """Whether each host is asked for /.well-known/tdmrep.json; such headers and meta tags always count. Ours."""
    consent: Literal["opt_out", "opt_in"] = "opt_out"
    """opt_out: collect unless refused; opt_in: collect only with consent. Ours; CC and PCV check neither."""
    uses: list[Literal["train", "generate", "input", "search"]] = ["train", "generate", "search"]
    """What the data is used for: to train models, models that generate, as input of models that answer, in an index for search; a
    refusal of one of them counts. Ours."""
    consenting: list[str] = []
    """For opt_in: hosts whose owners have given consent by other means."""
    min_alt: NotNegative = 1
    """Characters an alt-text needs at least (1: any). Ours."""
    shard_size: Positive = 500
    """Maximum records per shard. Ours."""

    def check(self, where: str) -> None:
        """Require names of folders, and what the source needs."""
        if not self.uses:
            raise wrong_setting(where, "uses", "is empty", "name what the data is used for: train, generate, input or search")
        source = self.source
        for name in ("snapshot", "base"):
            folder = getattr(self, name)
            named = all(char.isalnum() or char in "-_." for char in folder) and folder[:1] != "."
            if not named or (not folder and name == "snapshot"):
                raise wrong_setting(where, name, f"'{folder}' cannot name a folder", "use letters, digits, '-', '_' and '.'")
        if self.base and not source.takes_base:
            again = " and ".join(dict.fromkeys(tags_of(kind)["kind"] for kind in SOURCES if kind.takes_base))
            raise wrong_setting(where, "base", f"is set, but only sources of kind {again} are crawled again", "empty it")
        source.check_within(self, where)
        hosts = [urlsplit(normalise(url) or "").hostname or "" for url in source.first_urls]
        if self.web.kind == "open" and not self.allow_private and hosts and all(map(is_private, hosts)):
            hint = "give --allow-private to `hearsight dataset add`, or set crawl.allow_private to true in the dataset's file"
            raise wrong_setting(where, "allow_private", f"{hosts[0]} is a private address, which is not asked", hint)
        if not source.is_local:
            self.require_contact(where)
        if self.web.kind == "folder" and not self.web.root:
            raise wrong_setting(where, "web.root", "is empty", "name the folder of <host>/ folders")

    def require_contact(self, where: str) -> None:
        """Raise HearsightError if the open web is asked without a contact."""
        if self.web.kind == "open" and not self.contact:
            what, hint = "is empty; a crawl of the open web must give a contact", "give a URL or a mail address"
            raise wrong_setting(where, "contact", what, hint)
