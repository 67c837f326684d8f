"""A small web of drawn images with true captions, for tests that need pages and have no packages.

Two hosts of static files with the accidents of the real web (``_web.json``: redirects, a slow page, a lost connection).
Equal arguments give equal files.
"""

from __future__ import annotations

import io
import json
from html import escape
from pathlib import Path

from components.core.seeded_rng import seeded_rng

HOSTS = ("meadow.sample", "harbour.sample")
COLOURS = {
    "red": (200, 40, 40),
    "blue": (40, 70, 190),
    "green": (40, 140, 60),
    "yellow": (235, 205, 50),
    "orange": (235, 130, 30),
    "purple": (120, 50, 150),
    "white": (245, 245, 245),
    "black": (25, 25, 25),
}
THINGS = ("house", "boat", "tree", "flower", "ball", "car", "fish", "kite", "star", "cup")
PLACES = {
    "on a green field": ((170, 205, 240), (95, 165, 80)),
    "on the blue sea": ((200, 225, 245), (50, 100, 180)),
    "in the desert under a pale sky": ((225, 235, 245), (225, 190, 120)),
    "in front of a grey wall": ((150, 150, 155), (95, 90, 88)),
    "in the snow at night": ((20, 25, 60), (235, 240, 248)),
    "on a wooden table": ((235, 225, 205), (140, 90, 50)),
}
FRAMES = ("A {c} {t} {p}", "The picture of a {c} {t} {p}", "A {c} {t} seen {p} in the morning", "One {c} {t} standing {p}")
PER_PAGE = 3


def build_fixture_web(folder: Path, pages: int = 40, seed: int = 0) -> Path:
    """Write ``folder/<host>/…`` with ``pages`` pages of three captioned images in all; returns ``folder``."""
    scenes = [(colour, thing, place) for colour in COLOURS for thing in THINGS for place in PLACES]
    seeded_rng(seed, "scenes").shuffle(scenes)
    for order, host in enumerate(HOSTS):
        home = folder / host
        (home / "images").mkdir(parents=True, exist_ok=True)
        numbers = list(range(order, pages, len(HOSTS)))
        names = [f"page-{number:03d}.html" for number in numbers]
        for number, name in zip(numbers, names, strict=True):
            chosen = scenes[number * PER_PAGE : (number + 1) * PER_PAGE]
            figures = [_figure(home, number * PER_PAGE + at, scene, seed) for at, scene in enumerate(chosen)]
            following = names[(names.index(name) + 1) % len(names)]
            _page(
                home / name,
                f"Page {number}",
                "\n".join(figures) + f'\n<p><a href="{following}">Next</a> <a href="/">Home</a></p>',
            )
        _accidents(home, names, scenes[-1 - order], seed)
    return folder


def fixture_seeds() -> list[str]:
    """Return the first page of each host."""
    return [f"http://{host}/" for host in HOSTS]


def caption(scene: tuple[str, str, str], seed: int = 0) -> str:
    """Return a sentence that describes the scene."""
    colour, thing, place = scene
    text = seeded_rng(seed, "frame", *scene).choice(FRAMES).format(c=colour, t=thing, p=place)
    return text.replace(" a orange", " an orange").replace("A orange", "An orange")


