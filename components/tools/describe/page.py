"""Alt-texts for a page: every image without one gets a proposal, and the page is written back with them.

By the HTML standard (4.8.4.4) an image without the attribute ``alt`` has no alternative, and one with an empty ``alt`` is
decorative. So the first are described, and the second only if asked for, and neither where ``exempt`` says that none is needed.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes

from selectolax.lexbor import LexborHTMLParser, LexborNode

from components.core.errors import HearsightError
from components.model_server.client import ModelServerError
from components.tools.describe.describer import Describer, Description
from components.tools.describe.image_tags import Alt, ImageTag, find_image_tags, write_alts
from components.web.budget import Budget
from components.web.charset import find_codec
from components.web.html.page import Page, PageOverBudget, parse_tree, read_page, read_text
from components.web.html.page_limits import SMALL, call_limited
from components.web.urls import is_local

_LEFT_OUT = 'img[aria-hidden="true" i], [aria-hidden="true" i] img, [role="img" i] img, [role="image" i] img'
"""Hidden images, and those that are a part of one image with a name of its own."""


class TreeImage(NamedTuple):
    """An ``<img>`` of a page's tree."""

    src: str
    exempt: bool
    """Whether it needs no alt-text."""


def read_tree_images(page: bytes, charset: str | None) -> list[TreeImage]:
    """Return the images of a page in the order of its tree."""
    tree = parse_tree(read_text(page, charset))
    left_out = {node.mem_id for node in tree.css(_LEFT_OUT)}
    names = _read_names(tree)
    return [
        TreeImage((node.attributes.get("src") or "").strip(), node.mem_id in left_out or _is_exempt(node, names))
        for node in tree.css("img")
    ]


def _is_exempt(node: LexborNode, names: dict[str, bool]) -> bool:
    words = {name: (node.attributes.get(name) or "").split() for name in ("role", "aria-label", "aria-labelledby")}
    decorative = words["role"][:1] and words["role"][0].lower() in ("presentation", "none")
    return bool(decorative or words["aria-label"] or any(names.get(identifier) for identifier in words["aria-labelledby"]))


def _read_names(tree: LexborHTMLParser) -> dict[str, bool]:
    """Return by identifier whether the element says anything; empty where no image refers to one."""
    names: dict[str, bool] = {}
    for node in tree.css("[id]") if tree.css_first("img[aria-labelledby]") else ():
        text = node.attributes.get("aria-label") or node.text()
        names.setdefault(node.attributes.get("id") or "", bool(text.strip()))
    return names


MOST_IMAGES = 500
"""Images of one page that are described; a page with more is refused."""
PROPOSED, NOT_SURE = "proposed", "not-sure"
"""Values of ``data-hearsight`` in a written page."""


@dataclass(frozen=True)
class PageImage:
    """An image of a page that needs an alt-text."""

    position: int
    """Among the page's images, from 0."""
    address: str
    """Absolute; empty for an image in the page itself, or one that has no usable address."""
    source: str
    """As spelled, cut to 200 characters."""
    inline: bytes | None
    """Of a ``data:`` address its bytes."""
    tag: ImageTag | None
    """None where the page's markup does not allow to write into it."""
    twin: ImageTag | None = None
    """The same image in ``<noscript>``, for browsers without scripts."""


@dataclass(frozen=True)
class Proposal:
    """What is proposed for an image: a description, or why there is none."""

    image: PageImage
    description: Description | None
    error: str = ""

    def plain(self) -> dict[str, Any]:
        """Return the proposal as JSON values."""
        address = "" if is_local(self.image.address) else self.image.address
        about: dict[str, Any] = {"position": self.image.position, "src": self.image.source, "address": address}
        if self.description is None:
            return about | {"error": self.error}
        return about | self.description.plain()


@dataclass(frozen=True)
class DescribedPage:
    """A page and its proposals."""

    page: bytes
    codec: str
    writable: bool
    """Whether the tags in its source are the images of its tree."""
    proposals: Sequence[Proposal]

    def html(self) -> bytes:
        """Return the page with the proposed alt-texts; every other byte is unchanged.

        Raises:
            HearsightError: its markup does not say which tag is which image.
        """
        if not self.writable:
            what = "its markup or charset does not show which tag is which image"
            raise HearsightError(what, where="the page", hint="write the proposals as JSON (--format json)")
        alts = [
            Alt(tag, one.description.alt, PROPOSED if one.description.sure else NOT_SURE)
            for one in self.proposals
            for tag in (one.image.tag, one.image.twin)
            if tag is not None and one.description is not None and one.description.alt
        ]
        return write_alts(self.page, alts, self.codec)


