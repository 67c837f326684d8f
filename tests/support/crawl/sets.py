"""Miniature image–caption sets: files in each published format, with synthetic captions and images."""

from __future__ import annotations

import json
from pathlib import Path

from components.core.stage_output import StageOutput
from tests.support.crawl.fixture_web import drawn_image

SCENES = [
    ("red", "kite", "on the blue sea"),
    ("blue", "car", "in the desert under a pale sky"),
    ("green", "cup", "on a wooden table"),
    ("white", "star", "in the snow at night"),
]
NAMES = ("1000268201_693b08cb0e.jpg", "1001773457_577c3a7d70.jpg", "1002674143_1b742ab4b8.jpg", "1003163366_44323f5815.jpg")
WEB = "http://meadow.sample/images"


def images(folder: Path, names: tuple[str, ...] = NAMES) -> Path:
    """Write drawn images with these names and return the folder."""
    for name, scene in zip(names, SCENES, strict=False):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(drawn_image(scene))
    return folder


def cc3m(path: Path, extra: bytes = b"") -> Path:
    """``Train_GCC-training.tsv``: caption, url."""
    rows = [f"a red kite flies over the water\t{WEB}/0000.jpg", f"the car is parked in the sand\t{WEB}/0002.jpg"]
    path.write_bytes("\n".join(rows).encode() + b"\n" + extra)
    return path


def cc3m_labels(path: Path) -> Path:
    """``Image_Labels_Subset_Train_GCC-Labels-training.tsv``: caption, url, labels, MIDs, confidences."""
    rows = [
        f"a red kite flies over the water\t{WEB}/0000.jpg\tkite,sea\t/m/02_41,/m/06npx\t0.9428,0.81",
        f"the car is parked in the sand\t{WEB}/0002.jpg\tcar,desert,vehicle\t/m/0k4j,/m/0284w\t0.97,0.9,0.88",
        f"a cup on the table\t{WEB}/0006.jpg\tcup\t/m/02p5f1q\tsure",
    ]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def cc12m(path: Path) -> Path:
    """``cc12m.tsv``: url, caption."""
    rows = [f"{WEB}/0000.jpg\t<PERSON> flies a red kite", f"{WEB}/0002.jpg\tA car in the desert, photographed in 2011"]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def coco(path: Path) -> Path:
    """``captions_val2017.json``."""
    images = [
        {
            "license": 4,
            "file_name": f"{number:012d}.jpg",
            "coco_url": f"{WEB}/{at * 2:04d}.jpg",
            "height": 200,
            "width": 200,
            "date_captured": "2013-11-14 17:02:52",
            "flickr_url": f"{WEB}/none-{number}.jpg",
            "id": number,
        }
        for at, number in enumerate((397133, 37777))
    ]
    captions = [
        (397133, 38, "A red kite above the sea."),
        (37777, 39, "A car stands in the desert."),
        (397133, 40, "Somebody is flying a kite.\n"),
        (5, 41, "An image nobody listed."),
    ]
    content = {
        "info": {"description": "COCO 2017 Dataset", "year": 2017},
        "licenses": [{"url": "http://creativecommons.org/licenses/by/2.0/", "id": 4, "name": "Attribution License"}],
        "images": images,
        "annotations": [{"image_id": image, "id": number, "caption": caption} for image, number, caption in captions],
    }
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def karpathy(path: Path) -> Path:
    """``dataset_flickr8k.json``."""
    splits = [("train", ["A red kite above the sea .", "A kite in the wind ."]), ("test", ["A blue car ."])]
    listed = [
        {
            "sentids": list(range(len(sentences))),
            "imgid": at,
            "sentences": [{"tokens": raw.lower().split()[:-1], "raw": raw, "imgid": at, "sentid": at} for raw in sentences],
            "split": split,
            "filename": NAMES[at],
        }
        for at, (split, sentences) in enumerate(splits)
    ]
    path.write_text(json.dumps({"images": listed, "dataset": "flickr8k"}), encoding="utf-8")
    return path


def flickr8k(path: Path) -> Path:
    """``Flickr8k.token.txt``; the real one, too, names a file that is not there."""
    rows = [
        f"{NAMES[0]}#0\tA red kite flies over blue water .",
        f"{NAMES[0]}#1\tThe kite is red .",
        f"{NAMES[1]}#0\tA blue car in the desert .",
        "2258277193_586949ec62.jpg.1#0\tpeople waiting for the subway",
    ]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def flickr30k_csv(path: Path) -> Path:
    """``results.csv``; the real one, too, has a row that lacks a bar."""
    rows = [
        "image_name| comment_number| comment",
        f"{NAMES[0]}| 0| A red kite flies over blue water .",
        f"{NAMES[1]}| 0| A blue car , parked | in the desert .",
        f"{NAMES[1]}| 4   A car stands in the sand .",
    ]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def pracegover(path: Path, form: str = "list") -> Path:
    """``dataset.json`` as a list or an object of posts, or a subset as lists by split."""
    posts = [
        {
            "user": "8f14e45f",
            "filename": NAMES[0],
            "raw_caption": "Bom dia! ☀️\n#PraCegoVer Na foto, uma pipa vermelha voa sobre o mar. Fim da descrição. #mar",
            "caption": "Na foto, uma pipa vermelha voa sobre o mar.",
            "date": "2020-07-14 12:00:00",
        },
        {
            "user": "c9f0f895",
            "filename": NAMES[1],
            "raw_caption": "#pracegover Um carro azul no deserto.",
            "caption": "Um carro azul no deserto.",
            "date": "2019-01-02 08:30:00",
        },
        {"user": "45c48cce", "raw_caption": "#PraCegoVer Sem arquivo.", "caption": "Sem arquivo.", "date": "2019-01-03 08:30:00"},
    ]
    forms = {"list": posts, "object": {str(at): post for at, post in enumerate(posts)}}
    content = (forms | {"splits": {"train": posts[:1], "validation": posts[1:], "test": []}})[form]
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1), encoding="utf-8")
    return path


def dropped(output: StageOutput) -> dict[int, str]:
    """Return row number → rule of the dropped rows."""
    rows = [row for row in output.ledger().to_pylist() if row["verdict"] == "dropped"]
    return {int(row["detail"].rpartition(" at ")[2].split()[0]): row["rule"] for row in rows}


def records(output: StageOutput) -> list[tuple[str, str, int]]:
    """Return (alt, image address, row number) of the records."""
    return [(row["alt"], row["image_url"], row["archive_offset"]) for row in output.table().to_pylist()]
