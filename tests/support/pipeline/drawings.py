"""Drawn images and their captions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw

COLOURS = ("red", "green", "blue", "black", "orange", "purple")
SHAPES = ("square", "circle", "triangle", "line")


def captions(number: int, count: int) -> list[str]:
    """As many different captions of a drawn image."""
    colour, shape = COLOURS[number % 6], SHAPES[number % 4]
    return [f"a {colour} {shape}" + (f" drawn as number {n}" if n else "") for n in range(count)]


def draw(folder: Path, names: Sequence[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(names):
        image = Image.new("RGB", (96, 80), "white")
        brush = ImageDraw.Draw(image)
        box, colour = (20 + number, 15, 60 + number, 55), COLOURS[number % 6]
        if SHAPES[number % 4] == "circle":
            brush.ellipse(box, fill=colour)
        elif SHAPES[number % 4] == "square":
            brush.rectangle(box, fill=colour)
        else:
            brush.polygon([(20, 60), (60 + number, 60), (40, 10 + number)], fill=colour)
        brush.text((2, 66), name, fill="grey")
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        image.save(folder / name, "JPEG")
