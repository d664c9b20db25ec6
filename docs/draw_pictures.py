"""Draw the pictures of docs/images, for light and dark pages: ``python docs/draw_pictures.py``."""

import textwrap
from pathlib import Path
from unittest.mock import patch

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold

from skrank_metrics import (
    QueryKFold,
    QueryRanker,
    _demo,
    evaluate,
    make_ranking_scorer,
    query_train_test_split,
    with_qid,
)
from skrank_metrics.conventions import explain_difference
from skrank_metrics.datasets import load_digits_retrieval
from skrank_metrics.displays import (
    ComparisonDisplay,
    CVResultsDisplay,
    DifferenceDisplay,
    MetricAtKDisplay,
    QueryScoreDisplay,
    SplitDisplay,
    style,
)
from skrank_metrics.model_selection import RacingSearchCV
from skrank_metrics.splitters import audit_splits

IMAGES = Path(__file__).parent / "images"
GRID = {"estimator__max_leaf_nodes": [2, 8, 31], "estimator__learning_rate": [0.02, 0.1]}


def results():
    """A result for each display, by the display."""
    X, y, qid = load_digits_retrieval(return_X_y_qid=True)
    X, X_test, y, y_test = query_train_test_split(X, with_qid(y, qid), random_state=0)
    trees = QueryRanker(HistGradientBoostingRegressor(max_iter=30, random_state=0))
    search = RacingSearchCV(
        trees, GRID, scoring=make_ranking_scorer("ndcg@10"), cv=QueryKFold(8)
    ).fit(X, y)
    scores = {
        "ridge": QueryRanker(Ridge()).fit(X, y).predict(X_test),
        "trees": search.predict(X_test),
    }
    scores |= {"nearest pixels": -X_test[:, 0], "pixel 1": X_test[:, 1], "pixel 2": X_test[:, 2]}
    few = {name: scores[name] for name in ("ridge", "trees")}
    ties = scores["ridge"].round(1)
    return {
        ComparisonDisplay: evaluate(y_test, scores, metrics=["ndcg@10", "map"]),
        MetricAtKDisplay: evaluate(y_test, few, metrics=[f"ndcg@{k}" for k in range(1, 21)]),
        QueryScoreDisplay: evaluate(y_test, scores["trees"]),
        CVResultsDisplay: search,
        DifferenceDisplay: explain_difference(
            y_test, ties, metric="ndcg", conventions=("sklearn", "xgboost")
        ),
        SplitDisplay: audit_splits(KFold(5), X_test, y_test),
    }


def draw_displays(look, found):
    """All displays in one figure; those with several panels take the whole width."""
    with style.offscreen(look):
        figure = Figure(figsize=(12, 13), layout="constrained")
        grid = figure.add_gridspec(4, 2, height_ratios=[2.4, 3.2, 3, 2.2])
        places = (grid[0, :], grid[1, 0], grid[1, 1], grid[2, 0], grid[2, 1], grid[3, :])
        for place, (display, result) in zip(places, found.items(), strict=True):
            ax = figure.add_subplot(place)
            drawn = display.from_result(result, ax=ax)
            drawn.ax_.set_title(f"{display.__name__}\n", loc="left", weight="bold", color=look.ink)
    return figure


def draw_dcg(look, *, narrow=False, grades=(3, 0, 2, 1, 0, 2)):
    """The terms of DCG, for a ranking and for the ideal order; for phones, one below the other."""
    rank = np.arange(1, len(grades) + 1)
    orders = {"ranking": grades, "ideal order": sorted(grades, reverse=True)}
    with style.offscreen(look):
        figure = Figure(figsize=(4.6, 5.6) if narrow else (9, 3), layout="constrained")
        axes = figure.subplots(*((2, 1) if narrow else (1, 2)), sharey=True)
        for ax, (name, gain) in zip(axes, orders.items(), strict=True):
            style.polish(ax, "y")
            terms = np.array(gain) / np.log2(rank + 1)
            ax.bar(rank, gain, color=look.rule)
            bars = ax.bar(rank, terms, color=look.best)
            ax.bar_label(
                bars, [f"{term:.2f}" if term else "" for term in terms], color=look.best, padding=2
            )
            ax.set_title(f"{name}: DCG {terms.sum():.3f}", loc="left", size="medium")
            ax.set(xlabel="rank", ylim=(0, 3.4), yticks=range(4))
        style.write_beside(axes[0], (3.4, 2.8), "gain", look.soft)
        style.write_beside(axes[0], (3.4, 2.5), "gain / discount", look.best)
    return figure


class NarrowComparisonDisplay(ComparisonDisplay):
    """The panels of a comparison below each other, for phones."""

    def panels(self, ax, height, n_panels=1, title=""):
        """Axes in a new figure, which is as wide as a phone."""
        text = textwrap.fill(style.plain(title), 52)
        height = n_panels * height + style.height_of_lines([text])
        figure = Figure(figsize=(4.6, height), layout="constrained")
        figure.suptitle(text, x=0.012, ha="left", size="medium")
        self.axes_ = list(figure.subplots(n_panels, 1))
        self.ax_, self.figure_ = self.axes_[0], figure
        return self.axes_


def draw_demo(look, board, *, narrow=False):
    """The board as the demo draws it; for phones, its panels are below each other, and long names on two lines."""
    display = NarrowComparisonDisplay if narrow else ComparisonDisplay
    longest = 20 if narrow else style.LONGEST
    with style.offscreen(look), patch.object(style, "LONGEST", longest):
        return display.from_result(board, metric=_demo.METRICS[0]).figure_


if __name__ == "__main__":
    mpl.use("Agg")
    found, board = results(), _demo.tune_and_compare()
    for theme, look in (("light", style.LIGHT), ("dark", style.DARK)):
        figures = {
            f"displays_{theme}": (draw_displays(look, found), 80),
            f"dcg_{theme}": (draw_dcg(look), 80),
            f"dcg_{theme}_narrow": (draw_dcg(look, narrow=True), 120),
            f"demo_{theme}": (draw_demo(look, board), 150),
            f"demo_{theme}_narrow": (draw_demo(look, board, narrow=True), 150),
        }
        for name, (figure, dpi) in figures.items():  # dark pages differ in their black
            with mpl.rc_context(style.settings(look)):
                figure.savefig(IMAGES / f"{name}.png", dpi=dpi, transparent=theme == "dark")
