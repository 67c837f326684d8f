"""Make the two hosts of the sample web that have pages, with the faults of real hosts.

Each host serves its package's files, a front page, robots.txt, a folder that it forbids, redirects, a missing page, a slow page,
and a page of unusual images: truncated, misnamed, foreign, inline, lazy, repeated.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path

from components.core.errors import HearsightError
from components.sample.gallery import gallery_pages, index, page, stamps
from components.sample.material import check_package
from components.sample.sites import Quirks, Site

SLOW = 1.5
"""Seconds the slow page takes."""
Made = dict[str, bytes | Callable[[], bytes]]


@dataclass(frozen=True)
class Source:
    """A Debian package as a host."""

    package: str
    folder: str
    """Its document root, a pattern of one folder below the unpacked package."""
    entrance: str
    """Its own first page."""
    image: str
    caption: str
    """An image of the package and its caption, for the page of unusual images."""
    disallow: tuple[str, ...]
    credit: str


SOURCES = {
    "gimp.sample": Source(
        "gimp-help-en",
        "usr/share/gimp/*/help/en",  # 2.0 in Debian 12, 3.0 in Debian 13
        "/index.html",
        "/images/filters/examples/artistic-taj-photocopy.jpg",
        "Example for the “Photocopy” filter",
        (),
        "GIMP help, © 2002-2022 the GIMP documentation team, GNU Free Documentation License 1.2",
    ),
    "stamps.sample": Source(
        "tuxpaint-stamps-default",
        "usr/share/tuxpaint/stamps",
        "/gallery/index.html",
        "/stamps/animals/birds/adelaide-rosella.png",
        "An Adelaide Rosella.",
        ("/gallery/symbols/alphabets/",),
        "Pictures and captions: Tux Paint stamps, © 2002-2022 Bill Kendrick and contributors, GPL-2",
    ),
}


def sample_sites(root: Path) -> dict[str, Site | Path]:
    """Return the sample's hosts, from the packages under ``data/packages``. Raises HearsightError: a package is not there."""
    home = root / "data" / "packages"
    sites: dict[str, Site | Path] = {}
    for host, source in SOURCES.items():
        unpacked = home / "unpacked" / source.package
        folder = next(iter(sorted(unpacked.glob(source.folder))), unpacked / source.folder)
        check_package(source.package, folder)
        credit = f"{source.credit} (Debian package {source.package} {_version(home, source.package)})"
        made = host_pages(host, source, folder, credit)
        copyright_file = unpacked / "usr/share/doc" / source.package / "copyright"
        if copyright_file.is_file():
            made["/copyright.txt"] = copyright_file.read_bytes()
        mounts: dict[str, Path] = {}
        if host == "stamps.sample":
            made |= gallery_pages(folder, credit)
            mounts["/stamps/"] = folder
        sites[host] = Site(folder, made, quirks(source), mounts)
    return sites


