"""Layouts of existing image–caption sets: one small class each, from a file to its rows.

The names are those of ``crawl.layout``. Tables of lines: ``lines``, ``tsv``, ``flickr``, ``stamps``; JSON: ``documents``,
``coco``, ``pracegover``. Not in scope: whether an address or a caption is any good (``records``), and reading images (``local``).
"""

from __future__ import annotations

from components.core.errors import HearsightError
from components.stages.crawl.sources.layouts.coco import Coco, Karpathy
from components.stages.crawl.sources.layouts.flickr import Flickr8k, Flickr30k
from components.stages.crawl.sources.layouts.pracegover import PraCegoVer, PraCegoVerRaw
from components.stages.crawl.sources.layouts.row import Layout, Row
from components.stages.crawl.sources.layouts.stamps import Stamps
from components.stages.crawl.sources.layouts.tsv import ConceptualCaptions, ConceptualCaptions12M, ConceptualCaptionsLabels

__all__ = ["LAYOUTS", "Layout", "Row", "layout_named"]

LAYOUTS: dict[str, type[Layout]] = {
    kind.name: kind
    for kind in (
        ConceptualCaptions,
        ConceptualCaptionsLabels,
        ConceptualCaptions12M,
        Coco,
        Karpathy,
        Flickr8k,
        Flickr30k,
        PraCegoVer,
        PraCegoVerRaw,
        Stamps,
    )
}


def layout_named(name: str) -> Layout:
    """The layout of that name.

    Raises:
        HearsightError: there is none.
    """
    if name not in LAYOUTS:
        raise HearsightError(f"'{name}' is no layout", where="params.yaml: crawl.layout", hint=f"known are: {', '.join(LAYOUTS)}")
    return LAYOUTS[name]()
