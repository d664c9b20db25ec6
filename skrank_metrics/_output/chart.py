"""Pictures on a page: values and intervals on one axis, drawn as SVG in the colours of the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape

# Most rows of a chart; the tables have the others.
MOST_MARKS = 20
# Names up to this length stay beside their marks even in a narrow window.
SHORT_NAME = 10
# Most ticks of an axis; in a window of 400 pixels, more would touch.
MOST_TICKS = 5
# Larger values are not drawn, since the length of the axis would overflow.
LARGEST = 1e300
# Margin beside the outermost marks, as a share of the axis: half a dot must fit.
MARGIN = 0.03


@dataclass(frozen=True)
class Mark:
    """One row of a chart: a dot with its interval, or a bar if it has a base."""

    name: str
    value: float
    text: str  # the value as the tables show it
    interval: tuple[float, float] = (math.nan, math.nan)
    base: float = math.nan
    warns: bool = False  # drawn in the second colour

    @property
    def ends(self) -> list[float]:
        """All values that must be on the axis."""
        return [end for end in (self.value, *self.interval, self.base) if abs(end) < LARGEST]


@dataclass(frozen=True)
class Chart:
    """Marks one below the other on one axis, with a line at a reference value."""

    title: str
    marks: Sequence[Mark]
    reference: float = math.nan

    def as_html(self) -> str:
        """A figure with one strip of SVG per mark, which follows the width of the window."""
        rows = "".join(self._row(mark) for mark in self._shown)
        kind = "chart short" if max(len(mark.name) for mark in self._shown) <= SHORT_NAME else "chart"
        cut = f" (the first {MOST_MARKS} of {len(self.marks)})" if len(self.marks) > MOST_MARKS else ""
        return f'<figure class="{kind}"><figcaption>{escape(self.title)}{cut}</figcaption>{rows}{self._axis}</figure>'

    @property
    def _shown(self) -> Sequence[Mark]:
        return self.marks[:MOST_MARKS]

    @cached_property
    def _range(self) -> tuple[float, float]:
        ends = [end for mark in self._shown for end in mark.ends]
        ends += [self.reference] if math.isfinite(self.reference) else []
        low, high = min(ends, default=0.0), max(ends, default=1.0)
        room = MARGIN * (high - low or abs(high)) or 1.0
        return low - room, high + room

    def _x(self, value: float) -> str:
        low, high = self._range
        return f"{100 * (value - low) / (high - low):.2f}%"

    def _row(self, mark: Mark) -> str:
        line = f' class="ref" x1="{self._x(self.reference)}" x2="{self._x(self.reference)}" y2="100%"'
        reference = f"<line{line}/>" if math.isfinite(self.reference) else ""
        return (
            f'<div><span>{escape(mark.name)}</span><svg aria-hidden="true">{reference}{self._drawn(mark)}</svg>'
            f"<b>{escape(mark.text)}</b></div>"
        )

    def _drawn(self, mark: Mark) -> str:
        kind = ' class="warn"' if mark.warns else ""
        if not abs(mark.value) < LARGEST:
            return ""
        if math.isfinite(mark.base):
            low, high = sorted((mark.base, mark.value))
            width = 100 * (high - low) / (self._range[1] - self._range[0])
            return f'<rect{kind} x="{self._x(low)}" y="15%" height="70%" width="{width:.2f}%"/>'
        dot = f'<circle{kind} cx="{self._x(mark.value)}" cy="50%" r="4.5"/>'
        if not math.isfinite(mark.interval[0]):
            return dot
        left, right = map(self._x, mark.interval)
        return f'<line{kind} x1="{left}" x2="{right}" y1="50%" y2="50%"/>{dot}'

    @property
    def _axis(self) -> str:
        texts = "".join(f'<text x="{self._x(tick)}" y="1em">{text}</text>' for tick, text in ticks(*self._range))
        return f'<div class="axis"><span></span><svg aria-hidden="true">{texts}</svg><b></b></div>'


def ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Round values for the ticks of an axis, and their labels."""
    rough = (high - low) / MOST_TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    numbers = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    return [(number * step, f"{number * step:,.{digits}f}") for number in numbers]
