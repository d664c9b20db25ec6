"""What all pictures share: colours, legends that cover nothing, ticks and digits."""

import itertools

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb

from skrank_metrics import (
    ComparisonDisplay,
    CVResultsDisplay,
    DifferenceDisplay,
    LeaderboardDisplay,
    MetricAtKDisplay,
    QueryScoreDisplay,
    RaceDisplay,
    SplitDisplay,
)
from skrank_metrics.displays._base import COLOURS, GREY, count_ticks, decimals

LONG = "LGBMRanker(num_leaves=31, learning_rate=0.05, objective=lambdarank), run {}"
# The lightest and the darkest background of common themes: white, black, and the grey of dark editors.
BACKGROUNDS = ("#ffffff", "#000000", "#1e1e1e")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def curve(name, ax=None, level=0.5):
    return MetricAtKDisplay([1, 2, 5], 3 * [level], 3 * [level / 2], 3 * [level], metric="ndcg", name=name).plot(ax)


def distribution(name, ax=None, level=0.5):
    return QueryScoreDisplay([level, level + 0.25], level, metric="ndcg", name=name).plot(ax)


def differences(name, ax=None):
    names = (name, f"{name} again")
    return ComparisonDisplay([0.5, 0, -0.25], 0.125, (-0.5, 0.75), metric="ndcg", names=names).plot(ax)


def candidates(name, ax=None):
    return CVResultsDisplay([[0.5, 0.7], [0.4, 0.5]], [name, f"{name} again"], metric="ndcg").plot(ax)


def board(name, ax=None):
    names = [f"{name} the best", name, f"{name} again"]
    ends = [(-0.5, 0.25), (-0.75, -0.25)]
    return LeaderboardDisplay(names, [-0.125, -0.5], ends, [False, True], metric="ndcg").plot(ax)


def race(name, ax=None):
    return RaceDisplay([[0.5, 0.7], [0.4, np.nan]], 0, metric="ndcg", name=name).plot(ax)


def folds(name, ax=None):
    return SplitDisplay([300, 100], [20, 10], [0.5, 0.25], [0, 2], splitter=name).plot(ax)


def waterfall(name, ax=None):
    conventions = ("sklearn", "lightgbm")
    return DifferenceDisplay(0.5, [0.25, -0.5], [name, "ties"], metric="ndcg", conventions=conventions).plot(ax)


DRAW = [curve, distribution, differences, candidates, board, race, folds]


@pytest.mark.parametrize("draw", [curve, distribution, candidates, race, folds])
def test_entries_of_a_legend_differ_in_colour_and_in_shape(draw):
    ax = draw("model").ax_
    if draw in (curve, distribution):
        draw("other", ax)
    lines = [line for line in ax.get_legend().legend_handles if hasattr(line, "get_marker")]
    assert len(lines) > 1
    assert len({line.get_color() for line in lines}) == len(lines)
    assert len({(line.get_marker(), line.get_linestyle()) for line in lines}) == len(lines)


def luminance(colour):
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("background", BACKGROUNDS)
@pytest.mark.parametrize("colour", [*COLOURS, GREY])
def test_colours_have_a_contrast_of_three_to_one(colour, background):
    dark, light = sorted([luminance(colour), luminance(background)])
    assert (light + 0.05) / (dark + 0.05) >= 3


# Machado, Oliveira & Fernandes (2009), on linear RGB: how full protanopia, deuteranopia and tritanopia see colours.
BLINDNESS = {
    "none": np.eye(3),
    "red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
# From linear RGB to the responses of cones, and from their cube roots to OKLab (Ottosson 2020).
TO_CONES = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
]
TO_LAB = [
    [0.2104542553, 0.793617785, -0.0040720468],
    [1.9779984951, -2.428592205, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.808675766],
]


@pytest.mark.parametrize("kind", BLINDNESS)
def test_any_two_colours_are_distinct_with_every_kind_of_colour_blindness(kind):
    rgb = np.array([to_rgb(colour) for colour in COLOURS])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.transpose(BLINDNESS[kind]), 0, 1)
    places = np.cbrt(seen @ np.transpose(TO_CONES)) @ np.transpose(TO_LAB)
    # 0.02 is just visible.
    assert min(np.linalg.norm(one - other) for one, other in itertools.combinations(places, 2)) >= 0.07


@pytest.mark.slow
@pytest.mark.parametrize(("draw", "second"), [(curve, "get_marker"), (distribution, "_dash_pattern")])
def test_more_models_than_colours_are_distinct(draw, second):
    lines, ax = [], None
    for model in range(30):
        ax = draw(f"model {model}", ax).ax_
        line = ax.get_lines()[-1]
        found = getattr(line, second)
        lines.append((line.get_color(), str(found() if callable(found) else found)))
    assert len(set(lines)) == 30
    assert len({colour for colour, _ in lines[:6]}) == 6


def boxes(display):
    display.figure_.figure.draw_without_rendering()
    ax = display.ax_
    return ax.get_legend().get_window_extent(), ax.bbox, ax.title.get_window_extent(), display.figure_.bbox


def assert_clear(display):
    """The legend is in the figure, and covers neither the axes nor the title."""
    legend, axes, title, figure = boxes(display)
    assert figure.x0 <= legend.x0 <= legend.x1 <= figure.x1
    assert figure.y0 <= legend.y0 <= legend.y1 <= figure.y1
    assert not legend.overlaps(title)
    assert legend.x0 >= axes.x1
    assert axes.width > figure.width / 4
    label = display.ax_.yaxis.label
    if label.get_text():
        assert figure.x0 <= label.get_window_extent().x0 < label.get_window_extent().x1 <= axes.x0


