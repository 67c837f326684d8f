"""Find the context of a page's images in what ``scan`` read; both readers, from the tree and from the tags, use it."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Callable, Sequence
from ctypes import byref, c_char
from itertools import compress

from components.web.html.candidate import Candidate, fold
from components.web.html.context import (
    CAPTION_LIMIT,
    LIMIT,
    Context,
    Repeated,
    agrees,
    index_headings,
    index_links,
    normalise,
)
from components.web.html.machine_code import load_scanner
from components.web.html.scan import ImageTag, Scan
from components.web.html.tag_codes import CAPTION, INLINE, LINK, TITLE

_INLINE = bytes([INLINE])
_NAMES = {TITLE: "title"} | {level: f"h{level}" for level in range(1, 7)}
_Found = tuple[Repeated | None, str | None]
_NOTHING: _Found = (None, None)


def attach_context(
    scanned: Scan, tags: Sequence[ImageTag], candidates: Sequence[Candidate], resolve: Callable[[str], str | None]
) -> None:
    """Set figcaption and context of a page's candidates, given the tag of each position."""
    captions = _read_captions(scanned)
    described = [(candidate, normalise(candidate.alt)) for candidate in candidates if candidate.alt]
    counts = Counter([words for _, words in described])
    repeated = _find_repeated(scanned, list(counts)) if counts else {}
    if captions:
        for candidate in candidates:
            candidate.figcaption = captions.get(tags[candidate.position].figure, "")
    for candidate, words in described:
        heading, link = repeated.get(words, _NOTHING)
        tag = tags[candidate.position]
        role, href = tag.attributes.get("role"), tag.href
        role = role.strip().lower()[:LIMIT] or None if role else None
        target = None if href is None else resolve(href)
        candidate.context = Context(
            heading=heading.text if heading else None,
            heading_kind=heading.kind if heading else None,
            link_text=link,
            link_url=target,
            control=tag.acts or role == "button" or (target is None and href is not None and _runs_script(href)),
            role=role,
            layout_width=tag.width,
            layout_height=tag.height,
            figcaption_agrees=agrees(candidate.alt, candidate.figcaption) if candidate.figcaption else None,
            site_count=counts[words],
        )


def _runs_script(href: str) -> bool:
    return href.lstrip().lower().startswith("javascript:")


def _find_repeated(scanned: Scan, alts: Sequence[str]) -> dict[str, _Found]:
    """Return what each normalised alt-text repeats of the page; those that repeat nothing may be missing."""
    stated = [fold(meta["content"] or "") for meta in scanned.metas if (meta.get("property") or "").lower() == "og:title"]
    repeating, numbers = _match(scanned, alts) if scanned.texts else ([], [])
    if not repeating and not stated:
        return {}
    texts = memoryview(scanned.texts).cast("q")
    rows = {row: _read_text(scanned, texts, row) for row in numbers}
    kinds = {row: texts[5 * row] for row, text in rows.items() if len(text) <= LIMIT}
    found = [Repeated(rows[row], _NAMES[kind]) for row, kind in kinds.items() if kind != LINK]
    found += [Repeated(text, "og:title") for text in stated if len(text) <= LIMIT]
    headings = index_headings(sorted(found, key=lambda each: not each.kind.endswith("title")))
    links = index_links([rows[row] for row, kind in kinds.items() if kind == LINK])
    return {alt: (headings.find(alt), links.find(alt)) for alt in (alts if stated else repeating)}


def _match(scanned: Scan, alts: Sequence[str]) -> tuple[list[str], list[int]]:
    """Return the alt-texts that may repeat a text of the page, and the numbers of the texts that one may repeat."""
    data, count = "\n".join(alts).encode(), len(scanned.texts) // 40
    marked_alts, marked_texts = bytearray(len(alts)), bytearray(count)
    texts, *marks = (byref(c_char.from_buffer(table)) for table in (scanned.texts, marked_alts, marked_texts))
    load_scanner().match(data, len(data), texts, count, marks[0], len(alts), marks[1])
    return list(compress(alts, marked_alts)), list(compress(range(count), marked_texts))


def _read_captions(scanned: Scan) -> dict[int, str]:
    """Return the text of each figure's first figcaption, folded and cut to ``CAPTION_LIMIT``."""
    captions: dict[int, str] = {}  # of figure 0, none, it has nothing
    texts = memoryview(scanned.texts).cast("q")
    for row, kind in enumerate(texts[::5].tolist()):
        if kind == CAPTION:
            text = _read_text(scanned, texts, row, b"")[:CAPTION_LIMIT].rstrip()
            captions.setdefault(texts[5 * row + 3], text)
    return captions


def _read_text(scanned: Scan, texts: memoryview, row: int, inline: bytes = b" ") -> str:
    """Return a text, folded, with ``inline`` for each tag that is no block's."""
    raw = bytes(scanned.buffer[texts[5 * row + 1] : texts[5 * row + 2]]).replace(_INLINE, inline)
    return fold(html.unescape(raw.decode("utf-8", "replace")))


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
