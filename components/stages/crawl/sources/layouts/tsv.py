"""Conceptual Captions as published: TSV files without a header, UTF-8, no quoting.

3M (CC): ``caption, url``. Its labelled subset: ``caption, url, labels, MIDs, confidences``, the last three comma-separated and of
equal length. 12M (Changpinyo et al. 2021): ``url, caption``.
"""

from __future__ import annotations

import re

from components.stages.crawl.sources.layouts.lines import LineLayout, wrong_field_count
from components.stages.crawl.sources.layouts.row import Row

_ADDRESS = re.compile(r"\s*https?://[^/\s]", re.I)


class ConceptualCaptions(LineLayout):
    """3M, training and validation: ``caption<TAB>url``."""

    name = "cc3m"
    fields = "caption<TAB>url"
    has_urls = True

    def row(self, number: int, text: str) -> Row:
        """See :class:`LineLayout`."""
        parts = text.split("\t")
        return _pair(number, parts[0], parts[1]) if len(parts) == 2 else wrong_field_count(number, len(parts), self.fields)


class ConceptualCaptions12M(LineLayout):
    """12M: ``url<TAB>caption``."""

    name = "cc12m"
    fields = "url<TAB>caption"
    has_urls = True

    def row(self, number: int, text: str) -> Row:
        """See :class:`LineLayout`."""
        parts = text.split("\t")
        return _pair(number, parts[1], parts[0]) if len(parts) == 2 else wrong_field_count(number, len(parts), self.fields)


class ConceptualCaptionsLabels(LineLayout):
    """3M with machine labels: ``caption<TAB>url<TAB>labels<TAB>MIDs<TAB>confidences``."""

    name = "cc3m_labels"
    fields = "caption<TAB>url<TAB>labels<TAB>MIDs<TAB>confidences"
    has_urls = True

    def row(self, number: int, text: str) -> Row:
        """See :class:`LineLayout`; the labels are validated and not kept."""
        parts = text.split("\t")
        if len(parts) != 5:
            return wrong_field_count(number, len(parts), self.fields)
        labels, mids, confidences = (part.split(",") if part else [] for part in parts[2:])
        if not len(labels) == len(mids) == len(confidences):
            value = f"{len(labels)} labels, {len(mids)} MIDs, {len(confidences)} confidences"
            return Row(number, parts[0], parts[1], rule="unequal_labels", value=value, threshold="as many of each")
        for confidence in confidences:
            if not re.fullmatch(r"\s*(0(\.\d*)?|1(\.0*)?|\d(\.\d+)?e-\d+)\s*", confidence, re.ASCII | re.I):
                return Row(number, rule="bad_row", value=f"confidence '{confidence[:40]}'", threshold="0 to 1")
        return _pair(number, parts[0], parts[1])


def _pair(number: int, caption: str, url: str) -> Row:
    if not _ADDRESS.match(url):
        value = f"'{url[:60]}' is no address"
        return Row(number, rule="unusable_url", value=value, threshold="http or https")
    return Row(number, caption, url)
