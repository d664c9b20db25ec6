"""What all pictures share: colours that can be told apart, nothing that is cut off, and pictures inside pages."""

import itertools
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer, r2_score
from sklearn.model_selection import GridSearchCV

from skrank_metrics import compare, evaluate
from skrank_metrics.conventions._explain_difference import Cause, Difference
from skrank_metrics.displays import (
    CVResultsDisplay,
    MetricAtKDisplay,
    QueryPairDisplay,
    page_picture,
    style,
)
from skrank_metrics.reports import RankingReport
from skrank_metrics.splitters.audit import SplitReport

DOCS = Path(__file__).parents[2] / "docs"
LONG = "LGBMRanker(num_leaves=31, learning_rate=0.05, objective=lambdarank), run {}"
# The lightest and the darkest backgrounds of common themes.
BACKGROUNDS = {style.LIGHT: ["#ffffff"], style.DARK: ["#000000", "#1e1e1e"]}


def report(values, metrics=("ndcg@10", "map", "mrr")):
    columns = dict.fromkeys(metrics, values)
    columns["qid"] = range(len(values))
    return RankingReport.from_frame(columns)


def comparison(names):
    reports = {
        name: report(np.linspace(0.1, 0.7 - number / 100, 40)) for number, name in enumerate(names)
    }
    return compare(reports) if len(reports) > 1 else reports[names[0]]


def pair(names):
    reports = {
        names[0]: report([0.1, 0.5, 0.75] * 9),
        names[-1] + " again": report([0.2, 0.5, 0.25] * 9),
    }
    return compare(reports, "mrr")


def curves(names):
    metrics = ["recall@1", "recall@2", "recall@5"]
    reports = {
        name: report(np.linspace(0, 0.5 + number / 50, 9), metrics)
        for number, name in enumerate(names)
    }
    return compare(reports) if len(reports) > 1 else reports[names[0]]


def distributions(names):
    by = np.repeat(names, 3)
    values = np.tile([0.0, 0.5, 1.0], len(names))
    columns = {"mrr": values, "by": by, "qid": range(len(by))}
    return RankingReport.from_frame(columns)


def points(names):
    reports = {
        names[0]: report([0.1, 0.5, 0.75] * 9),
        names[-1] + " again": report([0.2] * 27),
    }
    return compare(reports, "map")


def candidates(names):
    names = names if len(names) > 1 else [*names, "defaults"]
    search = GridSearchCV(Ridge(), {"alpha": [1]}, scoring=make_scorer(r2_score))
    search.cv_results_ = {
        "params": [{"name": name} for name in names],
        "mean_test_score": np.full(len(names), 0.55),
        "split0_test_score": np.full(len(names), 0.5),
        "split1_test_score": np.full(len(names), 0.6),
    }
    search.scorer_ = search.scoring
    return search


def waterfall(names):
    effects = np.resize([0.25, -0.5], len(names)).tolist()
    causes = [
        Cause("gain", name, effect, name) for name, effect in zip(names, effects, strict=True)
    ]
    conventions = ("sklearn", "lightgbm")
    end = 0.5 + sum(effects)
    return Difference("ndcg", conventions, 0.5, end, causes, [])


def folds(names):
    count = np.ones(len(names), dtype=int)
    leaks = np.arange(len(names))
    table = {
        "documents": 300 * count,
        "queries": 20 * count,
        "share_relevant": 0.5 * count,
        "leaking": leaks,
    }
    ids = {"leaking": [np.arange(n) for n in leaks]}
    return SplitReport(" ".join(names), table, ids)


SHOW = {curves: MetricAtKDisplay, candidates: CVResultsDisplay, points: QueryPairDisplay}


def draw(make, names, **options):
    """Draw a result with these names: by the display that draws it, which is that of ``plot`` for most results."""
    result = make(names)
    if make in SHOW:
        return SHOW[make].from_result(result, **options)
    return result.plot(**options)


MAKE = [comparison, pair, points, curves, distributions, candidates, waterfall, folds]


