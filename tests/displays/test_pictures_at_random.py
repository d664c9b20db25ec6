"""Pictures of random results, with weights, slices, undefined values and baselines: they draw what frames say."""

import numpy as np
import pytest
from support.pictures import highlighted, intervals, mark_colours, marks, row_names, written

from skrank_metrics import compare, evaluate
from skrank_metrics.displays import ComparisonDisplay, QueryScoreDisplay, style


def random_models(random):
    """Labels, scores of models, and options of evaluate, of queries of unequal lengths."""
    n = int(random.integers(8, 20))
    query = random.permutation(np.repeat(np.arange(n), random.integers(2, 7, n)))
    y = np.where((random.random(n) < 0.2)[query], 0, random.integers(0, 3, len(query)))
    noise = {"good": 0.2, "fair": 0.5, "poor": 2.0, "none": 9.0}
    scores = {name: y + random.normal(size=len(y)) * noise[name] for name in noise}
    options = {
        "sample_weight": (random.choice([0.0, 1.0, 4.0], n) + 0.5)[query],
        "by": random.choice(["x", "y"], n)[query],
        "groups": random.integers(0, 6, n)[query],
    }
    kept = {name: column for name, column in options.items() if random.random() < 0.6}
    return y, scores, {"qid": query, **kept}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_comparison_is_drawn_as_its_frame(seed):
    random = np.random.default_rng([seed, 1])
    y, scores, options = random_models(random)
    metrics = ["neg_kendall_tau_distance", "map(replace_undefined_by=nan)", "fall_out@2"]
    metrics = random.permutation(metrics).tolist()[: seed % 3 + 1]
    board = evaluate(y, scores, metrics=metrics, **options)
    baseline = [None, "fair", ["none", "fair"]][random.integers(3)]
    margin = [None, 0.1][random.integers(2)]
    board = compare(board, baseline=baseline, margin=margin, confidence=0.8)
    display = ComparisonDisplay.from_result(board)
    frame, first = board.to_frame(), board.metrics[0]
    frame = frame.loc[row_names(display.ax_)]
    assert frame.index.tolist() == [row.name for row in board.standings()]
    *panels, last = display.axes_
    for metric, panel in zip(board.metrics, panels, strict=True):
        assert marks(panel) == pytest.approx(frame[metric])
        np.testing.assert_allclose(intervals(panel), frame[[f"{metric} low", f"{metric} high"]])
        assert written(panel) == [f"{mean:.4f}" for mean in frame[metric]]
        good = frame[f"{metric} status"].isin(
            ["best", "leads", "may be best", "better", "not worse"]
        )
        assert highlighted(panel) == np.flatnonzero(good).tolist()
    assert marks(last) == pytest.approx(frame[f"{first} difference"].fillna(0))
    ends = frame[[f"{first} difference low", f"{first} difference high"]].to_numpy(dtype=float)
    np.testing.assert_allclose(intervals(last), np.where(np.isfinite(ends), ends, np.nan))
    statuses = frame[[f"{metric} status" for metric in board.metrics]].to_numpy()
    for colour, own in zip(mark_colours(last), statuses, strict=True):
        assert (colour == style.theme().soft) == (set(own) == {"worse"})


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_values_of_queries_are_drawn_as_their_frame(seed):
    random = np.random.default_rng([seed, 2])
    y, scores, options = random_models(random)
    metrics = random.permutation(["map(replace_undefined_by=nan)", "ndcg@3", "mrr"]).tolist()
    report = evaluate(y, scores["fair"], metrics=metrics, **options)
    display = QueryScoreDisplay.from_result(report)
    means = report.to_frame("means")
    parts = {metrics[0]: (metrics[0], report)}
    parts |= {str(name): (metrics[0], part) for name, part in report.slices.items()}
    parts |= {name: (name, report) for name in metrics[1:]}
    assert row_names(display.ax_) == list(parts)
    rows = []
    for name, (metric, part) in parts.items():
        chosen = "all" if part is report else name
        row = means[(means["metric"] == metric) & (means["slice"].astype(str) == chosen)]
        rows.append(row.iloc[0])
    assert marks(display.ax_) == pytest.approx([row["mean"] for row in rows])
    assert written(display.ax_) == [f"{row['mean']:.4f}" for row in rows]
    expected = [[row["low"], row["high"]] for row in rows]
    np.testing.assert_allclose(intervals(display.ax_), np.array(expected, dtype=float))
    for area, (metric, part) in zip(display.ax_.patches, parts.values(), strict=True):
        heights, edges, base = area.get_data()
        weights = np.ones(part.n_queries) if part.weights is None else part.weights
        values = part.per_query[metric]
        bars = np.zeros(len(heights))
        for value, weight in zip(values, weights, strict=True):
            if not np.isnan(value):
                bars[min(np.searchsorted(edges, value, "right") - 1, len(bars) - 1)] += weight
        drawn = np.asarray(base) - heights
        np.testing.assert_allclose(drawn / drawn.max(), bars / bars.max(), atol=1e-9)
