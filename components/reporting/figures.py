"""Matplotlib figures as PNG; equal data gives equal bytes."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

INK, SOFT, PALE, GREY, EDGE = "#1f3a4d", "#7fa6bd", "#dbe6ec", "#55707f", "#9db4c0"


def pyplot() -> Any:
    """Return ``matplotlib.pyplot`` with a backend that needs no display."""
    # Slow to import, and pages without figures need only the colours of this module.
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as module

    return module


@contextmanager
def drawing(columns: int = 1, *, width: float = 9.0, height: float = 4.0) -> Iterator[tuple[Any, Any, io.BytesIO]]:
    """Yield a figure in the project's style, its axes from left to right, and a buffer that holds the PNG after the block.

    Args:
        width, height: size in inches.
    """
    module = pyplot()
    style = {"font.size": 10.0, "font.family": "DejaVu Sans", "axes.edgecolor": EDGE, "axes.labelcolor": INK}
    with module.rc_context(style):
        figure, axes = module.subplots(1, columns, figsize=(width, height), squeeze=False)
        for axis in axes.flat:
            axis.spines[["top", "right"]].set_visible(False)
            axis.tick_params(colors=GREY)
        buffer = io.BytesIO()
        yield figure, axes[0], buffer
        buffer.write(png(figure, 130))


def png(figure: Any, dpi: int) -> bytes:
    """Render a figure as PNG and close it."""
    buffer = io.BytesIO()
    # No software or date stamp: the same data must give the same bytes.
    figure.savefig(buffer, format="png", dpi=dpi, bbox_inches="tight", metadata={"Software": None})
    pyplot().close(figure)
    return buffer.getvalue()