def linear(*colours):
    rgb = np.array([to_rgb(colour) for colour in colours])
    power = ((rgb + 0.055) / 1.055) ** 2.4
    return np.where(rgb <= 0.04045, rgb / 12.92, power)


def luminance(colour):
    return float(linear(colour)[0] @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("look", BACKGROUNDS, ids=["light", "dark"])
def test_colours_contrast_with_the_background(look):
    colours = [look.ink, look.soft, look.best, look.alarm, *look.curves]
    for background, colour in itertools.product(BACKGROUNDS[look], colours):
        pair = [luminance(colour), luminance(background)]
        contrast = (max(pair) + 0.05) / (min(pair) + 0.05)
        least = 4 if colour == style.DARK.third else 4.5
        assert contrast >= least, colour


# Machado, Oliveira & Fernandes (2009), on linear RGB: how full protanopia, deuteranopia and tritanopia see colours.
BLINDNESS = {
    "none": np.eye(3),
    "red": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "green": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
    "blue": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.3039],
    ],
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
@pytest.mark.parametrize("look", BACKGROUNDS, ids=["light", "dark"])
def test_any_two_colours_are_distinct_with_every_kind_of_colour_blindness(look, kind):
    colours = linear(*look.curves, look.soft)
    seen = np.clip(colours @ np.transpose(BLINDNESS[kind]), 0, 1)
    cones = np.cbrt(seen @ np.transpose(TO_CONES))
    places = cones @ np.transpose(TO_LAB)
    for one, other in itertools.combinations(places, 2):
        # 0.02 is just visible.
        assert np.linalg.norm(one - other) >= 0.07


# The CSS filter hue-rotate(180deg), from the Filter Effects specification: cosine -1, sine 0.
LUMINANCE = np.array([0.213, 0.715, 0.072])
GREY = np.tile(LUMINANCE, (3, 1))
TURN_HUES = 2 * GREY - np.eye(3)


def turned(colour):
    """A colour in a dark page of the site: inverted, with its hue turned back, over the background by "screen"."""
    inverted = 1 - np.array(to_rgb(colour))
    drawn = np.clip(TURN_HUES @ inverted, 0, 1)
    background = np.array(to_rgb("#14181e"))
    return tuple(1 - (1 - drawn) * (1 - background))


def test_pictures_of_notebooks_are_legible_on_dark_pages():
    css = (DOCS / "site.css").read_text(encoding="utf-8")
    assert "filter: invert(1) hue-rotate(180deg)" in css
    assert "mix-blend-mode: screen" in css
    background = luminance(turned("white")) + 0.05
    for name in ("ink", "soft", "best", "alarm", "second", "third"):
        colour = getattr(style.LIGHT, name)
        assert (luminance(turned(colour)) + 0.05) / background >= 4.5, name
    red, _, blue = turned(style.LIGHT.best)
    assert blue > red, "what is best stays blue"


def texts_of(figure):
    """Visible texts with their places."""
    figure.draw_without_rendering()
    found = [figure._suptitle] if figure._suptitle else []
    for ax in figure.axes:
        found += [
            *ax.texts,
            ax.xaxis.label,
            ax.yaxis.label,
            *((ax.get_title(loc="left") and [ax._left_title]) or []),
        ]
        if ax.get_legend():
            found += ax.get_legend().get_texts()
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            found += [
                tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high
            ]
    return [(text.get_text(), text.get_window_extent()) for text in found if text.get_text()]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["model {}", LONG, "runs/2024-05-01/very_long_names/of_files/{}"])
