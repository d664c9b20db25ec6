"""Pictures of random results, with weights, slices, undefined values and baselines: they draw what frames say."""

import numpy as np
import pytest
from support.pictures import highlighted, intervals, mark_colours, marks, row_names, written

from skrank_metrics import compare, evaluate
from skrank_metrics.displays import ComparisonDisplay, QueryScoreDisplay, style


def random_models(random):
    """Labels, scores of models, and options of evaluate, of queries of unequal lengths."""
    n = int(random.integers(8, 20))
    in_order = np.repeat(np.arange(n), random.integers(2, 7, n))
    query = random.permutation(in_order)
    is_barren = random.random(n) < 0.2
    labels = random.integers(0, 3, len(query))
    y = np.where(is_barren[query], 0, labels)
    noise = {"good": 0.2, "fair": 0.5, "poor": 2.0, "none": 9.0}
    scores = {name: y + random.normal(size=len(y)) * noise[name] for name in noise}
    of_queries = {
        "sample_weight": random.choice([0.0, 1.0, 4.0], n) + 0.5,
        "by": random.choice(["x", "y"], n),
        "groups": random.integers(0, 6, n),
    }
    kept = {name: column[query] for name, column in of_queries.items() if random.random() < 0.6}
    return y, scores, {"qid": query, **kept}


GOOD = ["best", "leads", "may be best", "better", "not worse"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_comparison_is_drawn_as_its_frame(seed):
    random = np.random.default_rng([seed, 1])
    y, scores, options = random_models(random)
    metrics = ["neg_kendall_tau_distance", "map(replace_undefined_by=nan)", "fall_out@2"]
    n_metrics = seed % 3 + 1
    metrics = random.permutation(metrics).tolist()[:n_metrics]
    board = evaluate(y, scores, metrics=metrics, **options)
    baseline = [None, "fair", ["none", "fair"]][random.integers(3)]
    margin = [None, 0.1][random.integers(2)]
    board = compare(board, baseline=baseline, margin=margin, confidence=0.8)
    display = ComparisonDisplay.from_result(board)
    frame = board.to_frame().loc[row_names(display.ax_)]
    assert frame.index.tolist() == [row.name for row in board.standings()]
    *panels, last = display.axes_
    for metric, panel in zip(board.metrics, panels, strict=True):
        means = frame[metric]
        ends = frame[[f"{metric} low", f"{metric} high"]]
        is_good = frame[f"{metric} status"].isin(GOOD)
        assert marks(panel) == pytest.approx(means)
        assert written(panel) == [f"{mean:.4f}" for mean in means]
        assert highlighted(panel) == np.flatnonzero(is_good).tolist()
        np.testing.assert_allclose(intervals(panel), ends)
    first = board.metrics[0]
    differences = frame[f"{first} difference"]
    assert marks(last) == pytest.approx(differences.fillna(0))
    ends = frame[[f"{first} difference low", f"{first} difference high"]].astype(float)
    drawn = ends.where(np.isfinite(ends))
    np.testing.assert_allclose(intervals(last), drawn)
    statuses = frame[[f"{metric} status" for metric in board.metrics]]
    is_worse = (statuses == "worse").all(axis=1)
    is_soft = [colour == style.theme().soft for colour in mark_colours(last)]
    assert is_soft == is_worse.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_values_of_queries_are_drawn_as_their_frame(seed):
    random = np.random.default_rng([seed, 2])
    y, scores, options = random_models(random)
    metrics = ["map(replace_undefined_by=nan)", "ndcg@3", "mrr"]
    first, *others = metrics = random.permutation(metrics).tolist()
    report = evaluate(y, scores["fair"], metrics=metrics, **options)
    display = QueryScoreDisplay.from_result(report)
    parts = {first: (first, report)}
    parts |= {str(name): (first, part) for name, part in report.slices.items()}
    parts |= {name: (name, report) for name in others}
    assert row_names(display.ax_) == list(parts)
    means = report.to_frame("means")
    means = means.set_index(["metric", means["slice"].astype(str)])
    rows = []
    for name, (metric, part) in parts.items():
        rows.append((metric, "all" if part is report else name))
    means = means.loc[rows]
    assert marks(display.ax_) == pytest.approx(means["mean"])
    assert written(display.ax_) == [f"{mean:.4f}" for mean in means["mean"]]
    ends = means[["low", "high"]].astype(float)
    np.testing.assert_allclose(intervals(display.ax_), ends)
    for area, (metric, part) in zip(display.ax_.patches, parts.values(), strict=True):
        heights, edges, base = area.get_data()
        drawn = np.asarray(base) - heights
        bars = bars_of(part, metric, edges, len(heights))
        np.testing.assert_allclose(drawn / drawn.max(), bars / bars.max(), atol=1e-9)


def bars_of(report, metric, edges, n_bars):
    """Weights of the queries with a value in each bar; the last bar has its upper edge."""
    weights = np.ones(report.n_queries) if report.weights is None else report.weights
    bars = np.zeros(n_bars)
    for value, weight in zip(report.per_query[metric], weights, strict=True):
        if not np.isnan(value):
            place = np.searchsorted(edges, value, "right") - 1
            bars[min(place, n_bars - 1)] += weight
    return bars