@pytest.mark.parametrize("own_axes", [True, False])
@pytest.mark.parametrize("name", ["model", LONG])
@pytest.mark.parametrize("draw", DRAW)
@pytest.mark.slow
def test_a_legend_covers_nothing_and_is_not_clipped(draw, name, own_axes):
    display = draw(name, None if own_axes else plt.subplots()[1])
    display.ax_.set_title("A title that its user has set, which is as long as the axes are wide")
    assert_clear(display)


@pytest.mark.parametrize("own_axes", [True, False])
def test_values_beside_the_axes_are_not_clipped(own_axes):
    display = waterfall(LONG, None if own_axes else plt.subplots()[1])
    display.ax_.set_title("A title")
    display.figure_.draw_without_rendering()
    figure, axes = display.figure_.bbox, display.ax_.bbox
    for text in display.texts_:
        box = text.get_window_extent()
        assert axes.x1 <= box.x0 < box.x1 <= figure.x1
        assert axes.y0 <= box.y0 < box.y1 <= axes.y1
    assert min(label.get_window_extent().x0 for label in display.ax_.get_yticklabels()) >= figure.x0
    assert all(axes.x0 < display.ax_.transData.transform((bar.get_x(), 0))[0] < axes.x1 for bar in display.bars_)


@pytest.mark.parametrize("n_models", [2, 10, 12])
@pytest.mark.parametrize("draw", [curve, distribution])
@pytest.mark.slow
def test_a_legend_of_many_models_with_long_names_is_not_clipped(draw, n_models):
    display = None
    for model in range(n_models):
        display = draw(LONG.format(model), display and display.ax_)
    assert_clear(display)
    names = [text.get_text().replace("\n", "").replace(" ", "") for text in display.ax_.get_legend().get_texts()]
    wanted = [LONG.format(model).replace(" ", "") for model in range(n_models)]
    assert [name[: len(want)] for name, want in zip(names, wanted, strict=True)] == wanted


def test_axes_without_a_place_in_a_grid_have_the_legend_inside():
    figure = plt.figure()
    display = curve("model", figure.add_axes((0, 0, 1, 1)))
    legend, axes, *_ = boxes(display)
    assert axes.x0 <= legend.x0 <= legend.x1 <= axes.x1


def test_a_layout_that_the_user_chose_stays():
    ax = plt.subplots(layout="tight")[1]
    engine = ax.figure.get_layout_engine()
    assert curve("model", ax).figure_.get_layout_engine() is engine
    (part,) = plt.figure().subfigures(1, 1, squeeze=False).ravel()
    assert_clear(curve("model", part.subplots()))


@pytest.mark.parametrize("draw", [*DRAW, waterfall])
def test_nothing_is_drawn_in_the_colour_of_the_background(draw):
    with plt.style.context("dark_background"):
        ax = draw("model").ax_
        colours = [line.get_color() for line in ax.get_lines() if len(line.get_xdata())]
        colours += [colour for part in ax.collections if part.get_alpha() is None for colour in part.get_facecolor()]
        colours += [
            text.get_color()
            for text in (ax.xaxis.label, ax.yaxis.label, *(ax.get_legend().get_texts() if ax.get_legend() else ()))
        ]
    assert min(luminance(colour) for colour in colours) > 0.1


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ((1, 20), [1, 5, 10, 15, 20]),
        ((1, 3), [1, 2, 3]),
        ((1, 1000), [1, 200, 400, 600, 800, 1000]),
        ((5, 10), [6, 7, 8, 9, 10]),
    ],
)
def test_ticks_are_whole_and_begin_at_one(ends, expected):
    assert count_ticks(*ends) == expected


def test_the_first_rank_has_a_tick_for_several_models_too():
    other = MetricAtKDisplay([1, 50], [0.5, 1], [0, 1], [0.5, 1], metric="ndcg").plot(curve("model").ax_)
    assert other.ax_.get_xticks().tolist() == [1, 10, 20, 30, 40, 50]


def test_long_curves_have_fewer_markers():
    ranks = np.arange(1, 1001)
    display = MetricAtKDisplay(ranks, ranks / 1000, ranks / 1000, ranks / 1000, metric="recall").plot()
    assert display.line_.get_markevery() == 40
    assert curve("model").line_.get_markevery() == 1


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [((0.5,), 4), ((0.0, np.nan), 4), ((0.5, -0.00012), 4), ((0.5, 0.00001), 5), ((3e-6, np.inf), 6), ((1e-12,), 8)],
)
def test_digits_show_the_sign_of_each_number(numbers, expected):
    assert decimals(*numbers) == expected


def test_a_verdict_has_the_digits_that_it_needs():
    display = ComparisonDisplay([0.5, -0.25], 0.125, (0.00002, 0.875), metric="mrr").plot()
    assert display.ax_.get_legend().get_texts()[-1].get_text().split()[-2:] == ["[+0.00002,", "+0.87500]"]


def test_equal_queries_are_counted():
    display = ComparisonDisplay([0.5, 0, 0], 0.5 / 3, (-0.5, 0.75), metric="mrr").plot()
    names = [text.get_text().replace("\n", " ") for text in display.ax_.get_legend().get_texts()]
    assert names[:3] == ["first better: 1 query", "second better: 0 queries", "equal: 2 queries"]
