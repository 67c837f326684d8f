"""Read the material of the sample's posts: images described in Portuguese, with their authors and licences.

Two Debian packages: the Tux Paint stamps with their captions in Brazilian Portuguese (``tuxpaint-stamps-default``), and
GCompris' photographs and drawings with titles, words and paragraphs about them (``gcompris-qt-data``: Qt bundles, see ``qt``;
authors from its machine-readable copyright file).
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.sample.portuguese import differ, theme_of, title_of
from components.sample.qt import resources, translations

STAMPS, GCOMPRIS = "tuxpaint-stamps-default", "gcompris-qt-data"
POSTED = (STAMPS, GCOMPRIS)
BOARDS = ("explore_farm_animals", "explore_monuments", "explore_world_animals", "explore_world_music")
SMALLEST = 40
"""px: stamps whose larger side is smaller are left out, and so are letters and numbers, which show nothing to describe."""


@dataclass(frozen=True)
class Material:
    """An image and its description."""

    key: str
    """Package and path; keys every random draw about it."""
    kind: str
    """``stamp``, ``photo`` or ``drawing``."""
    read: Callable[[], bytes] = field(repr=False, compare=False)
    """Returns the image file (PNG or WebP)."""
    title: str
    """What it shows, in a few words."""
    text: str
    """Description in Portuguese: sentences, or the title again."""
    others: tuple[str, ...]
    """Other real texts about the same image."""
    theme: str
    """Theme in Portuguese, for example ``aves``."""
    author: str
    """Author; empty where the package names none for this file."""
    credit: str
    """Attribution and licence, one line."""
    speech: Path | None = None
    """A recording of somebody saying ``text``."""


def check_packages(root: Path) -> None:
    """Raise HearsightError when a package is missing."""
    for package in POSTED:
        check_package(package, root / "data" / "packages" / "unpacked" / package)


def check_package(name: str, folder: Path) -> None:
    """Raise HearsightError unless ``folder``, which the package ``name`` holds, is unpacked."""
    if not folder.is_dir():
        raise HearsightError(f"the sample's package {name} is missing", where=folder, hint="run `make data`")


def materials(root: Path) -> list[Material]:
    """Return all material under ``data/packages``, sorted by key. Raises HearsightError: a package is missing or broken."""
    check_packages(root)
    unpacked = root / "data" / "packages" / "unpacked"
    result = [*_stamps(unpacked / STAMPS / "usr/share/tuxpaint/stamps"), *_gcompris(unpacked / GCOMPRIS)]
    if not result:
        raise HearsightError("the sample's packages hold nothing to post", where=unpacked, hint="remove it and run `make data`")
    return sorted(result, key=lambda material: material.key)


def _stamps(folder: Path) -> Iterator[Material]:
    for image in sorted(folder.rglob("*.png")):
        path, text = image.relative_to(folder), image.with_suffix(".txt")
        group = "/".join(path.parts[:-1][:2])
        plain = group == "symbols/alphabets" and "asl" not in path.parts
        if plain or not text.is_file() or _larger_side(image) < SMALLEST:
            continue
        lines = text.read_text(encoding="utf-8", errors="replace").splitlines()
        texts = dict(line.split(".utf8=", 1) for line in lines if ".utf8=" in line)
        brazilian, portuguese = texts.get("pt_BR", "").strip(), texts.get("pt", "").strip()
        if brazilian:
            author = _maker(image)
            yield Material(
                key=f"{STAMPS}/{path.as_posix()}",
                kind="stamp",
                read=image.read_bytes,
                title=title_of(brazilian),
                text=brazilian,
                others=(portuguese,) if portuguese and differ(portuguese, brazilian) else (),
                theme=theme_of(group),
                author=author,
                credit=f"{author or 'Bill Kendrick and contributors'}, Tux Paint stamps, GPL-2",
                speech=next(iter(sorted(image.parent.glob(f"{image.stem}_desc_pt_BR.*"))), None),
            )


def _larger_side(image: Path) -> int:
    """px, from a PNG's header; 0 for anything else."""
    with image.open("rb") as handle:
        head = handle.read(24)
    return max(struct.unpack(">II", head[16:])) if len(head) == 24 and head.startswith(b"\x89PNG") else 0


_CREATOR = re.compile(r"<dc:creator.*?<dc:title[^>]*>\s*([^<]+?)\s*</dc:title>.*?</dc:creator>", re.DOTALL)
_MADE = re.compile(rb"Made by ([A-Z][a-z]+ [A-Z][a-z]+)")


def _maker(image: Path) -> str:
    """Return a stamp's author from its metadata: the creator of the SVG drawing, or the PNG's comment."""
    drawing = image.with_suffix(".svg")
    found = _CREATOR.search(drawing.read_text(encoding="utf-8", errors="replace")) if drawing.is_file() else None
    if found and len(found[1]) > 3:
        return re.sub(r"\s*\(.*| and .*|.* by ", "", found[1])
    comment = _MADE.search(image.read_bytes()[:2000])
    return comment[1].decode() if comment else ""


@dataclass(frozen=True)
class _Bundles:
    """GCompris' bundles, translations and authors."""

    home: Path
    brazilian: Mapping[str, str]
    portuguese: Mapping[str, str]
    words: Mapping[str, str]
    """English file stem → Portuguese word."""
    makers: Mapping[str, tuple[str, str]]
    """Path without suffix → (author, licence)."""

    def material(
        self, kind: str, path: str, data: bytes, theme: str, title: str, text: str, others: tuple[str, ...] = ()
    ) -> Material:
        author, licence = self.makers.get(path.removeprefix("/gcompris/").rpartition(".")[0], ("", "GPL-3+"))
        credit = f"{author or 'GCompris and contributors'}, GCompris 3.1, {licence}"
        return Material(f"{GCOMPRIS}{path}", kind, partial(bytes, data), title, text, others, theme, author, credit)

    def bundle(self, name: str) -> dict[str, bytes]:
        return resources(self.home / "rcc" / f"{name}.rcc")


