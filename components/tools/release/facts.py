"""The facts of a release of any kind, which its card and its metadata report; names of licences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from components.tools.release.inputs import ReleaseInputs
from components.tools.release.questions import RAI
from components.tools.release.speech import Corpus

STATEMENTS = {
    "licence": "license",
    "creators": "creator",
    "url": "url",
    "published": "datePublished",
    **{entry["stated"]: name for name, entry in RAI.questions.items() if "stated" in entry},
}
"""Publishers' field → property of Croissant 1.1 or its RAI vocabulary that only they know."""
SETTINGS = "settings.json"
SOFTWARE = f"Hearsight {version('hearsight')}"
PUBLISHED_SETTINGS = ("kind", "layout", "language", "provider", "tag", "variants")
"""Settings of ``crawl.source`` that are published: none names an account, or a server, which may be one person's."""
TOGETHER = {
    "group": "no group of near-duplicate images",
    "owner": "no account and no group of near-duplicate images",
    "text": "neither a caption nor an image",
}
"""``split.by`` → what is in one split only."""


@dataclass(frozen=True)
class Facts:
    """What a release holds and who publishes it."""

    inputs: ReleaseInputs
    publisher: Mapping[str, str]
    """The publishers' statements by field (:data:`questions.Publisher`); empty where there is none."""
    examples: Mapping[str, int]
    """Split → number of records."""
    languages: Counter[str]
    """ISO 639-1 → number of records; '' where none is stated."""
    left_out: Mapping[str, str]
    """Key → the reason for which a record of the split is left out."""
    image: str
    """What ``image`` of a record is: a web address, or a file name."""
    corpora: Mapping[str, Corpus] = field(default_factory=dict)
    speech: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Corpus → lineage of the output that it is of."""
    images_licence: str = ""
    """Of the images in the samples; empty where they are left out."""

    @property
    def dataset(self) -> str:
        """The dataset's name."""
        return self.inputs.dataset

    @property
    def total(self) -> int:
        """Number of records."""
        return sum(self.examples.values())

    def plain(self) -> dict[str, Any]:
        """Return the counts of the speech as a flat mapping; nothing without speech."""
        if not self.corpora:
            return {}
        left_out = sum((corpus.left_out for corpus in self.corpora.values()), Counter[str]())
        return {
            "utterances": sum(corpus.utterances for corpus in self.corpora.values()),
            "hours": round(sum(corpus.hours for corpus in self.corpora.values()), 3),
            "speakers": len({name for corpus in self.corpora.values() for name, _ in corpus.speakers}),
            **({"utterances_left_out": dict(sorted(left_out.items()))} if left_out else {}),
        }


def read_statements(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what ``croissant.json`` has of the publishers' statements, by field."""
    return {name: document.get(about, "") for name, about in STATEMENTS.items()}


def find_missing(stated: Mapping[str, Any]) -> list[str]:
    """Return the fields that metadata need and that are empty."""
    return [name for name in STATEMENTS if not stated[name]]


def describe_source(crawl: Mapping[str, Any]) -> str:
    """Return where a crawl's records came from, by its settings; '' where they are not known."""
    names = [name for name in PUBLISHED_SETTINGS if crawl.get("source", {}).get(name) not in (None, "", [])]
    values = {"source" if name == "kind" else name: crawl["source"][name] for name in names}
    values |= {"web": crawl["web"]["kind"]} if "web" in crawl else {}
    return ", ".join(f"{name} {', '.join(map(str, each)) if isinstance(each, list) else each}" for name, each in values.items())


def limitations(facts: Facts) -> list[str]:
    """Return sentences on what the records lack, as measured."""
    lines = []
    if together := TOGETHER.get(str(facts.inputs.settings["split"].get("by", ""))):
        lines.append(f"By its rule, {together} is in two splits.")
    languages = ", ".join(f"{name or 'not stated'} {number:,}" for name, number in sorted(facts.languages.items()))
    lines.append(f"Records by language: {languages}.")
    reasons = sorted(Counter(facts.left_out.values()).items())
    lines += [f"Left out of this release as `{reason}`: {number:,} records." for reason, number in reasons]
    for name, corpus in facts.corpora.items():
        if any(origin == "synthetic" for _, origin in corpus.speakers):
            lines.append(f"The speech of {name} is synthetic, by {len(corpus.speakers)} voices.")
    return lines


def hub_licence(stated: str) -> dict[str, str]:
    """Return the ``license`` entries of a card: a hub's identifier, ``other`` with the stated name, or ``unknown`` for ''."""
    if not stated:
        return {"license": "unknown"}
    if name := _identify(stated):
        return {"license": name.lower()}
    return {"license": "other", "license_name": stated}


def licence_address(stated: str) -> str:
    """Return the web address of a licence; '' if it is not known."""
    if stated.lower().startswith(("http://", "https://")):
        return stated
    name = _identify(stated)
    return f"https://spdx.org/licenses/{name}.html" if name else ""


def _identify(stated: str) -> str:
    """Return a licence's SPDX identifier, which hubs write in lower case; '' if it has none."""
    name = "CC0-1.0" if stated.upper() == "CC0" else stated.replace(" ", "-")
    try:
        found = canonicalize_license_expression(name)
    except InvalidLicenseExpression:
        return ""
    return "" if found.startswith("LicenseRef-") else found
