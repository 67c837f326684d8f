"""Layouts with one row per line of two or more fields: Conceptual Captions, Flickr8k and Flickr30k, own files.

Conceptual Captions: 3M (CC) is ``caption, url``; its labelled subset ``caption, url, labels, MIDs, confidences``, the last three
comma-separated and of equal length; 12M (Changpinyo et al. 2021) ``url, caption``. Flickr8k (``Flickr8k.token.txt``) and
Flickr30k (``results_20130124.token``): ``name.jpg#0<TAB>caption``; its other form ``results.csv``: ``name.jpg| 0| caption``
under a header. Own files: ``caption<TAB>path`` with or without that header, or the same as CSV; paths are relative to
``crawl.source.image_folder``, or to the table's own folder where that is empty.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from components.core.errors import HearsightError
from components.stages.crawl.sources.layouts.lines import PROBED_LINES, LineLayout, read_lines, wrong_field_count
from components.stages.crawl.sources.layouts.row import Row

_ADDRESS = re.compile(r"\s*https?://[^/\s]", re.I)


class ConceptualCaptions(LineLayout):
    """Conceptual Captions 3M (``Train_GCC-training.tsv``): a line has caption, url."""

    name = "cc3m"
    fields = "caption<TAB>url"
    columns = 2
    has_urls = True
    caption_column = 0

    def row(self, number: int, text: str) -> Row:
        parts = text.split("\t")
        if len(parts) != 2:
            return wrong_field_count(number, len(parts), self.fields)
        return _pair(number, parts[self.caption_column], parts[1 - self.caption_column])


class ConceptualCaptions12M(ConceptualCaptions):
    """Conceptual Captions 12M (``cc12m.tsv``): a line has url, caption."""

    name = "cc12m"
    fields = "url<TAB>caption"
    caption_column = 1


class ConceptualCaptionsLabels(LineLayout):
    """3M with machine labels (``Image_Labels_Subset_…``): caption, url, labels, MIDs, confidences; labels are not kept."""

    name = "cc3m_labels"
    fields = "caption<TAB>url<TAB>labels<TAB>MIDs<TAB>confidences"
    columns = 5
    has_urls = True

    def row(self, number: int, text: str) -> Row:
        # The labels are validated and not kept.
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


_TOKEN = re.compile(r"(?P<file>[^\t]+)#(?P<number>\d+)\t(?P<caption>.*)", re.DOTALL)


class Flickr8k(LineLayout):
    """Flickr8k (``Flickr8k.token.txt``): a line has name.jpg#0, caption; ``post`` keeps the number."""

    name = "flickr8k"
    fields = "name.jpg#0<TAB>caption"
    columns = 2
    has_files = True

    def row(self, number: int, text: str) -> Row:
        match = _TOKEN.fullmatch(text)
        if match is None:
            return wrong_field_count(number, len(text.split("\t")), self.fields)
        post = f"{match['file'].strip()}#{match['number']}"
        return Row(number, match["caption"], file=match["file"], post=post, note=f"caption {match['number']}")


class Flickr30k(Flickr8k):
    """Flickr30k (``results_20130124.token``, ``results.csv``): a line has name.jpg#0, caption, or name.jpg| 0| caption."""

    name = "flickr30k"
    fields = "name.jpg#0<TAB>caption, or name.jpg| 0| caption"

    def is_header(self, text: str) -> bool:
        return [part.strip() for part in text.split("|")] == ["image_name", "comment_number", "comment"]

    def row(self, number: int, text: str) -> Row:
        if _TOKEN.fullmatch(text) or "|" not in text:
            return super().row(number, text)
        parts = text.split("|", 2)
        if len(parts) != 3 or not parts[1].strip().isdecimal():
            return wrong_field_count(number, len(parts), self.fields)
        file, caption = parts[0].strip(), parts[1].strip()
        return Row(number, parts[2], file=file, post=f"{file}#{caption}", note=f"caption {caption}")


_IMAGE = re.compile(r".+\.(?:jpe?g|png|gif|webp|bmp|tiff?)\s*", re.I)


class CaptionedFiles(LineLayout):
    """Your own: a line has caption, path of an image, with a tab between; a header of these words is ignored."""

    name = "tsv"
    fields = "caption<TAB>path of an image"
    columns = 2
    has_files = True
    folder_optional = True

    def is_header(self, text: str) -> bool:
        return [part.strip().lower() for part in text.split("\t")] == ["caption", "path"]

    def row(self, number: int, text: str) -> Row:
        parts = text.split("\t")
        if len(parts) != 2:
            return wrong_field_count(number, len(parts), self.fields)
        caption, file = parts
        if not file.strip():
            return Row(number, rule="missing_field", value="no path", threshold=self.fields)
        if _ADDRESS.match(file):
            value = f"'{file.strip()[:60]}' is a web address (layout: cc3m)"
            return Row(number, rule="bad_row", value=value, threshold="path of an image")
        if _IMAGE.fullmatch(caption) and not _IMAGE.fullmatch(file):
            return Row(
                number, rule="bad_row", value=f"'{caption.strip()[:60]}' is where the caption belongs", threshold=self.fields
            )
        return Row(number, caption, file=file)


class CsvFiles(CaptionedFiles):
    """Your own as CSV (RFC 4180): caption, path of an image; the first rows decide between commas, semicolons and tabs."""

    name = "csv"
    fields = "caption,path of an image"

    def _read_rows(self, path: Path, label: str) -> Iterator[Row]:
        numbers, faults = list[int](), list[Row]()

        def texts() -> Iterator[str]:
            for line in read_lines(path, label):
                if line.fault:
                    faults.append(Row(line.number, rule=line.fault[0], value=line.fault[1], threshold=line.fault[2]))
                else:
                    numbers.append(line.number)
                    yield f"{line.text}\n"

        probed = [line.text for line in islice(read_lines(path, label), PROBED_LINES)]
        rows = csv.reader(texts(), delimiter=max(",;\t", key=lambda mark: _count_images(probed, mark)), strict=True)
        while True:
            numbers.clear()
            try:
                cells = next(rows, None)
            except csv.Error as error:
                hint = "close the quotation mark of the cell, and double those inside of it"
                raise HearsightError(f"cannot be read as CSV ({error})", where=f"{label}: line {numbers[0]}", hint=hint) from None
            yield from faults
            faults.clear()
            if cells is None:
                return
            text = "\t".join(" ".join(cell.split()) for cell in cells)
            if not (numbers[0] == 1 and self.is_header(text)):
                yield self.row(numbers[0], text)


def _count_images(lines: list[str], mark: str) -> int:
    return sum(bool(_IMAGE.fullmatch(line.rpartition(mark)[2].strip('"'))) for line in lines if mark in line)
