"""Small packages of described images in the formats of the real ones: what sample posts are made of, without a network."""

from __future__ import annotations

import io
import json
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path

from PIL import Image, ImageDraw

from components.sample.material import GCOMPRIS, STAMPS
from components.sample.qt import QM_MAGIC

FOLDERS = (
    "animals/birds", "animals/mammals", "animals/fish", "animals/insects", "clothes", "food/fruit", "food/vegetables", "medical",
    "plants/flowers", "plants/trees", "space/planets", "sports", "town/flags", "town/houses/cartoon", "vehicles", "vehicles/ship",
)  # fmt: skip
ACTIVITIES = "/gcompris/src/activities"


def drawn(number: int, kind: str = "PNG", size: tuple[int, int] = (90, 70)) -> bytes:
    """An image that no other number has."""
    image = Image.new("RGBA", size, (0, 0, 0, 0))
    draw = ImageDraw.Draw(image)
    colour = (number * 53 % 256, number * 101 % 256, number * 197 % 256, 255)
    draw.ellipse((number % 30, 5, 50 + number % 40, 65), fill=colour)
    draw.rectangle((10, 10 + number % 40, 30 + number % 50, 60), fill=(*reversed(colour[:3]), 255))
    buffer = io.BytesIO()
    (image if kind == "PNG" else image.convert("RGB")).save(buffer, kind)
    return buffer.getvalue()


def build_packages(root: Path, stamps: int = 150) -> Path:
    """Both packages under ``root``'s data folder; returns the root."""
    unpacked = root / "data/packages/unpacked"
    _stamps(unpacked / STAMPS / "usr/share/tuxpaint/stamps", stamps)
    _gcompris(unpacked / GCOMPRIS)
    return root


def _stamps(folder: Path, count: int) -> None:
    for number in range(count):
        image = folder / FOLDERS[number % len(FOLDERS)] / f"{number:03d}.png"
        image.parent.mkdir(parents=True, exist_ok=True)
        image.write_bytes(drawn(number))
        result = f"Uma figura de número {number}, pintada à mão." if number % 3 else f"O desenho {number}"
        image.with_suffix(".txt").write_text(f"Figure {number}.\npt.utf8=Coisa {number}\npt_BR.utf8={result}\n", encoding="utf-8")
        if number % 40 == 5:
            creator = "<dc:creator><cc:Agent><dc:title>Ana Lúcia Reis</dc:title></cc:Agent></dc:creator>"
            image.with_suffix(".svg").write_text(f"<svg>{creator}</svg>", encoding="utf-8")
        if number % 20 == 1:
            image.with_name(f"{number:03d}_desc_pt_BR.ogg").write_bytes(b"OggS" + bytes(40))
    # What shows nothing to describe: a letter, one too small, one without a Brazilian caption.
    (folder / "symbols/alphabets/english").mkdir(parents=True)
    for path, size in (
        ("symbols/alphabets/english/a.png", (90, 70)),
        ("vehicles/tiny.png", (20, 20)),
        ("vehicles/foreign.png", (90, 70)),
    ):
        (folder / path).write_bytes(drawn(1, size=size))
        tongue = "fr" if "foreign" in path else "pt_BR"
        (folder / path).with_suffix(".txt").write_text(f"Thing.\n{tongue}.utf8=Uma coisa.\n", encoding="utf-8")


BOARD = """QtObject {
  property var tab: [
    {
      "image": "qrc:/gcompris/key.svg",
      "title": qsTr("Great \\"Tower\\""),
      "text": qsTr("A tower by a river."),
      "image2": "qrc:ACT/explore_monuments/resource/tower.webp",
      "text2": qsTr("Great Tower"), "x": 0.1
    },
    {
      "title": qsTr("Bridge"), "text": qsTr("A bridge nobody translated."),
      "image2": "qrc:ACT/explore_monuments/resource/bridge.webp"
    }
  ]
}""".replace("ACT", ACTIVITIES)
SCENE = b'instruction: qsTr("Windmill") [{"pixmapfile" : "image/Mill_background.webp"}]'
COPYRIGHT = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/

Files: *
Copyright: 2000, 2008 Bruno Coudoin and others
License: GPL-3+

Files: src/activities/categorization/resource/images/tools/hammer1.jpg
       src/activities/categorization/resource/images/tools/hammer2.jpg