def _version(home: Path, package: str) -> str:
    try:
        return str(json.loads((home / "checksums.json").read_text(encoding="utf-8"))[package]["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def quirks(source: Source) -> Quirks:
    """Return a sample host's faults."""
    return Quirks(
        redirects={
            "/moved.html": (301, source.entrance),
            "/odd/moved-picture": (302, source.image),
            "/odd/round.html": (302, "/odd/about.html"),
            "/odd/about.html": (302, "/odd/round.html"),
        },
        slow={"/slow.html": SLOW},
        reset=("/odd/hung-up.png",),
        status={"/withdrawn.html": 410},
    )


def host_pages(host: str, source: Source, folder: Path, credit: str) -> Made:
    """Return the pages that a host has in addition to its package's files: path → content."""
    if host == "stamps.sample":
        images = [(f"/stamps/{path}", text) for items in list(stamps(folder).values())[:1] for path, text in items[:3]]
        image = folder / source.image.removeprefix("/stamps/")
    else:
        images = [(source.image, source.caption)]
        image = folder / source.image.lstrip("/")
    try:
        data = image.read_bytes()
    except OSError:
        raise HearsightError(
            "an image of the sample is missing", where=image, hint="remove data/packages and run `make data`"
        ) from None
    entries = [
        (source.entrance, "Contents"),
        ("/odd/", "Odd pages"),
        ("/moved.html", "Moved"),
        ("/slow.html", "Slow"),
        ("/gone.html", "Gone"),
        ("/private/index.html", "Private"),
        ("/odd/round.html", "Round and round"),
        ("/withdrawn.html", "Withdrawn"),
        ("/odd/data.bin", "Data"),
    ]
    quoted = escape(source.caption, quote=True)
    shown = "\n".join(f'<figure><img src="{where}" alt="{escape(text, quote=True)}"></figure>' for where, text in images)
    return {
        "/": index(f"{host}: contents", entries, credit),
        "/robots.txt": _robots(source).encode(),
        "/slow.html": page("A slow page", f"{shown}\n<p><a href='/odd/quiet.html'>On</a></p>", credit),
        "/withdrawn.html": page("Gone for good", shown, credit),
        "/odd/quiet.html": page("Kept out of collections", shown, credit, '<meta name="robots" content="noindex">'),
        "/private/index.html": page("Private", f'{shown}\n<p><a href="/private/more.html">More</a></p>', credit),
        "/private/more.html": page("Private, too", shown, credit),
        "/private/picture.png": data,
        "/odd/": odd_page(source.image, quoted, credit),
        "/odd/cut-off.png": data[: len(data) * 6 // 10],
        "/odd/page.jpg": page("This is no picture", "<p>An HTML page under the name of a picture.</p>", credit),
        "/odd/drawing.png": b'<svg xmlns="http://www.w3.org/2000/svg" width="200" height="200"><circle r="9"/></svg>',
        "/odd/other-name.gif": data,
        "/odd/empty.png": b"",
        "/odd/data.bin": bytes(range(256)),
    }


def _robots(source: Source) -> str:
    rules = "".join(f"Disallow: {path}\n" for path in ("/private/", *source.disallow))
    comment = "# A folder nobody may crawl, and a robot that is not welcome.\n"
    return f"{comment}User-agent: *\n{rules}\nUser-agent: badbot\nDisallow: /\n"


def odd_page(image: str, caption: str, credit: str) -> bytes:
    """Return a page of images embedded in unusual ways; ``image`` and ``caption`` (escaped) are real."""
    dot = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
    images = [
        f'<img src="/odd/moved-picture" alt="{caption} (moved)">',
        f'<img src="/odd/cut-off.png" alt="{caption}, cut off">',
        f'<img src="/odd/page.jpg" alt="{caption}, a page misnamed">',
        f'<img src="/odd/drawing.png" alt="{caption}, a drawing misnamed">',
        f'<img src="/odd/other-name.gif" alt="{caption}, under another name">',
        f'<img src="/odd/empty.png" alt="{caption}, empty">',
        f'<img src="/odd/missing.png" alt="{caption}, missing">',
        f'<img src="/odd/hung-up.png" alt="{caption}, hung up">',
        f'<img src="/private/picture.png" alt="{caption}, private">',
        f'<img src="http://127.0.0.1/picture.png" alt="{caption}, on your own machine">',
        f'<img src="ftp://files.sample/picture.png" alt="{caption}, by another protocol">',
        f'<img src="{dot}" alt="{caption}, inline">',
        f'<img src="{dot}" data-src="{image}" alt="{caption}, lazy">',
        f'<img src="../odd/../{image.lstrip("/")}" alt="{caption}, the long way round">',
        f'<img srcset="/odd/missing.png 100w, {image} 300w" alt="{caption}, in sizes">',
        '<picture><source type="image/avif" srcset="/odd/x.avif 900w">'
        f'<img src="{image}" alt="{caption}, in a choice of formats"></picture>',
        f'<img src="{image}" alt="">',
        f'<img src="{image}">',
        f'<img src="{image}" alt="{caption}, twice">',
        f'<img src="{image}" alt="  {caption},\n twice ">',
        f'<img src="{image}" alt="{caption} &amp broken &bogus; &#8212 entities &eacute &#xZZ; &">',
        f'<img src={image} alt="{caption}, unquoted and never closed"',
    ]
    return page("Odd images", "\n".join(f"<p>{image}</p>" for image in images), credit)
