import math
import re

import pytest

from skrank_metrics._output.chart import MARGIN, MOST_MARKS, Chart, Mark, ticks


def numbers(html, pattern):
    return [float(found) for found in re.findall(pattern, html)]


def test_dots_and_intervals_are_at_their_share_of_the_axis():
    html = Chart("t", [Mark("a", 2.0, "2", (1.0, 3.0)), Mark("b", 5.0, "5")]).as_html()
    # The axis is from 1 to 5, with room on both sides.
    low, length = 1 - 4 * MARGIN, 4 + 8 * MARGIN
    expected = [100 * (value - low) / length for value in (2, 5)]
    assert numbers(html, r'cx="([\d.]+)%"') == pytest.approx(expected, abs=0.01)
    assert numbers(html, r'x1="([\d.]+)%"') == pytest.approx([100 * (1 - low) / length], abs=0.01)
    assert numbers(html, r'x2="([\d.]+)%"') == pytest.approx([100 * (3 - low) / length], abs=0.01)


def test_bars_go_from_base_to_value_in_either_direction():
    html = Chart("t", [Mark("up", 3.0, "", base=1.0), Mark("down", 0.0, "", base=3.0, warns=True)]).as_html()
    low, length = -3 * MARGIN, 3 + 6 * MARGIN
    assert numbers(html, r'<rect[^>]* x="([\d.]+)%') == pytest.approx(
        [100 * (x - low) / length for x in (1, 0)], abs=0.01
    )
    assert numbers(html, r'width="([\d.]+)%') == pytest.approx([100 * w / length for w in (2, 3)], abs=0.01)
    assert html.count('class="warn"') == 1


def test_reference_is_on_the_axis_and_missing_values_are_not_drawn():
    html = Chart("t", [Mark("a", 2.0, "2"), Mark("b", math.nan, "nan", (math.nan, math.nan))], reference=0.0).as_html()
    assert html.count('class="ref"') == 2
    # The axis is from 0 to 2, with room on both sides.
    at = 100 * (0 + 2 * MARGIN) / (2 + 4 * MARGIN)
    assert numbers(html, r'class="ref" x1="(-?[\d.]+)%"') == pytest.approx([at, at], abs=0.01)
    assert html.count("<circle") == 1
    assert "nan%" not in html


@pytest.mark.parametrize("value", [0.0, 1.0, -3.0, 1e-12, 1e12, 5e-324, math.nan, math.inf])
def test_one_value_has_an_axis(value):
    assert numbers(Chart("t", [Mark("a", value, "")]).as_html(), r'cx="([\d.]+)%"') in ([50], [])


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 1, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (-0.05, 0.04, ["-0.04", "-0.02", "0.00", "0.02", "0.04"]),
        (0, 4000, ["0", "1,000", "2,000", "3,000", "4,000"]),
        (0.61, 0.63, ["0.610", "0.615", "0.620", "0.625", "0.630"]),
    ],
)
def test_ticks_are_round(low, high, expected):
    assert [text for _, text in ticks(low, high)] == expected
    assert [value for value, _ in ticks(low, high)] == pytest.approx([float(t.replace(",", "")) for t in expected])


@pytest.mark.parametrize(("n", "more"), [(MOST_MARKS, ""), (MOST_MARKS + 5, " (the first 20 of 25)")])
def test_marks_that_are_not_shown_are_counted(n, more):
    html = Chart("Folds", [Mark(f"name {i}", float(i), "") for i in range(n)]).as_html()
    assert html.count("<circle") == MOST_MARKS
    assert f"<figcaption>Folds{more}</figcaption>" in html