Copyright: 2011 João Sá <joao@example.org>
License: CC-BY-SA-3.0
Comment: https://example.org/hammer
"""


def _gcompris(package: Path) -> None:
    home = package / "usr/share/gcompris-qt"
    (home / "rcc").mkdir(parents=True)
    (home / "translations").mkdir()
    words = {"hammer.ogg": "martelo", "cat.ogg": "gato", "U0031.ogg": "um"}
    lessons = [
        {"name": name, "content": [{"image": f"words_sample/{word}.webp", "voice": f"voices/{voice}.$CA"}]}
        for name, word, voice in (("animal", "cat", "cat"), ("number", "one", "U0031"))
    ]
    lang = f"{ACTIVITIES}/lang/resource"
    bundles: dict[str, dict[str, bytes]] = {
        "lang": {
            f"{lang}/content-pt_BR.json": json.dumps(words).encode(),
            f"{lang}/words_sample.json": json.dumps([{"content": lessons}]).encode(),
            f"{lang}/words_sample/cat.webp": drawn(301, "WEBP"),
            f"{lang}/words_sample/one.webp": drawn(302, "WEBP"),
        },
        "explore_monuments": {
            f"{ACTIVITIES}/explore_monuments/resource/board/board1.qml": BOARD.encode(),
            f"{ACTIVITIES}/explore_monuments/resource/tower.webp": drawn(303, "WEBP", (1000, 700)),
            f"{ACTIVITIES}/explore_monuments/resource/bridge.webp": drawn(304, "WEBP"),
        },
        "details": {
            f"{ACTIVITIES}/details/resource/board/board1_0.qml": SCENE,
            f"{ACTIVITIES}/details/resource/image/Mill_background.webp": drawn(305, "WEBP"),
        },
        "categorization": {
            f"{ACTIVITIES}/categorization/resource/images/tools/{name}.webp": drawn(306 + order, "WEBP")
            for order, name in enumerate(("hammer1", "hammer2", "hammer3", "unnamed1"))
        },
    }
    for name in ("explore_farm_animals", "explore_world_animals", "explore_world_music"):
        bundles[name] = {f"{ACTIVITIES}/{name}/main.qml": b"Item {}"}
    for name, files in bundles.items():
        (home / "rcc" / f"{name}.rcc").write_bytes(rcc(files))
    result = {'Great "Tower"': 'Grande "Torre"', "Windmill": "Moinho de vento na Dinamarca"}
    (home / "translations/gcompris_pt_BR.qm").write_bytes(qm(result))
    (home / "translations/gcompris_pt.qm").write_bytes(qm({"A tower by a river.": "Uma torre junto ao rio, construída em 1500."}))
    (package / "usr/share/doc" / GCOMPRIS).mkdir(parents=True)
    (package / "usr/share/doc" / GCOMPRIS / "copyright").write_text(COPYRIGHT, encoding="utf-8")


def rcc(files: Mapping[str, bytes], compress: bool = True) -> bytes:
    """A Qt resource bundle of version 3; paths begin with ``/``."""
    tree: dict[str, dict] = {}
    for path, content in files.items():
        *folders, name = path.lstrip("/").split("/")
        place: dict = tree
        for folder in folders:
            place = place.setdefault(folder, {})
        place[name] = content
    names, contents, nodes = bytearray(), bytearray(), [("", tree)]
    rows: list[bytes] = []
    done = 0
    while done < len(nodes):
        name, what = nodes[done]
        done += 1
        where = len(names)
        encoded = name.encode("utf-16-be")
        names += struct.pack(">HI", len(encoded) // 2, 0) + encoded
        if isinstance(what, dict):
            rows.append(struct.pack(">IHIIQ", where, 2, len(what), len(nodes), 0))
            nodes += list(what.items())
        else:
            body = struct.pack(">I", len(what)) + zlib.compress(what) if compress else what
            rows.append(struct.pack(">IHHHIQ", where, int(compress), 0, 0, len(contents), 1))
            contents += struct.pack(">I", len(body)) + body
    tree_at = 24
    names_at = tree_at + sum(map(len, rows))
    head = struct.pack(">4sIIIII", b"qres", 3, tree_at, names_at + len(names), names_at, 0)
    return head + b"".join(rows) + bytes(names) + bytes(contents)


def qm(said: Mapping[str, str]) -> bytes:
    """A Qt file of translations with its source texts."""
    messages = b""
    for source, translation in said.items():
        spoken, written = translation.encode("utf-16-be"), source.encode()
        messages += b"\x03" + struct.pack(">I", len(spoken)) + spoken
        messages += b"\x08" + struct.pack(">I", 0xFFFFFFFF)
        messages += b"\x06" + struct.pack(">I", len(written)) + written + b"\x01"
    hashes = b"".join(struct.pack(">II", 0, 0) for _ in said)
    return QM_MAGIC + b"".join(struct.pack(">BI", tag, len(part)) + part for tag, part in ((0x42, hashes), (0x69, messages)))
