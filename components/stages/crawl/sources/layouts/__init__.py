"""Layouts of existing image–caption sets: one small class each, which reads a file into rows.

The names are those of ``crawl.source.layout``. Line-based: ``lines``, ``tsv``, ``stamps``; JSON: ``documents``. A new layout is a
class and a line in :data:`LAYOUTS`.
"""

from __future__ import annotations

from pkgutil import resolve_name

from components.core.errors import HearsightError
from components.core.params import did_you_mean
from components.stages.crawl.sources.layouts.quotes import Quotes
from components.stages.crawl.sources.layouts.row import Layout, Row

__all__ = ["LAYOUTS", "Layout", "Quotes", "Row", "layout_named"]

LAYOUTS = {
    "tsv": "components.stages.crawl.sources.layouts.tsv:CaptionedFiles",
    "csv": "components.stages.crawl.sources.layouts.tsv:CsvFiles",
    "cc3m": "components.stages.crawl.sources.layouts.tsv:ConceptualCaptions",
    "cc3m_labels": "components.stages.crawl.sources.layouts.tsv:ConceptualCaptionsLabels",
    "cc12m": "components.stages.crawl.sources.layouts.tsv:ConceptualCaptions12M",
    "coco": "components.stages.crawl.sources.layouts.documents:Coco",
    "karpathy": "components.stages.crawl.sources.layouts.documents:Karpathy",
    "flickr8k": "components.stages.crawl.sources.layouts.tsv:Flickr8k",
    "flickr30k": "components.stages.crawl.sources.layouts.tsv:Flickr30k",
    "pracegover": "components.stages.crawl.sources.layouts.documents:PraCegoVer",
    "pracegover_raw": "components.stages.crawl.sources.layouts.documents:PraCegoVerRaw",
    "stamps": "components.stages.crawl.sources.layouts.stamps:Stamps",
}
"""Name → class."""


def layout_named(name: str, where: str = "crawl.source.layout", quotes: Quotes = "auto") -> Layout:
    """Return the layout with that name. Raises HearsightError: there is none."""
    if name not in LAYOUTS:
        raise HearsightError(f"'{name}' is no layout", where=where, hint=did_you_mean(name, LAYOUTS))
    layout: Layout = resolve_name(LAYOUTS[name])(quotes)
    return layout