@pytest.mark.parametrize("n_names", [1, 2, 20])
@pytest.mark.parametrize("make", MAKE)
def test_no_text_is_cut_off_or_covers_another(make, n_names, name):
    names = [name.format(number) for number in range(n_names)]
    with style.offscreen():
        figure = draw(make, names).figure_
    found = texts_of(figure)
    width, height = figure.canvas.get_width_height()
    for text, box in found:
        assert -1 <= box.x0 < box.x1 <= width + 1, text
        assert -1 <= box.y0 < box.y1 <= height + 1, text
    for (text, box), (other, near) in itertools.combinations(found, 2):
        right = min(box.x1, near.x1)
        top = min(box.y1, near.y1)
        shared_width = right - max(box.x0, near.x0)
        shared_height = top - max(box.y0, near.y0)
        assert min(shared_width, shared_height) <= 2, (text, other)


@pytest.mark.parametrize("make", MAKE)
def test_nothing_is_drawn_in_the_colour_of_a_dark_background(make):
    with plt.style.context("dark_background"):
        figure = draw(make, ["one", "other"]).figure_
    shown = [text for text in figure.findobj(plt.Text) if text.get_text()]
    for ax in figure.axes:
        shown += ax.lines
    for one in shown:
        assert luminance(one.get_color()) > 0.1


@pytest.mark.parametrize("make", MAKE)
def test_given_axes_are_drawn_into(make):
    first, second = plt.figure().subplots(1, 2)
    display = draw(make, ["one", "other"], ax=second)
    assert display.figure_ is second.figure
    assert not first.has_data()
    assert len(plt.get_fignums()) == 1
    free = plt.figure().add_axes((0.1, 0.1, 0.8, 0.8))
    if len(display.axes_) > 1:
        with pytest.raises(ValueError, match="ax must be in a grid of subplots"):
            display.plot(free)
    else:
        assert display.plot(free).ax_ is free


def test_drawing_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(
        ImportError, match=r"MetricAtKDisplay.plot needs matplotlib \(pip install matplotlib\)"
    ):
        draw(curves, ["a"])
    report = evaluate([[1, 0]], [[1, 2]])
    assert page_picture(report) == ""


def test_a_picture_in_a_page_is_small_self_contained_and_follows_the_theme():
    found = evaluate(
        [[1, 0, 1]] * 9,
        [[3, 2, 1]] * 9,
        metrics=["mrr", "map"],
        by=[["a", "b"][i % 2] for i in range(9)],
    )
    html = page_picture(found)
    assert html == page_picture(found), "reproducible"
    assert len(html) < 60_000
    root = ET.fromstring(html)
    assert root.tag == "figure"
    assert root.get("class") == "wide", "it scrolls on phones"
    assert len(root.findall("{http://www.w3.org/2000/svg}svg")) == 1
    ids = re.findall(r'\bid="([^"]*)"', html)
    assert len(ids) == len(set(ids))
    used = re.findall(r'="#([^"]*)"', html) + re.findall(r"url\(#([^)]*)\)", html)
    assert set(used) <= set(ids)
    assert "<script" not in html
    assert not re.findall(r"https?://(?!www\.w3\.org)", html)
    css, drawn = html.split("</style>", 1)
    assert "prefers-color-scheme:dark" in css
    assert not set(re.findall("#[0-9a-f]{6}", drawn)), "all colours are variables of the theme"
    variables = re.findall(r"var\((--[\w-]+)\)", drawn)
    assert set(variables) <= set(re.findall(r"(--[\w-]+):", css))
    assert {"mrr", "map", "└ a", "└ b"} <= {
        text.text for text in root.iter("{http://www.w3.org/2000/svg}text")
    }


def test_names_stay_as_they_are_in_a_picture():
    # The last one has no letters in the fonts of matplotlib, which warns of that, but a page has others.
    odd = ["$a$ & <b>", "run #3 id=1.23456", "#0072b2", "\x1b[31mred", "東京"]
    report = evaluate([[1, 0]] * 5, [[2, 1]] * 5, metrics="mrr", by=odd)
    root = ET.fromstring(page_picture(report))
    texts = {text.text for text in root.iter("{http://www.w3.org/2000/svg}text")}
    assert texts.issuperset(f"└ {name}" for name in [*odd[:3], odd[4]])
    assert r"└ \x1b[31mred" in texts
