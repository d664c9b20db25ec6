"""Pictures of random results, with weights, slices, undefined values and baselines: they draw what frames say."""

import numpy as np
import pytest
from matplotlib import pyplot as plt
from support.pictures import (
    explained,
    highlighted,
    intervals,
    mark_colours,
    marks,
    plain,
    row_names,
    written,
)

from skrank_metrics import compare, evaluate
from skrank_metrics.displays import (
    ComparisonDisplay,
    MetricAtKDisplay,
    QueryPairDisplay,
    QueryScoreDisplay,
    style,
)


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
    options = {"qid": query}
    for name, column in of_queries.items():
        if random.random() < 0.6:
            options[name] = column[query]
    return y, scores, options


GOOD = ["best", "highest", "may be as good", "better", "equivalent", "not worse", "small loss"]
LOOKS = {"default": style.LIGHT, "dark_background": style.DARK}
LOWER = " (lower is better)"


def direction_of(board, metric):
    return "" if board.by_metric(metric).greater_is_better else LOWER


def text_of_difference(row, board):
    """What is beside the difference of a ranking."""
    baselines = board.plan.baselines
    status = row.status
    if row.worse_than:
        status = f"worse than {row.worse_than}"
    if np.isnan(row.difference):
        return status
    if len(baselines) > 1 and row.status != "baseline":
        words = {"better": "than", "worse": "than", "not worse": "than", "equivalent": "to"}
        status = f"{row.status} {words.get(row.status, 'against')} {row.reference}"
    return f"{row.difference:+.4f} {status}"


def colour_of(statuses, look, ink):
    """The colour of a model from its statuses by all metrics that have tests."""
    known = [status for status in statuses if isinstance(status, str) and status]
    if known and all(status == "worse" for status in known):
        return look.soft
    if known and all(status in GOOD for status in known):
        return look.best
    return ink


def ends_of(frame, column):
    """Both ends of the intervals of a column."""
    ends = frame[[f"{column} low", f"{column} high"]]
    return ends.astype(float)


