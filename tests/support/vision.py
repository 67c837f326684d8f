"""A drawn image in any mode and format."""

from __future__ import annotations

import io

from PIL import Image, ImageDraw


def drawn_image(mode: str = "RGB", size: tuple[int, int] = (120, 90), kind: str = "PNG") -> bytes:
    image = Image.new(mode, size)
    ImageDraw.Draw(image).ellipse((10, 10, 80, 60), fill=200 if mode == "L" else None, outline=1)
    out = io.BytesIO()
    image.save(out, kind)
    return out.getvalue()