def _gcompris(package: Path) -> Iterator[Material]:
    home = package / "usr/share/gcompris-qt"
    language = resources(home / "rcc" / "lang.rcc")
    words: dict[str, str] = next(
        (json.loads(data) for path, data in language.items() if path.endswith("/content-pt_BR.json")), {}
    )
    bundles = _Bundles(
        home,
        translations(home / "translations" / "gcompris_pt_BR.qm"),
        translations(home / "translations" / "gcompris_pt.qm"),
        {stem.removesuffix(".ogg"): word for stem, word in words.items()},
        makers(package / "usr/share/doc" / GCOMPRIS / "copyright"),
    )
    for name in BOARDS:
        yield from _boards(bundles, name)
    yield from _scenes(bundles)
    yield from _words(bundles, language)
    yield from _things(bundles)


_STRING = r'"((?:[^"\\]|\\.)*)"'


def _said(text: str, name: str) -> str:
    found = re.search(rf'"{name}":\s*qsTr\({_STRING}\)', text)
    return found[1].replace('\\"', '"') if found else ""


def _boards(bundles: _Bundles, name: str) -> Iterator[Material]:
    """Photographs with a paragraph each: animals, monuments, the music of countries."""
    files = bundles.bundle(name)
    for path, data in files.items():
        if "/board/" not in path:
            continue
        for block in re.findall(r"\{(.*?)\}", data.decode("utf-8", "replace"), re.DOTALL):
            shown = re.search(r'"image2":\s*"qrc:([^"]*)"', block)
            title, text = _said(block, "title"), _said(block, "text")
            brazilian, portuguese = bundles.brazilian.get(text, ""), bundles.portuguese.get(text, "")
            if shown and shown[1] in files and shown[1].endswith(".webp") and (brazilian or portuguese):
                said = brazilian or portuguese
                other = (portuguese,) if portuguese and differ(portuguese, said) else ()
                titled = bundles.brazilian.get(title) or bundles.portuguese.get(title) or title_of(said)
                yield bundles.material("photo", shown[1], files[shown[1]], theme_of(name), titled, said, other)


def _scenes(bundles: _Bundles) -> Iterator[Material]:
    """Paintings and buildings, titled."""
    files = bundles.bundle("details")
    for path, data in files.items():
        text = data.decode("utf-8", "replace") if path.endswith(".qml") else ""
        title = re.search(rf"instruction:\s*qsTr\({_STRING}\)", text)
        shown = re.search(r'"(image/\w[^"]*_background\.webp)"', text)
        said = bundles.brazilian.get(title[1], "").strip() if title else ""
        image = f"{path.rpartition('/board/')[0]}/{shown[1]}" if shown else ""
        if said and image in files:
            painted = said.startswith("Vincent")
            kind, group = ("drawing", "painting") if painted else ("photo", "town/monuments")
            yield bundles.material(kind, image, files[image], theme_of(group), said, said)


def _words(bundles: _Bundles, files: Mapping[str, bytes]) -> Iterator[Material]:
    """Drawings of what a first reader's words mean."""
    sample: list[Any] = next((json.loads(data) for path, data in files.items() if path.endswith("/words_sample.json")), [])
    folder = next((path.rpartition("/")[0] for path in files if "/words_sample/" in path), "")
    for lesson in (lesson for chapter in sample for lesson in chapter["content"]):
        for entry in lesson["content"]:
            image, stem = f"{folder}/{entry['image']}", Path(entry["voice"]).name.split(".")[0]
            word = bundles.words.get(stem, "")
            if word and image in files and lesson["name"] != "number":
                yield bundles.material("drawing", image, files[image], theme_of(lesson["name"]), word, word)


def _things(bundles: _Bundles) -> Iterator[Material]:
    """Photographs of things, most of them by people of Wikimedia Commons; those the word list has a word for."""
    for path, data in bundles.bundle("categorization").items():
        if not path.endswith(".webp"):
            continue
        group, stem = path.split("/")[-2], re.sub(r"\d+$", "", Path(path).stem)
        spelled = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", stem).lower()
        word = next((bundles.words[name] for name in (stem.lower(), spelled, spelled.rstrip("s")) if name in bundles.words), "")
        if word and group not in ("alphabets", "numbers"):
            yield bundles.material("photo", path, data, theme_of(group), word, word)


def makers(path: Path) -> dict[str, tuple[str, str]]:
    """Read authors from a DEP-5 copyright file: path below the source tree, without suffix → (author, licence).

    Patterns are skipped, since their author did not make every file that matches.
    """
    authors: dict[str, tuple[str, str]] = {}
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    for stanza in re.split(r"\n\s*\n", text):
        fields = dict(re.findall(r"^(\w+):\s*(.*(?:\n[ \t].*)*)", stanza, re.MULTILINE))
        author = fields.get("Copyright", "").split("\n")[0]
        author = re.sub(r"<.*?>|\(.*?\)|^[\d, -]+ (by )?|, .*", "", author).strip(" .")
        if len(author) < 3 or re.search(r"(?i)various|none|public domain|openclipart|\bKDE\b", author):
            continue
        licence = fields.get("License", "").split("\n")[0].strip()
        for name in fields.get("Files", "").split():
            if "*" not in name:
                authors[name.rpartition(".")[0]] = (author, licence)
    return authors
