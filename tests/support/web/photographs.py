"""Images with a photograph's grain."""

from __future__ import annotations

import io

from PIL import Image

from tests.support.crawl.fixture_web import drawn_image


def photograph(width: int, height: int, **options: object) -> bytes:
    """A JPEG with the detail of a photograph, large enough to be decoded at a reduced scale."""
    with Image.open(io.BytesIO(drawn_image(("red", "kite", "on a green field"), kind="PNG"))) as image:
        large = image.convert("RGB").resize((width, height), Image.Resampling.BICUBIC)
    grain = Image.effect_noise((width, height), 40).convert("RGB")
    buffer = io.BytesIO()
    Image.blend(large, grain, 0.15).save(buffer, "JPEG", quality=85, **options)
    return buffer.getvalue()
