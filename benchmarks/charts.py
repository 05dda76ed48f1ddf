"""Scaling curves as SVG, logarithmic on both axes: a straight line is a power law."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from benchmarks.summary import Series

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 64, 168, 36, 48
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Okabe and Ito's palette, which colour-blind readers can tell apart."""
STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#333}.t{font-weight:600;font-size:14px}"
    ".g{stroke:#ddd}.a{stroke:#888}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.g{stroke:#444}svg{background:#111}}"
)


def chart(title: str, along: str, figure: str, lines: Sequence[Series]) -> str:
    """A picture that says in words what its lines are."""
    xs = [x for line in lines for x, _ in line.points]
    ys = [y for line in lines for _, y in line.points]
    across = _Axis(xs, LEFT, WIDTH - RIGHT)
    up = _Axis(ys, HEIGHT - BOTTOM, TOP)
    parts = [*_grid(across, up), *_lines(lines, across, up)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(title)}"><style>{STYLE}</style>'
        f'<text class="t" x="{LEFT}" y="20">{escape(title)}</text>{"".join(parts)}'
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 10}" text-anchor="middle">'
        f"{escape(along)}</text>"
        f'<text x="8" y="{TOP - 8}">{escape(figure)}</text></svg>\n'
    )


class _Axis:
    """Powers of ten around the values, onto pixels."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        self.low = math.floor(math.log10(min(values)))
        self.high = max(self.low + 1, math.ceil(math.log10(max(values))))
        self._start, self._end = start, end

    def __call__(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self._start + share * (self._end - self._start)

    def ticks(self) -> Iterator[float]:
        yield from (10.0**power for power in range(self.low, self.high + 1))


def _grid(across: _Axis, up: _Axis) -> Iterator[str]:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    for tick in across.ticks():
        x = f"{across(tick):.1f}"
        yield f'<line class="g" x1="{x}" x2="{x}" y1="{TOP}" y2="{bottom}"/>'
        yield f'<text x="{x}" y="{bottom + 18}" text-anchor="middle">{tick:,.10g}</text>'
    for tick in up.ticks():
        y = f"{up(tick):.1f}"
        yield f'<line class="g" x1="{LEFT}" x2="{right}" y1="{y}" y2="{y}"/>'
        yield f'<text x="{LEFT - 6}" y="{y}" dy="4" text-anchor="end">{tick:,.10g}</text>'


def _lines(lines: Sequence[Series], across: _Axis, up: _Axis) -> Iterator[str]:
    for number, line in enumerate(lines):
        colour = COLOURS[number % len(COLOURS)]
        spots = [(f"{across(x):.1f}", f"{up(y):.1f}") for x, y in line.points]
        path = " ".join(f"{x},{y}" for x, y in spots)
        yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
        for x, y in spots:
            yield f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>'
        label = TOP + 14 + 18 * number
        slope = "" if line.exponent is None else f", ~n^{line.exponent:.2f}"
        yield f'<rect x="{WIDTH - RIGHT + 12}" y="{label - 9}" width="10" height="10" '
        yield f'fill="{colour}"/><text x="{WIDTH - RIGHT + 28}" y="{label}">'
        yield f"{escape(line.method + slope)}</text>"
