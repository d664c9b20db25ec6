"""Draw the pictures of docs/images, for light and dark pages: ``python docs/draw_pictures.py``."""

import textwrap
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold

from skrank_metrics import (
    ComparisonDisplay,
    CVResultsDisplay,
    DifferenceDisplay,
    Leaderboard,
    LeaderboardDisplay,
    MetricAtKDisplay,
    QueryKFold,
    QueryRanker,
    QueryScoreDisplay,
    RaceDisplay,
    RacingSearchCV,
    SplitDisplay,
    _demo,
    evaluate,
    leaderboard,
    make_ranking_scorer,
    query_train_test_split,
    with_qid,
)
from skrank_metrics.datasets import load_digits_retrieval

IMAGES = Path(__file__).parent / "images"
GRID = {"estimator__max_leaf_nodes": [2, 4, 8, 16, 31], "estimator__learning_rate": [0.02, 0.1]}
DISPLAYS = (
    MetricAtKDisplay,
    QueryScoreDisplay,
    ComparisonDisplay,
    LeaderboardDisplay,
    CVResultsDisplay,
    RaceDisplay,
    DifferenceDisplay,
    SplitDisplay,
)


def fitted():
    """Test rows, two rankers and a race."""
    X, y, qid = load_digits_retrieval(return_X_y_qid=True)
    X, X_test, y, y_test = query_train_test_split(X, with_qid(y, qid), random_state=0)
    trees = QueryRanker(HistGradientBoostingRegressor(max_iter=30, random_state=0))
    search = RacingSearchCV(trees, GRID, scoring=make_ranking_scorer("ndcg@10"), cv=QueryKFold(8)).fit(X, y)
    return X_test, y_test, {"ridge": QueryRanker(Ridge()).fit(X, y), "trees": search.best_estimator_}, search


def draw(style, X, y, models, search):
    """All displays in one figure."""
    with plt.style.context(style):
        figure = plt.figure(figsize=(17, 19), layout="constrained")
        at_k, queries, compared, board, candidates, race, gap, folds = figure.subplots(4, 2).ravel()
        for name, model in models.items():
            MetricAtKDisplay.from_estimator(model, X, y, k=20, name=name, ax=at_k)
            QueryScoreDisplay.from_estimator(model, X, y, name=name, ax=queries)
        ComparisonDisplay.from_estimator(*models.values(), X, y, names=tuple(models), ax=compared)
        scores = {name: model.predict(X) for name, model in models.items()}
        scores |= {f"pixel {pixel}": X[:, pixel] for pixel in range(4)}
        LeaderboardDisplay.from_leaderboard(leaderboard(y, scores, metrics=["ndcg@10"]), ax=board)
        CVResultsDisplay.from_estimator(search, n_candidates=5, ax=candidates)
        RaceDisplay.from_estimator(search, ax=race)
        ties = scores["ridge"].round(1)
        DifferenceDisplay.from_predictions(y, ties, metric="ndcg", conventions=("sklearn", "xgboost"), ax=gap)
        SplitDisplay.from_splitter(KFold(5), X, y, ax=folds)
        for ax, display in zip(figure.axes, DISPLAYS, strict=True):
            ax.set_title(display.__name__, loc="left")
    return figure


def draw_dcg(style, narrow=False, grades=(3, 0, 2, 1, 0, 2)):
    """The terms of DCG, for a ranking and for the ideal order; for phones, one below the other."""
    rank = np.arange(1, len(grades) + 1)
    rows, columns, size = (2, 1, (4.6, 5.6)) if narrow else (1, 2, (9, 3.2))
    with plt.style.context(style):
        figure, axes = plt.subplots(rows, columns, figsize=size, sharey=True, layout="constrained")
        for ax, name, gain in zip(
            axes, ("ranking", "ideal order"), (grades, sorted(grades, reverse=True)), strict=True
        ):
            terms = np.array(gain) / np.log2(rank + 1)
            ax.bar(rank, gain, fill=False, edgecolor="grey", linestyle="--", label="gain")
            bars = ax.bar(rank, terms, color="#1f9bcf", label="gain / discount")
            ax.bar_label(bars, [f"{term:.2f}" if term else "" for term in terms])
            ax.set(title=f"{name}: DCG {terms.sum():.3f}", xlabel="rank", ylim=(0, 3.4))
        axes[0].set_ylabel("gain")
        axes[1].legend()
    return figure


def draw_demo(style, board):
    """The leaderboard as the demo draws it."""
    with plt.style.context(style):
        return _demo._figure(board)


def draw_narrow_demo(style, board):
    """The leaderboard of the demo for phones, with the legend below it."""
    with plt.style.context(style):
        figure = plt.figure(figsize=(5, 4.4), layout="constrained")
        ax = figure.subplots()
        LeaderboardDisplay.from_leaderboard(board, ax=ax)
        ax.set_yticks(ax.get_yticks(), [label.get_text().replace("  ", "\n") for label in ax.get_yticklabels()])
        ax.set_xlabel(textwrap.fill(ax.get_xlabel().replace("\n", " "), 32))
        entries = ax.get_legend_handles_labels()
        ax.get_legend().remove()
        figure.legend(*entries, loc="outside lower center", frameon=False)
    return figure


def demo_board():
    """The leaderboard of the demo."""
    data, (models, _) = load_digits_retrieval(), _demo._models()
    nearness = -data.data[:, data.feature_names.index("pixel_distance")]
    reports = {_demo.BASELINE: evaluate(data.target, nearness, qid=data.qid, metrics=_demo.METRICS)}
    _demo._tune_all(models, data, reports)
    return Leaderboard.from_reports(reports, random_state=0)


if __name__ == "__main__":
    mpl.use("Agg")
    data, board = fitted(), demo_board()
    for theme, style in (("light", "default"), ("dark", "dark_background")):
        figures = {
            f"displays_{theme}": (draw(style, *data), 60),
            f"dcg_{theme}": (draw_dcg(style), 80),
            f"dcg_{theme}_narrow": (draw_dcg(style, narrow=True), 160),
            f"demo_{theme}": (draw_demo(style, board), 150),
            f"demo_{theme}_narrow": (draw_narrow_demo(style, board), 160),
        }
        for name, (figure, dpi) in figures.items():  # dark pages differ in their black
            figure.savefig(IMAGES / f"{name}.png", dpi=dpi, transparent=theme == "dark")
