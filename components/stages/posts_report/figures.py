"""The figures of the report with their titles; ``data/parts.html`` has their text alternatives."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from components.stages.posts_report import plots
from components.stages.posts_report.clusters import OUTLIER, Sheet
from components.stages.posts_report.facts import PostsReport
from components.stages.posts_report.words import Topic
from components.web.images.opening import UnreadableImageError, read_image

CELL, GAP, LABEL, FRAME = 150, 14, 22, 6
"""Pixels: side of an image, gap between images, height of a label, width of a frame."""
COLUMNS = 6
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#b0307a", "#6a4c93", "#8a6d00")
"""Distinguishable with any colour vision and dark enough on white; with the line styles they give 18 different frames."""
LINES = ("solid", "dashed", "dotted")
SHADES = ("#1f3a4d", "#b8452f", "#33667f", "#5d7a3a", "#55707f")


def contact_sheet(sheet: Sheet, read: Callable[[str], bytes | None]) -> bytes:
    """Return a contact sheet as PNG, with numbered images.

    Duplicates have a frame of equal colour and line and a letter; dropped posts have a crossed corner.

    Args:
        read: returns the image's bytes by key, or None, which leaves a labelled empty cell.
    """
    rows = -(-len(sheet.shown) // COLUMNS)
    width = COLUMNS * (CELL + GAP) + GAP
    page = Image.new("RGB", (width, max(1, rows) * (CELL + LABEL + GAP) + GAP), "white")
    pen = ImageDraw.Draw(page)
    font = ImageFont.truetype(str(_font_path()), 14)
    letters = list(dict.fromkeys(shown.duplicates for shown in sheet.shown if shown.duplicates))
    for number, shown in enumerate(sheet.shown):
        left = GAP + number % COLUMNS * (CELL + GAP)
        top = GAP + number // COLUMNS * (CELL + LABEL + GAP)
        image = _thumbnail(read(shown.key))
        if image is None:
            pen.rectangle([left, top, left + CELL - 1, top + CELL - 1], fill="#eef2f4")
            pen.text((left + 12, top + CELL // 2 - 8), "cannot be shown", fill="#55707f", font=font)
        else:
            page.paste(image, (left + (CELL - image.width) // 2, top + (CELL - image.height) // 2))
        colour = "#1d2a33"
        if shown.duplicates:
            at = letters.index(shown.duplicates)
            colour = COLOURS[at % len(COLOURS)]
            _frame(pen, left, top, colour, LINES[at // len(COLOURS) % len(LINES)])
        if shown.dropped:
            _cross(pen, left + CELL - 26, top + 4, colour)
        label = f"{number + 1}" + (f" · {shown.duplicates}" if shown.duplicates else "")
        pen.text((left, top + CELL + 4), label, fill=colour, font=font)
    return _png(page)


def word_cloud(topic: Topic, seed: int) -> bytes:
    """Return a topic's word cloud as PNG; the more probable a word, the larger."""
    # Imported here: matplotlib is slow to load.
    from wordcloud import WordCloud

    def word_colour(word: str, **_: Any) -> str:
        return SHADES[sum(word.encode()) % len(SHADES)]

    image = WordCloud(
        font_path=str(_font_path()), width=620, height=340, margin=4, background_color="white", prefer_horizontal=1.0,
        relative_scaling=0.5, random_state=seed, color_func=word_colour, max_words=len(topic.words), min_font_size=9,
    ).generate_from_frequencies(dict(topic.words))  # fmt: skip
    return _png(image.to_image())


def _thumbnail(data: bytes | None) -> Image.Image | None:
    if data is None:
        return None
    try:
        image = read_image(data, enough=2 * CELL).pixels
    except UnreadableImageError:
        return None
    inside = CELL - 2 * FRAME - 4
    scale = inside / max(image.size)
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    return image.resize(size, Image.Resampling.LANCZOS)


def _frame(pen: Any, left: int, top: int, colour: str, line: str) -> None:
    step, dash = {"solid": (CELL, CELL), "dashed": (26, 16), "dotted": (2 * FRAME, FRAME)}[line]
    end = CELL - 1
    for start in range(0, CELL, step):
        stop = min(start + dash, CELL) - 1
        pen.rectangle([left + start, top, left + stop, top + FRAME - 1], fill=colour)
        pen.rectangle([left + start, top + end - FRAME + 1, left + stop, top + end], fill=colour)
        pen.rectangle([left, top + start, left + FRAME - 1, top + stop], fill=colour)
        pen.rectangle([left + end - FRAME + 1, top + start, left + end, top + stop], fill=colour)


def _cross(pen: Any, left: int, top: int, colour: str) -> None:
    pen.rectangle([left, top, left + 21, top + 21], fill=colour)
    pen.line([left + 5, top + 5, left + 16, top + 16], fill="white", width=3)
    pen.line([left + 5, top + 16, left + 16, top + 5], fill="white", width=3)


def _font_path() -> Path:
    # Imported here: matplotlib is slow to load.
    import matplotlib

    return Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"


def _png(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


@dataclass(frozen=True)
class Figure:
    """A drawn figure."""

    key: str
    title: str
    png: bytes


def draw_all(report: PostsReport, read: Callable[[str], bytes | None], seed: int) -> Iterator[Figure]:
    """Yield the figures that have data, in the order of the page.

    Args:
        read: returns the bytes of a post's image by its key, or None.
        seed: seed of the word clouds' layout.
    """
    if report.collected:
        yield Figure("loss", "Posts lost in each step", plots.draw_loss(report))
    if any(series.days for series in report.growth):
        yield Figure("growth", "Posts over time", plots.draw_growth(report))
    if report.sizes_after:
        yield Figure("cluster_sizes", "Clusters by size", plots.draw_cluster_sizes(report))
    if report.positions:
        yield Figure("map", "Map of the images", plots.draw_cluster_map(report))
    for sheet in report.sheets:
        name = "outliers" if sheet.cluster == OUTLIER else f"{sheet.cluster:04d}"
        yield Figure(f"sheet_{name}", sheet_title(sheet), contact_sheet(sheet, read))
    for number, topic in enumerate(report.topics, start=1):
        yield Figure(f"topic_{number:02d}", f"Topic {number}", word_cloud(topic, seed))
    if plots.described_sets(report):
        yield Figure("lengths", "Words per description", plots.draw_lengths(report))
        yield Figure("frequencies", "Words by frequency", plots.draw_frequencies(report))
    for number, groups in enumerate(report.contrasts or (), start=1):
        if any(group.words for group in groups):
            title = f"Words that co-occur with {' and '.join(group.name for group in groups)}"
            yield Figure(f"bias_{number}", title, plots.draw_contrast(groups))


def sheet_title(sheet: Sheet) -> str:
    """Return a sheet's heading: its cluster, number of posts and characteristic words."""
    name = "Outliers" if sheet.cluster == OUTLIER else f"Cluster {sheet.cluster}"
    return f"{name}: {sheet.posts:,} posts" + (f" · {', '.join(sheet.words)}" if sheet.words else "")
