"""Find the context of a page's images in what ``scan`` read; both readers, from the tree and from the tags, use it."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from components.web.html.context import CAPTION_LIMIT, LIMIT, Context, Repeated, Texts, agrees, normalise, parse_pixels
from components.web.html.page import fold
from components.web.html.scan import ImageTag, Scan
from components.web.html.tag_texts import CAPTION, INLINE, LINK, TITLE
from components.web.html.tags import find_matches

_NOTHING = (None, None)
_MARK, _GAP = bytes([INLINE]), b" "


class PageContext:
    """The texts of one page, from which its images get figcaptions and context."""

    def __init__(self, scanned: Scan, resolve: Callable[[str], str | None]) -> None:
        self._scanned, self._resolve = scanned, resolve
        self._repeated: dict[str, tuple[Repeated | None, Repeated | None]] = {}
        self._captions: dict[int, str] | None = None

    def read_alts(self, alts: Sequence[str]) -> None:
        """Find what each of the page's alt-texts, with white space folded, repeats."""
        normal = {alt: normalise(alt) for alt in alts}
        wanted = list({text: None for text in normal.values() if text})
        matches = self._match(wanted)
        always = self._read_titles() if wanted else []
        found: dict[str, tuple[Repeated | None, Repeated | None]] = {"": _NOTHING}
        for text in wanted:
            texts = always + matches.get(text, [])
            if texts:
                headings = Texts(each for each in texts if each.kind)
                found[text] = headings.find(text), Texts(each for each in texts if not each.kind).find(text)
            else:
                found[text] = _NOTHING
        self._repeated = {alt: found[text] for alt, text in normal.items()}

    def _match(self, wanted: Sequence[str]) -> dict[str, list[Repeated]]:
        """Return for each normalised alt-text the headings and links that it may repeat."""
        texts = self._scanned.texts
        if not len(texts) or not wanted:
            return {}
        encoded = [text.encode() for text in wanted]
        ends = np.cumsum([len(each) + 1 for each in encoded])
        alts = np.empty((len(encoded), 2), np.int64)
        alts[1:, 0], alts[0, 0] = ends[:-1], 0
        alts[:, 1] = ends - 1
        data, size = np.frombuffer(b"\n".join(encoded), np.uint8), 64
        while True:
            rows = np.empty((size, 2), np.int64)
            count = find_matches(data, alts, texts, rows)
            if count <= size:
                break
            size = count
        decoded: dict[int, Repeated] = {}
        found: dict[str, list[Repeated]] = {}
        for alt, row in rows[:count].tolist():
            if row not in decoded:
                kind = int(texts[row, 0])
                decoded[row] = Repeated(self._text(row), "" if kind == LINK else f"h{kind}")
            if len(decoded[row].text) <= LIMIT:
                found.setdefault(wanted[alt], []).append(decoded[row])
        return found

    def _read_titles(self) -> list[Repeated]:
        texts = self._scanned.texts
        titles = [Repeated(self._text(row), "title") for row in np.flatnonzero(texts[:, 0] == TITLE).tolist()]
        for meta in self._scanned.metas:
            if (meta.get("property") or "").lower() == "og:title":
                titles.append(Repeated(fold(meta["content"] or ""), "og:title"))
        return [title for title in titles if len(title.text) <= LIMIT]

    def _text(self, row: int, gap: bytes = _GAP) -> str:
        _, start, end, *_ = self._scanned.texts[row].tolist()
        raw = self._scanned.buffer[start:end].tobytes().replace(_MARK, gap)
        return fold(html.unescape(raw.decode("utf-8", "replace")))

    def figcaption(self, image: ImageTag) -> str:
        """Return the text of the first figcaption of an image's figure, folded and cut to ``CAPTION_LIMIT``; '' for none."""
        if not image.figure:
            return ""
        if self._captions is None:
            self._captions = {}
            texts = self._scanned.texts
            for row in np.flatnonzero(texts[:, 0] == CAPTION).tolist():
                self._captions.setdefault(int(texts[row, 3]), self._text(row, b"")[:CAPTION_LIMIT].rstrip())
        return self._captions.get(image.figure, "")

    def describe(self, image: ImageTag, alt: str, figcaption: str) -> Context:
        """Return the context of an image whose alt-text was given to ``read_alts``."""
        heading, link = self._repeated.get(alt, _NOTHING)
        attributes, href = image.attributes, image.href
        role = (attributes.get("role") or "").strip().lower()[:LIMIT] or None
        return make_context(
            heading=heading.text if heading else None,
            heading_kind=heading.kind if heading else None,
            link_text=link.text if link else None,
            link_url=self._resolve(href) if href is not None else None,
            control=image.in_button or role == "button" or "onclick" in attributes,
            role=role,
            layout_width=parse_pixels(attributes["width"]) if "width" in attributes else None,
            layout_height=parse_pixels(attributes["height"]) if "height" in attributes else None,
            figcaption_agrees=agrees(alt, figcaption) if figcaption else None,
            site_count=1,
        )


def make_context(*, new: Callable[..., Any] = Context.__new__, **fields: Any) -> Context:
    """Return a ``Context`` of all its fields; the constructor of the frozen class takes three times as long."""
    made: Context = new(Context)
    object.__setattr__(made, "__dict__", fields)
    return made


def align(scanned: Scan, images: Sequence[dict[str, str | None]]) -> list[ImageTag]:
    """Return the tag of each image of the tree, given by its attributes: by position, or else the next one that is written alike.

    An image that is written in no such way, as where the parser drops a tag, gets one without surroundings.
    """
    if scanned.plain and len(scanned.images) == len(images):
        return scanned.images
    tags: dict[tuple[str | None, str | None], list[ImageTag]] = {}
    for tag in reversed(scanned.images):
        tags.setdefault(_spelling(tag.attributes), []).append(tag)
    return [known.pop() if (known := tags.get(_spelling(image))) else ImageTag(image) for image in images]


def _spelling(attributes: dict[str, str | None]) -> tuple[str | None, str | None]:
    return attributes.get("src"), attributes.get("alt")