def check_places(panel, ends, means):
    """Values stand beside the right end of their intervals, or beside their marks."""
    for row, text in enumerate(panel.texts):
        right, place = text.xy
        assert place == row
        values = [means.iloc[row], *ends.iloc[row]]
        assert right == pytest.approx(np.nanmax(values))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_a_comparison_is_drawn_as_its_frame(seed):
    random = np.random.default_rng([seed, 1])
    y, scores, options = random_models(random)
    metrics = ["neg_kendall_tau_distance", "map(replace_undefined_by=nan)", "fall_out@2"]
    n_metrics = seed % 3 + 1
    metrics = random.permutation(metrics).tolist()[:n_metrics]
    baselines = [None, ["fair"], ["none", "fair"], ["good", "fair"]]
    baseline = baselines[seed % 4]
    margin = None if baseline is None else [None, 0.1][random.integers(2)]
    if margin is None and n_metrics < 3:
        metrics.append("mrr(average=median)")
    board = evaluate(y, scores, metrics=metrics, **options)
    confidence = [0.8, 0.95][random.integers(2)]
    board = compare(board, baseline=baseline, margin=margin, confidence=confidence)
    name_of_look = list(LOOKS)[seed // 4]
    with plt.style.context(name_of_look):
        display = ComparisonDisplay.from_result(board)
        ink = plt.rcParams["text.color"]
    look = LOOKS[name_of_look]
    standings = board.standings()
    frame = board.to_frame().loc[row_names(display.ax_)]
    assert frame.index.tolist() == [row.name for row in standings]
    tested = [metric for metric in board.metrics if f"{metric} status" in frame]
    by_model = frame[[f"{metric} status" for metric in tested]].to_numpy().tolist()
    colours = [colour_of(statuses, look, ink) for statuses in by_model]
    percent = f"{100 * confidence:g}%"
    panels, last = display.axes_[: len(board.metrics)], display.axes_[len(board.metrics)]
    for metric, panel in zip(board.metrics, panels, strict=True):
        means = frame[metric]
        ends = ends_of(frame, metric)
        good = []
        if metric in tested:
            is_good = frame[f"{metric} status"].isin(GOOD)
            good = np.flatnonzero(is_good).tolist()
        assert marks(panel) == pytest.approx(means)
        assert written(panel) == [f"{mean:.4f}" for mean in means]
        assert highlighted(panel) == good
        assert mark_colours(panel) == colours
        np.testing.assert_allclose(intervals(panel), ends)
        check_places(panel, ends, means)
        (bold,) = [text.xy[1] for text in panel.texts if text.get_weight() == "bold"]
        is_greater_better = board.by_metric(metric).greater_is_better
        assert means.iloc[bold] == (means.max() if is_greater_better else means.min())
        direction = direction_of(board, metric)
        label = plain(panel.get_xlabel())
        assert label == f"{metric}{direction} mean, {percent} interval"
    first = board.metrics[0]
    differences = frame[f"{first} difference"]
    assert marks(last) == pytest.approx(differences.fillna(0))
    ends = ends_of(frame, f"{first} difference")
    drawn = ends.where(np.isfinite(ends))
    np.testing.assert_allclose(intervals(last), drawn)
    assert mark_colours(last) == colours
    assert highlighted(last) == highlighted(panels[0])
    texts = [text_of_difference(row, board) for row in standings]
    assert written(last)[: len(texts)] == [
        text.replace("highest", "highest" if board.greater_is_better else "lowest")
        for text in texts
    ]
    assert [text.get_color() for text in last.texts][: len(texts)] == colours
    others = " or ".join(baseline or [standings[0].name])
    assert plain(last.get_xlabel()).startswith(f"{first} minus that of {others}")
    dashed_lines = [line for line in last.lines if line.get_linestyle() == "--"]
    dashed = [line.get_xdata()[0] for line in dashed_lines]
    worst = -0.1 if board.by_metric(first).greater_is_better else 0.1
    assert dashed == ([] if margin is None else [worst])
    assert plain(display.figure_.get_suptitle()) == board.verdict


def edges_of(values):
    """The ends of the axis of values: those of shares begin at 0 or -1 and end at 1."""
    found = [value for one in values for value in one if np.isfinite(value)]
    low = min(found)
    high = max(found)
    if max(abs(low), abs(high)) > 1:
        return low, high
    return (-1 if low < 0 else 0), 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_values_of_queries_are_drawn_as_their_frame(seed):
    random = np.random.default_rng([seed, 2])
    y, scores, options = random_models(random)
    metrics = ["map(replace_undefined_by=nan)", "ndcg@3", "mrr", "dcg@3", "fall_out@2"]
    first, *others = metrics = random.permutation(metrics).tolist()
    report = evaluate(y, scores["fair"], metrics=metrics, **options)
    parts = {first: (first, report)}
    for name, part in report.slices.items():
        parts[str(name)] = (first, part)
    chosen = {}
    if seed % 3 == 0:
        first = others[0]
        chosen = {"metric": first}
        names = [first, *list(parts)[1:]]
        shown = [part for _, part in parts.values()]
        parts = {name: (first, part) for name, part in zip(names, shown, strict=True)}
    elif first != "dcg@3":
        parts |= {name: (name, report) for name in others if name != "dcg@3"}
    display = QueryScoreDisplay.from_result(report, **chosen)
    slices = {str(name) for name in report.slices}
    assert row_names(display.ax_) == [f"└ {name}" if name in slices else name for name in parts]
    means = report.to_frame("means")
    if "slice" not in means:
        means["slice"] = "all"
    means = means.set_index(["metric", means["slice"].astype(str)])
    rows = []
    for name, (metric, part) in parts.items():
        rows.append((metric, "all" if part is report else name))
    means = means.loc[rows]
    ends = means[["low", "high"]].astype(float)
    check_distributions(display.ax_, list(parts.values()), means["mean"], ends)
    direction = LOWER if first == "fall_out@2" else ""
    label = f"value per query, and mean with 95% interval{direction}"
    assert plain(display.ax_.get_xlabel()) == label


def check_distributions(ax, parts, means, ends):
    """Rows of a picture are the metrics of reports, with their means and intervals."""
    assert marks(ax) == pytest.approx(means)
    assert written(ax) == [f"{mean:.4f}" for mean in means]
    np.testing.assert_allclose(intervals(ax), ends)
    both_ends = edges_of([part.per_query[metric] for metric, part in parts])
    for area, (metric, part) in zip(ax.patches, parts, strict=True):
        heights, edges, base = area.get_data()
        assert (edges[0], edges[-1]) == pytest.approx(both_ends)
        drawn = np.asarray(base) - heights
        bars = bars_of(part, metric, edges, len(heights))
        heights = drawn / drawn.max()
        expected = bars / bars.max()
        np.testing.assert_allclose(heights, expected, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("metric", [None, "fall_out@2"])
def test_values_of_models_are_drawn_as_their_frame(metric):
    random = np.random.default_rng([0, 3])
    y, scores, options = random_models(random)
    board = evaluate(y, scores, metrics=["dcg@3", "fall_out@2"], **options)
    ax = QueryScoreDisplay.from_result(board, metric=metric).ax_
    names = [*board.reports]
    assert row_names(ax) == names
    shown = metric or "dcg@3"
    frame = board.to_frame().loc[names]
    ends = ends_of(frame, shown)
    parts = [(shown, board.reports[name]) for name in names]
    check_distributions(ax, parts, frame[shown], ends)
    direction = LOWER if metric else ""
    assert plain(ax.get_xlabel()).endswith(f"95% interval{direction}")


def bars_of(report, metric, edges, n_bars):
    """Weights of the queries with a value in each bar; the last bar has its upper edge."""
    weights = np.ones(report.n_queries) if report.weights is None else report.weights
    bars = np.zeros(n_bars)
    for value, weight in zip(report.per_query[metric], weights, strict=True):
        if not np.isnan(value):
            place = np.searchsorted(edges, value, "right") - 1
            bars[min(place, n_bars - 1)] += weight
    return bars


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_pairs_are_drawn_query_by_query(seed):
    random = np.random.default_rng([seed, 4])
    y, scores, options = random_models(random)
    metrics = ["mrr", "fall_out@2", "map(replace_undefined_by=nan)"]
    board = evaluate(y, scores, metrics=metrics, **options)
    metric = metrics[seed % 3]
    one, other = random.permutation([*scores])[:2].tolist()
    display = QueryPairDisplay.from_result(board, metric=metric, first=one, second=other)
    by_query = board.reports
    sign = -1 if metric == "fall_out@2" else 1
    points = {"first": [], "second": [], "equal": []}
    y_values = by_query[one].per_query[metric]
    x_values = by_query[other].per_query[metric]
    for y_value, x_value in zip(y_values, x_values, strict=True):
        lead = sign * (y_value - x_value)
        point = [x_value, y_value]
        if lead > 0:
            points["first"].append(point)
        if lead < 0:
            points["second"].append(point)
        if lead == 0:
            points["equal"].append(point)
    _, *drawn = display.ax_.lines
    look = style.LIGHT
    colours = [look.best, look.second, look.soft]
    expected = {}
    names = [f"{one} is better", f"{other} is better", "equal"]
    for line, colour, name, found in zip(drawn, colours, names, points.values(), strict=True):
        assert line.get_xydata().tolist() == found
        assert line.get_color() == colour
        noun = "query" if len(found) == 1 else "queries"
        expected[f"{len(found)} {noun}: {name}"] = colour
    assert explained(display.ax_) == expected
    direction = direction_of(board, metric)
    label_of_x = plain(display.ax_.get_xlabel())
    label_of_y = plain(display.ax_.get_ylabel())
    assert label_of_x == f"{metric} of {other}{direction}"
    assert label_of_y == f"{metric} of {one}{direction}"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_cutoffs_are_drawn_as_the_frame(seed):
    random = np.random.default_rng([seed, 5])
    y, scores, options = random_models(random)
    names = random.permutation([*scores])[: seed % 4 + 1].tolist()
    cutoffs = random.permutation([1, 2, 3, 7]).tolist()
    columns = {}
    for name in ("fall_out", "ndcg"):
        columns[name] = [f"{name}@{k}" for k in cutoffs]
    families = random.permutation([*columns]).tolist()
    metrics = ["map", "recall@2"]
    for name in families:
        metrics += columns[name]
    result = evaluate(y, {name: scores[name] for name in names}, metrics=metrics, **options)
    metric = [None, f"{families[1]}@2"][seed % 2]
    shown = families[seed % 2]
    display = MetricAtKDisplay.from_result(result, metric=metric)
    means = {name: report.mean for name, report in result.reports.items()}
    sign = -1 if shown == "fall_out" else 1
    largest = f"{shown}@7"
    at_end = {name: sign * mean[largest] for name, mean in means.items()}
    look = style.LIGHT
    colours = [look.best, look.second, look.third][: len(names)]
    if len(names) > 3:
        colours = [look.best, *[look.soft] * (len(names) - 1)]
    order = [line.get_label() for line in display.ax_.lines]
    assert [at_end[name] for name in order] == sorted(at_end.values(), reverse=True)
    names_with_colours = list(explained(display.ax_).items())
    assert names_with_colours == list(zip(order, colours, strict=True))
    for name, line in zip(order, display.ax_.lines, strict=True):
        mean = means[name]
        expected = [[k, mean[f"{shown}@{k}"]] for k in (1, 2, 3, 7)]
        assert line.get_xydata().tolist() == expected
    coloured = order if len(order) <= 3 else order[:1]
    for name, band in zip(coloured, display.ax_.collections, strict=True):
        ends = result.reports[name].intervals()
        xs, ys = band.get_paths()[0].vertices.T
        for k in (1, 2, 3, 7):
            at_k = ys[xs == k]
            expected = ends[f"{shown}@{k}"]
            assert [at_k.min(), at_k.max()] == pytest.approx(list(expected))
    label = f"{shown}@k, mean over queries with 95% interval"
    assert plain(display.ax_.get_ylabel()) == label