def find_images(
    page: bytes,
    url: str,
    charset: str | None = None,
    *,
    empty: bool = False,
    most: int = MOST_IMAGES,
) -> tuple[list[PageImage], str, bool]:
    """Return the images that need an alt-text, the page's codec, and whether its source can be written.

    Args:
        url: of the page.
        charset: of its HTTP header.
        empty: also describe images with an empty alt-text.

    Raises:
        HearsightError: the page exceeds the limits of a crawl, or has too many such images.
    """
    limits = Budget()

    def read() -> tuple[Page, list[TreeImage]]:
        return read_page(page, url, charset, most_images=limits.page_images, most_links=0), read_tree_images(page, charset)

    try:
        parsed, tree_images = read() if len(page) <= SMALL else call_limited(read, limits)
    except PageOverBudget as error:
        hint = f"the limit is {error.threshold}"
        raise HearsightError(f"is too large a page: {error.reason}", where=url, hint=hint) from None
    codec = find_codec(page, charset)[0].name
    tags = find_image_tags(page) if not codec.startswith(("utf-16", "replacement")) else []
    by_position = {candidate.position: candidate for candidate in parsed.candidates}
    writable = [(tag.value("src", codec) or "").strip() for tag in tags] == [image.src for image in tree_images] and all(
        (tags[place].value("alt", codec) is not None) == candidate.has_alt for place, candidate in by_position.items()
    )
    images = []
    for place, candidate in by_position.items():
        tag = tags[place] if writable else None
        twin = tags[place + 1] if writable and place + 1 < len(tags) and place + 1 not in by_position else None
        # The tree has no value for `alt` alone, which is an empty alt-text.
        has_alt = candidate.has_alt or (tag is not None and "alt" in tag.attributes)
        if not tree_images[place].exempt and (not has_alt or (empty and not candidate.alt)):
            inline = _inline(tag.value("src", codec) or "") if tag and candidate.data_uri else None
            images.append(PageImage(place, candidate.image_url or "", candidate.source, inline, tag, twin))
    if len(images) > most:
        hint = "split it" if most == MOST_IMAGES else f"`hearsight describe` takes up to {MOST_IMAGES}"
        raise HearsightError(f"has {len(images)} images without alt-text, more than {most}", where=url, hint=hint)
    return images, codec, writable


def describe_page(
    describer: Describer,
    page: bytes,
    url: str,
    read: Callable[[str], bytes],
    charset: str | None = None,
    *,
    empty: bool = False,
    prepare: Callable[[list[str]], None] = lambda addresses: None,
    most: int = MOST_IMAGES,
) -> DescribedPage:
    """Return proposals for the images of a page that have no alt-text; an address that is used twice is described once.

    Args:
        read: returns the bytes at an image's address, or raises HearsightError, which becomes that image's error.
        prepare: called with all addresses first, to fetch them.
        most: images to describe; a page with more is refused.

    Raises:
        HearsightError: as :func:`find_images`.
    """
    images, codec, writable = find_images(page, url, charset, empty=empty, most=most)
    prepare(list(dict.fromkeys(image.address for image in images if image.address)))
    known: dict[str, Description | str] = {}
    proposals = []
    for image in images:
        if image.address not in known or not image.address:
            known[image.address] = _describe(describer, image, read)
        result = known[image.address]
        proposals.append(Proposal(image, None, result) if isinstance(result, str) else Proposal(image, result))
    return DescribedPage(page, codec, writable, proposals)


def _describe(describer: Describer, image: PageImage, read: Callable[[str], bytes]) -> Description | str:
    """Return an image's description, or one line that says why there is none."""
    if image.inline is None and not image.address:
        return f"{image.source[:60] or 'the image'}: has no address that can be read"
    where = image.address or "the image inside the page"
    try:
        return describer.describe(image.inline if image.inline is not None else read(image.address), where)
    except ModelServerError:
        raise  # no other image would be answered
    except HearsightError as error:
        return str(error)


def _inline(address: str) -> bytes | None:
    """Return the bytes of a ``data:`` address (RFC 2397); None if it is damaged."""
    head, comma, body = address.strip().partition(",")
    if not comma:
        return None
    data = unquote_to_bytes(body)
    if not head.lower().endswith(";base64"):
        return data
    try:
        return base64.b64decode(b"".join(data.split()) + b"=" * (-len(data) % 4))
    except binascii.Error:
        return None
