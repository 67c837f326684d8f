"""Text in images is read where it is sure, repeated in the alt-text, and never guessed."""

from __future__ import annotations

import io
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from components.tools.describe.describer import Describer
from components.tools.describe.wording import MOST_TEXT, with_text
from components.vision.text_reader import _reader, read_text_lines
from tests.support.describe.world import drawn_image

FONT = Path(matplotlib.get_data_path()) / "fonts/ttf/DejaVuSans.ttf"


def written(*lines: str) -> bytes:
    """A PNG with lines of text."""
    image = Image.new("RGB", (640, 70 * len(lines) + 40), "white")
    for place, line in enumerate(lines):
        ImageDraw.Draw(image).text((20, 20 + 70 * place), line, fill="black", font=ImageFont.truetype(FONT, 32))
    target = io.BytesIO()
    image.save(target, "PNG")
    return target.getvalue()


def test_lines_are_read_in_order_with_their_confidence_accents_included() -> None:
    lines = read_text_lines(written("Promoção de verão", "Open daily"))
    assert [line.text for line in lines] == ["Promoção de verão", "Open daily"]
    assert all(0.95 <= line.confidence <= 1.0 for line in lines)


def test_an_image_without_text_gives_none() -> None:
    assert read_text_lines(drawn_image("red")) == ()


def test_a_single_sign_and_what_the_reader_is_not_sure_of_are_left_out() -> None:
    sign = Image.new("RGB", (240, 200), "white")
    ImageDraw.Draw(sign).text((60, 30), "8", fill="black", font=ImageFont.truetype(FONT, 60))
    twice = Image.new("RGB", (500, 120), "white")
    for place, line in enumerate(("Open daily", "Closed now")):
        ImageDraw.Draw(twice).text((20 + 4 * place, 30 + 10 * place), line, fill="black", font=ImageFont.truetype(FONT, 40))
    for image, sure in ((sign, True), (twice, False)):
        found = _reader()(np.asarray(image)[:, :, ::-1])
        assert found.txts and (min(found.scores) > 0.97 if sure else max(found.scores) < 0.9), "the reader itself sees something"
        target = io.BytesIO()
        image.save(target, "PNG")
        assert read_text_lines(target.getvalue()) == ()


def test_the_text_follows_the_caption_and_stands_alone_without_one(project: Path) -> None:
    description = Describer.open(project, "en").describe(written("Open daily"))
    assert [line.text for line in description.text] == ["Open daily"]
    assert description.alt.endswith("Text in the image: Open daily")
    assert description.plain()["text"] == [{"text": "Open daily", "confidence": round(description.text[0].confidence, 4)}]


@pytest.mark.parametrize(
    ("alt", "lines", "language", "expected"),
    [
        ("a shop", ["Open"], "en", "a shop. Text in the image: Open"),
        ("a shop.", ["Open", "daily"], "en", "a shop. Text in the image: Open / daily"),
        ("", ["Aberto"], "pt", "Texto na imagem: Aberto"),
        ("a shop", [], "en", "a shop"),
    ],
)
def test_alt_texts_say_what_is_text(alt: str, lines: list[str], language: str, expected: str) -> None:
    assert with_text(alt, lines, language) == expected


def test_a_long_text_is_cut_at_a_word() -> None:
    alt = with_text("a page", ["word " * 100], "en")
    assert alt.endswith("word …") and len(alt) < len("a page. Text in the image: ") + MOST_TEXT + 3


def test_the_setting_turns_reading_off_and_says_so(project: Path, tmp_path: Path) -> None:
    settings = (project / "params.yaml").read_text()
    try:
        (project / "params.yaml").write_text(settings + "describe: {read_text: false}\n")
        description = Describer.open(project, "en").describe(written("Open daily"))
    finally:
        (project / "params.yaml").write_text(settings)
    assert description.text == () and "Text in the image is not read." in description.limits
