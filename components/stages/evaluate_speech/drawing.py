"""Histograms of the drawn prosody parameters as inline SVG."""

from __future__ import annotations

from components.reporting import svg
from components.stages.evaluate_speech.facts import Draws

WIDTH, HEIGHT = 320, 190
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 14, 40
LABELS = {"rate": ("Rate", "times the voice's default"), "pitch": ("Pitch", "semitones"), "gain": ("Gain", "dB")}
TICKS = 5


def describe_histogram(draws: Draws) -> str:
    """Return a histogram's text alternative."""
    name, unit = LABELS[draws.name]
    return (
        f"{name}: mean {draws.mean:.3f}, standard deviation {draws.deviation:.3f} {unit}; "
        f"the paper's clipped distribution has {draws.expected_mean:.3f} and {draws.expected_deviation:.3f}."
    )


def draw_histogram(draws: Draws) -> str:
    """Return the SVG of one parameter: bars for the draws, a stepped line for the paper's distribution."""
    low, high = draws.edges[0], draws.edges[-1]
    most = max([*draws.shares, *draws.expected]) * 1.08
    across, down = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def x(value: float) -> float:
        return LEFT + across * (value - low) / (high - low)

    def y(share: float) -> float:
        return TOP + down * (1 - share / most)

    edges = [x(edge) for edge in draws.edges]
    parts = svg.percent_axis(
        [(share, y(share)) for share in svg.ticks(most, (0.02, 0.05, 0.1, 0.2), 5, 0.25)], LEFT, WIDTH - RIGHT, 6
    )
    parts += [svg.bar(edges[n], y(share), edges[n + 1] - edges[n], y(0)) for n, share in enumerate(draws.shares)]
    parts.append(svg.path(svg.steps(edges, [y(share) for share in draws.expected])))
    for value in (low + (high - low) * n / (TICKS - 1) for n in range(TICKS)):
        parts.append(svg.text(x(value), HEIGHT - BOTTOM + 16, f"{value:.4g}"))
    parts.append(svg.text(LEFT + across / 2, HEIGHT - 6, LABELS[draws.name][1]))
    return svg.plot(WIDTH, HEIGHT, describe_histogram(draws), parts)
