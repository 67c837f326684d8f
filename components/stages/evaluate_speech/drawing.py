"""The histograms of the draws as SVG in the page, so that they follow its colours and need no file."""

from __future__ import annotations

from components.stages.evaluate_speech.facts import Draws

WIDTH, HEIGHT = 320, 190
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 14, 40
LABELS = {"rate": ("Rate", "times the voice's own"), "pitch": ("Pitch", "semitones"), "gain": ("Gain", "dB")}
TICKS = 5


def told(draws: Draws) -> str:
    """The histogram in a sentence."""
    name, unit = LABELS[draws.name]
    return (
        f"{name}: mean {draws.mean:.3f}, standard deviation {draws.deviation:.3f} {unit}; "
        f"the paper's clipped distribution has {draws.expected_mean:.3f} and {draws.expected_deviation:.3f}."
    )


def histogram(draws: Draws) -> str:
    """The SVG of one parameter: bars for what was drawn, a stepped line for what the paper's distribution gives."""
    low, high = draws.edges[0], draws.edges[-1]
    most = max([*draws.shares, *draws.expected]) * 1.08
    across, down = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def x(value: float) -> float:
        return LEFT + across * (value - low) / (high - low)

    def y(share: float) -> float:
        return TOP + down * (1 - share / most)

    parts = [f'<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{told(draws)}">']
    step = _step(most)
    for tick in range(int(most / step) + 1):
        share = tick * step
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(share):.1f}" y2="{y(share):.1f}"/>')
        parts.append(f'<text class="end" x="{LEFT - 6}" y="{y(share) + 4:.1f}">{100 * share:.0f} %</text>')
    for n, share in enumerate(draws.shares):
        left, right = x(draws.edges[n]), x(draws.edges[n + 1])
        parts.append(
            f'<rect class="bar" x="{left + 0.5:.1f}" y="{y(share):.1f}" '
            f'width="{right - left - 1:.1f}" height="{y(0) - y(share):.1f}"/>'
        )
    corners = [f"{x(draws.edges[n + side]):.1f} {y(share):.1f}" for n, share in enumerate(draws.expected) for side in (0, 1)]
    parts.append(f'<path class="line" d="M{"L".join(corners)}"/>')
    for n in range(TICKS):
        value = low + (high - low) * n / (TICKS - 1)
        parts.append(f'<text class="mid" x="{x(value):.1f}" y="{HEIGHT - BOTTOM + 16}">{value:.4g}</text>')
    parts.append(f'<text class="mid" x="{LEFT + across / 2:.1f}" y="{HEIGHT - 6}">{LABELS[draws.name][1]}</text></svg>')
    return "".join(parts)


def _step(most: float) -> float:
    return next((step for step in (0.02, 0.05, 0.1, 0.2) if most / step <= 5), 0.25)
