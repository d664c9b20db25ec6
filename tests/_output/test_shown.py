"""Text, HTML and frames of every result show its attributes, number by number."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from support.ranks import report_of_ranks
from support.shown import alignments_of, assert_shown, check_frame, html_of

from skrank_metrics import (
    QueryKFold,
    QueryRanker,
    audit_splits,
    compare,
    cross_evaluate,
    evaluate,
    explain_difference,
    queries_needed,
    ranking_scorers,
    search_report,
    with_qid,
)
from skrank_metrics.datasets import make_ranking

X, Y, QID = make_ranking(40, random_state=0)


def number(value):
    return f"{value:.4f}"


def ends(interval, sign=""):
    low, high = interval
    return "none" if np.isnan(low) else f"[{low:{sign}.4f}, {high:{sign}.4f}]"


def p_value(p):
    return "<0.0001" if p < 5e-5 else f"{p:.4f}"


def check_frames(result, expected):
    for library in ("pandas", "polars"):
        frame = result.to_frame(library=library)
        assert type(frame).__module__.startswith(library)
        check_frame(frame, expected)
    assert result.to_frame().equals(result.to_frame(library="pandas"))


@pytest.fixture(scope="module")
def report():
    weights = np.repeat([5, 2, 3, 1, 4, 2], 6)
    labels = np.array([[1, 0, 0, 0, 0, 0]] * 3 + [[0] * 6] + [[1, 2, 0, 0, 0, 0]] * 2).ravel()
    scores = np.array([[6, 5, 4, 3, 2, 1], [4, 6, 5, 3, 3, 1], [2, 6, 5, 4, 3, 1]] * 2).ravel()
    ids, by = np.repeat(list("uvwxyz"), 6), np.repeat(["de", "fr", "fr", "de", "de", "fr"], 6)
    metrics = ["mrr", "recall(average=micro)@2", "dcg(replace_undefined_by=nan)"]
    return evaluate(labels, scores, qid=ids, metrics=metrics, sample_weight=weights, by=by)


@pytest.mark.option("RankingReport.to_frame.library")
def test_report(report):
    intervals = report.intervals()
    means = [["metric", "mean", "95% interval", "std over queries", "undefined queries"]]
    means += [
        [
            name,
            number(report.mean[name]),
            ends(intervals[name]),
            number(report.std[name]),
            str(report.n_undefined[name]),
        ]
        for name in report.mean
    ]
    slices = [["slice", "metric", "queries", "mean", "95% interval"]]
    slices += [
        [value, name, "3", number(part.mean[name]), ends(part.intervals()[name])]
        for value, part in report.slices.items()
        for name in part.mean
    ]
    for row in means[1:] + slices[1:]:
        assert len(set(row)) == len(row), "no number can be in the place of another"
    title, method = "6 queries, 36 documents", "Intervals: Student's t over queries."
    weighted = "Weighted by sample_weight, no query with weight 0."
    assert_shown(report, [means, slices], [title, method, weighted, *report.health.findings])
    assert report.health.findings
    by = ["de", "fr", "fr", "de", "de", "fr"]
    values = {name: values.tolist() for name, values in report.per_query.items()}
    check_frames(report, {"qid": list("uvwxyz"), "by": by, "weight": report.weights.tolist(), **values})
    assert report.to_frame().index.name == "qid"


@pytest.mark.parametrize("correction", ["holm", "bh", None])
@pytest.mark.option("Comparison.to_frame.library")
def test_comparison(correction):
    ranks = np.random.default_rng(7).integers(1, 6, (3, 14))
    ranks[0, :6] = 1
    reports = {name: report_of_ranks(row) for name, row in zip("abc", ranks, strict=True)}
    comparison = compare(reports, "mrr", correction=correction, confidence=0.9, random_state=1)
    heads = ["first - second", "difference", "90% interval", "wins", "ties", "losses", "effect size", "p"]
    rows, columns = [], {}
    for pair in comparison.pairs:
        counts = [pair.wins, pair.ties, pair.losses]
        numbers = [f"{pair.difference:+.4f}", ends(pair.interval, "+"), *map(str, counts), f"{pair.effect_size:+.2f}"]
        p = [p_value(pair.p_value), p_value(pair.p_adjusted)][: 2 if correction else 1]
        rows.append([f"{pair.first} - {pair.second}", *numbers, *p])
        values = {"first": pair.first, "second": pair.second, "difference": pair.difference}
        values |= {"low": pair.interval[0], "high": pair.interval[1], "wins": pair.wins, "ties": pair.ties}
        values |= {"losses": pair.losses, "effect_size": pair.effect_size, "p_value": pair.p_value}
        for name, value in (values | {"p_adjusted": pair.p_adjusted, "n_queries": 14}).items():
            columns.setdefault(name, []).append(value)
        assert len({*counts, 14}) == 4
    if correction == "holm":
        raw, adjusted = ([getattr(pair, name) for pair in comparison.pairs] for name in ("p_value", "p_adjusted"))
        assert raw != adjusted
        assert len(set(raw)) == 3
    spelled = {"holm": "Adjusted: Holm, 3 pairs. ", "bh": "Adjusted: Benjamini-Hochberg, 3 pairs. ", None: ""}
    different = ", ".join(f"{pair.first} and {pair.second}" for pair in comparison.pairs if pair.p_adjusted <= 0.1)
    # Each of three pairs is to be significant even if the correction multiplies its p-value by three.
    level = {"confidence": 1 - 0.1 / (3 if correction else 1)}
    needed = queries_needed(reports["b"], reports["c"], metric="mrr", **level)
    lines = [
        "mrr, 14 queries, paired sign-flip permutation test",
        f"{spelled[correction]}Intervals: Student's t over queries, not adjusted.",
        f"Significantly different at 0.1: {different}.",
        f"Queries needed to detect the observed difference with a power of 0.8: {needed} for b and c.",
    ]
    assert different
    assert_shown(comparison, [[heads + ["adjusted p"] * bool(correction), *rows]], lines)
    check_frames(comparison, columns)


@pytest.mark.option("Difference.to_frame.library")
def test_difference():
    labels, scores, qid = [1, 2, 0, 2, 1, 0], [2, 1, 0, 1, 1, 0], ["a", "a", "b", "c", "c", "c"]
    difference = explain_difference(labels, scores, qid=qid, metric="ndcg@2", conventions=("lightgbm", "trec_eval"))
    rows = [[f"{c.cause}: {c.change}", f"{c.effect:+.4f}", str(c.n_queries)] for c in difference.causes]
    assert len(rows) == 2
    gap = ["gap", f"{difference.end - difference.start:+.4f}", ""]
    title = f"ndcg@2: {difference.start:.4f} by lightgbm, {difference.end:.4f} by trec_eval"
    assert_shown(difference, [[["", "effect", "queries affected"], *rows, gap]], [title])
    names = ("cause", "change", "effect", "n_queries")
    check_frames(difference, {name: [getattr(cause, name) for cause in difference.causes] for name in names})


@pytest.mark.option("SplitReport.to_frame.library")
def test_audit():
    # Of four queries, "x" has rows on both sides of the first fold, and the second fold has only one row of "w".
    ids, labels = list("uuvvwwxx"), [1, 0, 0, 0, 1, 1, 0, 2]
    cv = [(np.array([0, 1, 6]), np.array([2, 3, 4, 5, 7])), (np.array([0, 1, 2, 3, 5]), np.array([6, 7]))]
    audit = audit_splits(cv, np.zeros((8, 1)), labels, qid=ids)
    heads = ["fold", "queries", "documents", "share relevant", "share without relevant", "single document"]
    rows = [["0", "3", "5", "0.6000", "0.3333", "1", "1", "0"], ["1", "1", "2", "0.5000", "0.0000", "0", "0", "1"]]
    leaks = [
        "LEAK: fold 0 has 1 query with rows both in train and in test: x",
        "LEAK: fold 1 has 1 query with only some of the rows used: w",
    ]
    way_out = "Use a splitter that keeps queries whole, such as QueryKFold."
    way_out = "Use a splitter that keeps queries whole, such as QueryKFold."
    assert_shown(audit, [[[*heads, "leaking", "cut"], *rows]], [audit.splitter, *leaks, way_out])
    columns = {
        head.replace(" ", "_"): [float(row[i]) for row in rows] for i, head in enumerate([*heads, "leaking", "cut"])
    }
    columns["share_without_relevant"][0] = 1 / 3
    check_frames(audit, columns)
    assert audit.to_frame().index.name == "fold"


@pytest.mark.option("CrossEvaluation.to_frame.library")
def test_cross_evaluation():
    models = {"weak": Ridge(1e9), "strong": Ridge()}
    found = cross_evaluate(models, X, Y, qid=QID, cv=QueryKFold(4), metrics=["ndcg@5", "mrr"])
    rows, columns = [], {}
    for model, report in found.reports.items():
        for metric in ("ndcg@5", "mrr"):
            folds, interval = found.folds[model][metric], report.intervals()[metric]
            numbers = report.mean[metric], interval, np.mean(folds), np.std(folds)
            rows.append([model, metric, number(numbers[0]), ends(interval), *map(number, numbers[2:])])
            values = [model, metric, numbers[0], *interval, *numbers[2:]]
            names = ["model", "metric", "mean over queries", "low", "high", "mean over folds", "std over folds"]
            for name, value in zip(names, values, strict=True):
                columns.setdefault(name, []).append(value)
    tables, (verdict, _, *lines) = html_of(found.leaderboard)
    heads = ["model", "metric", "mean over folds", "std over folds"]
    folds = [heads, *([*row[:2], *row[4:]] for row in rows)]
    title, method = "40 queries out of fold, 4 folds", "Intervals ignore the variance from retraining."
    assert_shown(found, [*tables, folds], [verdict, title, *lines, method])
    check_frames(found, columns)
    one = cross_evaluate({"weak": models["weak"]}, X, Y, qid=QID, cv=QueryKFold(4), metrics=["ndcg@5", "mrr"])
    heads = ["model", "metric", "mean over queries", "95% interval", "mean over folds", "std over folds"]
    method = "Intervals: Student's t over queries; they ignore the variance from retraining."
    assert_shown(one, [[heads, *rows[:2]]], [title, method])


@pytest.fixture(scope="module")
def searched():
    grid = {"estimator__alpha": [1e12, 1.0, 1e5, -1.0]}
    noisy = np.column_stack([X, np.random.default_rng(0).normal(size=(len(X), 30)) * 100])
    scoring = ranking_scorers("ndcg@10", "map")
    search = GridSearchCV(QueryRanker(Ridge()), grid, scoring=scoring, refit="ndcg@10", cv=QueryKFold(3))
    with pytest.warns(match="fits failed"), pytest.warns(match="non-finite"):
        search.fit(noisy, with_qid(Y, QID))
    return search_report(search, noisy, Y, qid=QID, n_candidates=3, random_state=0)


@pytest.mark.option("SearchReport.to_frame.library")
def test_search_report(searched):
    def spread(candidate, name):
        mean, std = candidate.mean[name], candidate.std[name]
        return "none" if np.isnan(mean) else f"{mean:.4f} ± {std:.4f}"

    found, tested = searched.candidates, searched.candidates[1:3]
    assert [c.rank for c in found] == [1, 2, 3, 4]
    shared = searched.evaluation.leaderboard.compare().letters
    assert list(shared) == [f"{c.rank}: alpha={c.params['estimator__alpha']}" for c in found[:3]]
    chosen = [["candidate", "rank", "ndcg@10", "letters"]]
    chosen += [
        [f"alpha={c.params['estimator__alpha']}", str(c.rank), "*" * (c.rank == 1) + spread(c, "ndcg@10"), cell]
        for c, cell in zip(found, [*shared.values(), "failed"], strict=True)
    ]
    leads = [["rank", "lead of the best", "95% interval", "adjusted p"]]
    leads += [
        [str(c.rank), f"{c.pair.difference:+.4f}", ends(c.pair.interval, "+"), p_value(c.pair.p_adjusted)]
        for c in tested
    ]
    others = [["rank", "map"], *([str(c.rank), spread(c, "map")] for c in found)]
    last = (
        "Candidates were fitted again and compared per query, out of fold: paired sign-flip "
        "permutation test, 40 queries, Holm at 0.05, 3 pairs. The best was chosen on these data, so it looks better "
        "than it is."
    )
    marks = "*: best mean over queries. Letters: models that share one are not significantly different."
    title = "4 candidates ranked by ndcg@10, mean ± std over folds"
    assert_shown(searched, [chosen, leads, others], [searched.verdict, title, marks, last])
    assert any(c.pair.p_value != c.pair.p_adjusted for c in tested)

    def of_pair(name):
        return [getattr(c.pair, name) if c.pair else None for c in found]

    intervals = [interval or (None, None) for interval in of_pair("interval")]
    columns = {"rank": [1, 2, 3, 4], "index": [c.index for c in found]}
    assert columns["index"] != [0, 1, 2, 3]
    columns |= {"estimator__alpha": [c.params["estimator__alpha"] for c in found]}
    for name in ("ndcg@10", "map"):
        columns |= {f"mean {name}": [c.mean[name] for c in found], f"std {name}": [c.std[name] for c in found]}
    columns |= {"difference": of_pair("difference"), "low": [low for low, _ in intervals]}
    check_frames(searched, columns | {"high": [high for _, high in intervals], "p_adjusted": of_pair("p_adjusted")})


def test_parameters_of_the_names_of_columns(searched):
    params = [{"rank": 8, "high": "no"}, {"rank": 16, "high": "yes"}]
    found = [replace(c, params=own) for c, own in zip(searched.candidates, params, strict=False)]
    frame = replace(searched, candidates=found).to_frame()
    assert frame["rank"].tolist() == [1, 2]
    assert frame["param rank"].tolist() == [8, 16]
    assert frame["param high"].tolist() == ["no", "yes"]
    assert frame["high"].tolist()[1] == found[1].pair.interval[1]


def test_names_are_left_and_numbers_right_in_html(report):
    means, slices = alignments_of(report._repr_html_())
    assert means == [["left", *["right"] * 4]] * 4
    assert slices == [["left", "left", *["right"] * 3]] * 7
