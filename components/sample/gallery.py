"""Make gallery pages of the Tux Paint stamps, with their real English captions: forty images a page, and index pages.

The alt-text is the first line of the caption file. Images are embedded in three ways, as on the web: ``src``, ``srcset`` with a
thumbnail, ``<picture>``.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from pathlib import Path
from urllib.parse import quote

from PIL import Image

PER_PAGE = 40
THUMB = 64
"""px of a thumbnail's larger side."""


def stamps(folder: Path) -> dict[str, list[tuple[str, str]]]:
    """Return the captioned PNG stamps: group (two folder levels) → [(path below ``folder``, caption)], all sorted."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for image in sorted(folder.rglob("*.png")):
        text = image.with_suffix(".txt")
        lines = text.read_text(encoding="utf-8", errors="replace").splitlines() if text.is_file() else []
        # Translations follow as "fr.utf8=…"; a file may begin with them.
        caption = lines[0].strip() if lines and ".utf8=" not in lines[0] else ""
        if caption:
            path = image.relative_to(folder)
            groups.setdefault("/".join(path.parts[:-1][:2]), []).append((path.as_posix(), caption))
    return dict(sorted(groups.items()))


def gallery_pages(folder: Path, credit: str) -> dict[str, bytes | Callable[[], bytes]]:
    """Return path → content of every gallery page, index and thumbnail of the package's ``stamps`` folder.

    The images themselves are under ``/stamps/``; every page has ``credit``, plain text.
    """
    groups = stamps(folder)
    made: dict[str, bytes | Callable[[], bytes]] = {}
    tops: dict[str, list[str]] = {}
    for group, items in groups.items():
        tops.setdefault(group.split("/")[0], []).append(group)
        made |= _group_pages(group, items, credit)
        for path, _ in items:
            made[f"/thumbs/{path}"] = partial(thumbnail, folder / path)
    # A folder may hold both images and folders; its own images then have the place of the index.
    indexes = {top: f"/gallery/{top}/" + ("all.html" if top in groups else "index.html") for top in tops}
    for top, names in tops.items():
        made[indexes[top]] = index(
            top.title(), [(f"/gallery/{name}/", f"{name} ({len(groups[name])})") for name in names], credit
        )
    made["/gallery/index.html"] = index("Gallery of stamps", [(path, top) for top, path in indexes.items()], credit)
    return made


def _group_pages(group: str, items: Sequence[tuple[str, str]], credit: str) -> dict[str, bytes]:
    pages: dict[str, bytes] = {}
    total = (len(items) + PER_PAGE - 1) // PER_PAGE
    for number in range(total):
        part = items[number * PER_PAGE : (number + 1) * PER_PAGE]
        up = "../" * (group.count("/") + 2)
        figures = "\n".join(_figure(path, caption, number + order, up) for order, (path, caption) in enumerate(part))
        near = [(n, word) for n, word in ((number - 1, "Previous"), (number + 1, "Next")) if 0 <= n < total]
        turn = " ".join(f'<a href="{_page(n)}">{word}</a>' for n, word in near)
        title = f"Stamps: {group}, page {number + 1} of {total}"
        body = f"{figures}\n<p>{turn} <a href='{up}gallery/index.html'>Gallery</a></p>"
        pages[f"/gallery/{group}/{_page(number)}"] = page(title, body, credit)
    pages[f"/gallery/{group}/"] = pages[f"/gallery/{group}/{_page(0)}"]
    return pages


def _page(number: int) -> str:
    return "index.html" if number == 0 else f"{number + 1}.html"


def _figure(path: str, caption: str, order: int, up: str) -> str:
    alt, full, thumb = escape(caption, quote=True), f"{up}stamps/{quote(path)}", f"/thumbs/{quote(path)}"
    image = (
        f'<img src="{full}" alt="{alt}">',
        f'<img src="{thumb}" srcset="{thumb} 1x, {full} 2x" alt="{alt}">',
        f'<picture><source srcset="{full} 134w, {thumb} {THUMB}w" type="image/png"><img alt="{alt}" src="{thumb}"></picture>',
    )[order % 3]
    return f"<figure>{image}<figcaption>{alt}</figcaption></figure>"


def index(title: str, entries: Sequence[tuple[str, str]], credit: str) -> bytes:
    """Return a page that links ``entries`` (address, text)."""
    items = "\n".join(f'<li><a href="{escape(quote(to, safe="/:#?&=%.-_~"))}">{escape(text)}</a></li>' for to, text in entries)
    return page(title, f"<ul>\n{items}\n</ul>", credit)


def page(title: str, body: str, credit: str, head: str = "", language: str = "en") -> bytes:
    """Return an HTML page; ``body`` and ``head`` are HTML, the rest plain text."""
    return (
        f'<!doctype html>\n<html lang="{language}"><head><meta charset="utf-8"><title>{escape(title)}</title>{head}</head>\n'
        f"<body><h1>{escape(title)}</h1>\n{body}\n<footer><p>{escape(credit)}</p></footer></body></html>\n"
    ).encode()


def thumbnail(path: Path) -> bytes:
    """Return a small PNG of the image at ``path``."""
    with Image.open(path) as image:
        small = image.convert("RGBA")
        small.thumbnail((THUMB, THUMB))
    buffer = io.BytesIO()
    small.save(buffer, "PNG")
    return buffer.getvalue()