def drawn_image(scene: tuple[str, str, str], seed: int = 0, kind: str = "JPEG") -> bytes:
    """Return a drawing of ``scene``, 150 to 260 px a side, with photographic noise."""
    import numpy as np
    from PIL import Image, ImageDraw

    colour, thing, place = scene
    chance = seeded_rng(seed, "picture", *scene)
    width, height = chance.randrange(150, 261), chance.randrange(150, 261)
    sky, ground = PLACES[place]
    image = Image.new("RGB", (width, height), sky)
    pen = ImageDraw.Draw(image)
    horizon = int(height * chance.uniform(0.45, 0.7))
    pen.rectangle((0, horizon, width, height), fill=ground)
    size = int(min(width, height) * chance.uniform(0.35, 0.6))
    left, top = chance.randrange(5, width - size - 5), chance.randrange(5, height - size - 5)
    _thing(pen, thing, left, top, size, COLOURS[colour])
    grain = np.random.default_rng(chance.randrange(2**32)).normal(0, 6, (height, width, 1))
    noisy = np.clip(np.asarray(image, dtype=np.float64) + grain, 0, 255).astype(np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(noisy).save(buffer, kind, **({"quality": 88} if kind == "JPEG" else {}))
    return buffer.getvalue()


def _thing(pen: object, thing: str, x: int, y: int, s: int, fill: tuple[int, int, int]) -> None:
    from math import cos, pi, sin

    def polygon(*points: tuple[float, float]) -> None:
        pen.polygon([(x + s * a, y + s * b) for a, b in points], fill=fill, outline=(60, 60, 60))  # type: ignore[attr-defined]

    def disc(a: float, b: float, r: float, colour: tuple[int, int, int] = fill) -> None:
        box = (x + s * (a - r), y + s * (b - r), x + s * (a + r), y + s * (b + r))
        pen.ellipse(box, fill=colour, outline=(60, 60, 60))  # type: ignore[attr-defined]

    if thing == "house":
        polygon((0.1, 1), (0.1, 0.45), (0.9, 0.45), (0.9, 1))
        polygon((0, 0.45), (0.5, 0), (1, 0.45))
    elif thing == "boat":
        polygon((0, 0.65), (1, 0.65), (0.8, 1), (0.2, 1))
        polygon((0.5, 0), (0.5, 0.6), (0.95, 0.6))
    elif thing == "tree":
        polygon((0.42, 0.6), (0.58, 0.6), (0.58, 1), (0.42, 1))
        disc(0.5, 0.35, 0.35)
    elif thing == "flower":
        for at in range(6):
            disc(0.5 + 0.28 * cos(at * pi / 3), 0.5 + 0.28 * sin(at * pi / 3), 0.18)
        disc(0.5, 0.5, 0.16, (90, 60, 20))
    elif thing == "ball":
        disc(0.5, 0.5, 0.5)
    elif thing == "car":
        polygon((0, 0.55), (0.2, 0.55), (0.3, 0.3), (0.7, 0.3), (0.8, 0.55), (1, 0.55), (1, 0.8), (0, 0.8))
        disc(0.22, 0.82, 0.13, (30, 30, 30)), disc(0.78, 0.82, 0.13, (30, 30, 30))
    elif thing == "fish":
        disc(0.42, 0.5, 0.36), polygon((0.7, 0.5), (1, 0.2), (1, 0.8))
    elif thing == "kite":
        polygon((0.5, 0), (0.85, 0.4), (0.5, 1), (0.15, 0.4))
    elif thing == "star":
        tips = [(0.5 + r * sin(at * pi / 5), 0.5 - r * cos(at * pi / 5)) for at, r in zip(range(10), [0.5, 0.2] * 5, strict=True)]
        polygon(*tips)
    else:  # a cup
        polygon((0.1, 0.2), (0.8, 0.2), (0.7, 1), (0.2, 1))
        disc(0.85, 0.5, 0.15)


def _figure(home: Path, number: int, scene: tuple[str, str, str], seed: int) -> str:
    kind, ending = ("PNG", "png") if number % 4 == 3 else ("JPEG", "jpg")
    (home / "images" / f"{number:04d}.{ending}").write_bytes(drawn_image(scene, seed, kind))
    address, alt = f"images/{number:04d}.{ending}", escape(caption(scene, seed), quote=True)
    if number % 5 == 1:
        return f'<img src="images/small-{number:04d}.{ending}" srcset="/{address} 2x" alt="{alt}">'
    if number % 5 == 2:
        return f'<picture><source srcset="{address} 240w"><img src="images/small.jpg" alt="{alt}"></picture>'
    return f'<figure><img src="{address}" alt="{alt}"><figcaption>{alt}</figcaption></figure>'


def _accidents(home: Path, names: list[str], scene: tuple[str, str, str], seed: int) -> None:
    data, alt = drawn_image(scene, seed), escape(caption(scene, seed), quote=True)
    (home / "private").mkdir(exist_ok=True)
    for name, content in {
        "odd.jpg": data,
        "cut-off.jpg": data[: len(data) // 2],
        "private/odd.jpg": data,
        "page.jpg": b"<!doctype html><title>No image</title>",
    }.items():
        (home / name).write_bytes(content)
    (home / "robots.txt").write_text("User-agent: *\nDisallow: /private/\n", encoding="utf-8")
    _page(home / "private" / "index.html", "Private", f'<img src="odd.jpg" alt="{alt}">')
    _page(home / "slow.html", "Slow", f'<img src="odd.jpg" alt="{alt}">')
    images = [
        ("/moved.jpg", f"{alt}, moved"),
        ("cut-off.jpg", f"{alt}, cut off"),
        ("page.jpg", f"{alt}, misnamed"),
        ("lost.jpg", f"{alt}, lost"),
        ("missing.jpg", f"{alt}, missing"),
        ("private/odd.jpg", f"{alt}, private"),
        ("odd.jpg", alt),
        ("odd.jpg", alt),
        ("odd.jpg", ""),
        ("data:image/gif;base64,R0lGODlhAQABAAAAACw=", f"{alt}, inline"),
        ("odd.jpg", f"{alt} &amp broken &bogus; &#8212 entities"),
    ]
    _page(home / "odd.html", "Odd", "\n".join(f'<img src="{address}" alt="{text}">' for address, text in images))
    listed = [*names, "odd.html", "slow.html", "moved.html", "gone.html", "private/index.html"]
    _page(home / "index.html", home.name, "\n".join(f'<a href="{name}">{name}</a>' for name in listed))
    quirks = {
        "redirects": {"/moved.html": [301, f"/{names[0]}"], "/moved.jpg": [302, "/odd.jpg"]},
        "slow": {"/slow.html": 0.3},
        "reset": ["/lost.jpg"],
    }
    (home / "_web.json").write_text(json.dumps(quirks, indent=1) + "\n", encoding="utf-8")


def _page(path: Path, title: str, body: str) -> None:
    head = f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>'
    text = f"{head}<body>\n{body}\n</body></html>\n"
    path.write_text(text, encoding="utf-8")


def hamming(one: str, other: str) -> int:
    """Return the Hamming distance of two 64-bit perceptual hashes."""
    return (int(one, 16) ^ int(other, 16)).bit_count()
