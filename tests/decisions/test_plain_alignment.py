"""Reports from anywhere, each with its queries in an order of its own: what compare makes of them, at random."""

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.ranks import N_DOCUMENTS, rows_of_ranks

from skrank_metrics import compare, evaluate, get_metric, mrr_score
from skrank_metrics.metrics import get_metrics
from skrank_metrics.reports import RankingReport
from skrank_metrics.reports.ranking_report import subset, with_queries
from skrank_metrics.reports.report_data import data_of

# Spellings of each metric, and its values from the ranks of the only relevant document.
SPELLINGS = {
    "mrr": ("mrr", "RR", "recip_rank"),
    "hit_rate@2": ("hit_rate@2", "success@2", "hit@2"),
    "fall_out@3": ("fall_out@3", "fall_out@3", "fall_out(ties=average)@3"),
}
VALUES = {
    "mrr": lambda ranks: 1 / ranks,
    "hit_rate@2": lambda ranks: (ranks <= 2).astype(float),
    # Of five documents that are not relevant, two or three are in the top 3.
    "fall_out@3": lambda ranks: np.where(ranks <= 3, 2, 3) / 5,
}


# Only some reports have this metric.
FURTHER = "map"


class Data:
    """Queries in the order of the first report, with the ranks of each ranking, by query."""

    def __init__(self, random):
        n = int(random.choice([3, 12, 40]))
        numbers = random.permutation(n)
        self.qid = [numbers.tolist(), [f"q{number}" for number in numbers]][random.integers(2)]
        self.names = ["x", "y", "z", "w"][: random.integers(2, 5)]
        self.ranks = {name: random.integers(1, N_DOCUMENTS + 1, n) for name in self.names}
        self.metrics = random.permutation(list(SPELLINGS))[: random.integers(1, 4)].tolist()
        self.weights = random.choice([0.0, 1.0, 2.5], n) if random.random() < 0.4 else None
        if self.weights is not None:
            self.weights[0] = 1.0
        self.by = random.choice(["u", "v"], n) if random.random() < 0.6 else None
        self.groups = random.integers(0, n, n) if random.random() < 0.4 else None
        self.folds = random.integers(0, 3, n) if random.random() < 0.4 else None

    def columns(self, order, **chosen):
        """Columns of queries in another order, by the names that frames have for them."""
        found = {"qid": np.array(self.qid)[order]}
        named = {"weight": self.weights, "by": self.by, "group": self.groups} | chosen
        return found | {key: own[order] for key, own in named.items() if own is not None}


def report_from_frame(data, name, columns, order, spellings):
    values = {}
    for metric, spelling in spellings.items():
        values[spelling] = VALUES[metric](data.ranks[name][order])
    metrics = {spelling: metric for metric, spelling in spellings.items()}
    if name != data.names[-1]:
        values[FURTHER] = np.zeros(len(order))
        metrics[FURTHER] = FURTHER
    return RankingReport.from_frame(columns | values, metrics=metrics)


def report_from_rows(data, name, columns, order, random):
    """The rows of all queries in any order, of which the first of each query is in the order of the columns."""
    labels, scores, _ = rows_of_ranks(data.ranks[name][order])
    rows = {key: np.repeat(own, N_DOCUMENTS) for key, own in columns.items()}
    starts = N_DOCUMENTS * np.arange(len(order))
    others = np.setdiff1d(np.arange(len(labels)), starts)
    mixed = np.r_[starts, random.permutation(others)]
    return evaluate(
        labels[mixed],
        scores[mixed],
        qid=rows["qid"][mixed],
        metrics=random.permutation(data.metrics).tolist(),
        sample_weight=rows["weight"][mixed] if "weight" in rows else None,
        by=rows["by"][mixed] if "by" in rows else None,
        groups=rows["group"][mixed] if "group" in rows else None,
    )


def saved_and_loaded(report):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        report.save(path)
        return RankingReport.load(path)


def report_of(data, name, order, random, *, has_by, has_groups, has_folds):
    """One of the ways to a report of a ranking."""
    chosen = {}
    if not has_by:
        chosen["by"] = None
    if not has_groups:
        chosen["group"] = None
    columns = data.columns(order, **chosen)
    if random.random() < 0.5:
        metrics = random.permutation(data.metrics).tolist()
        spellings = {metric: str(random.choice(SPELLINGS[metric])) for metric in metrics}
        report = report_from_frame(data, name, columns, order, spellings)
    else:
        report = report_from_rows(data, name, columns, order, random)
    if has_folds:
        report = with_queries(report, folds=data.folds[order])
    return saved_and_loaded(report) if random.random() < 0.3 else report


def random_reports(data, random, *, some_lack=True):
    """Reports in the order of names; the first has the queries in the order of the data."""
    n = len(data.qid)
    reports = {}
    lacks_groups = some_lack and random.random() < 0.3
    with_folds = random.choice(data.names)
    for name in data.names:
        order = np.arange(n) if name == data.names[0] else random.permutation(n)
        reports[name] = report_of(
            data,
            name,
            order,
            random,
            has_by=not some_lack or random.random() < 0.7,
            has_groups=not lacks_groups or random.random() < 0.5,
            has_folds=data.folds is not None
            and (not some_lack or name == with_folds or random.random() < 0.3),
        )
    return reports


def given(column, first, random):
    """Slices or groups of queries as users pass them: per query of the first report, with ids or not, or per row."""
    ways = [column, column.tolist(), pd.Series(column, index=pd.Index(first.qid, name="qid"))]
    if data_of(first).grouping is not None:
        ways.append(column[data_of(first).grouping.codes])
    return ways[random.integers(len(ways))]


def asked(data, first, random):
    """The metrics to ask for, and their names in the first report."""
    name_of = {}
    for name, metric in first.metrics.items():
        name_of[str(metric)] = name
    chosen = [metric for metric in data.metrics if random.random() < 0.7] or data.metrics[:1]
    names = [name_of[metric] for metric in chosen]
    spelled = [str(random.choice(SPELLINGS[metric])) for metric in chosen]
    ways = [
        (None, [name for name in first.metrics if name != FURTHER]),
        (names, names),
        ((*spelled, spelled[0]), names),
        (get_metrics(*chosen), names),
        ([get_metric(metric) for metric in chosen], names),
    ]
    if "mrr" in data.metrics:
        ways += [(mrr_score, [name_of["mrr"]]), ("RR", [name_of["mrr"]])]
    return ways[random.integers(len(ways))]


def expected_comparison(data, names_of_metrics, by, groups, options):
    """Of reports from frames that have all columns in the same order and with the same names."""
    order = np.arange(len(data.qid))
    spellings = {}
    for name in names_of_metrics:
        spellings[next(key for key, own in SPELLINGS.items() if name in own)] = name
    reports = {}
    for name in data.names:
        columns = data.columns(order, by=by, group=groups)
        report = report_from_frame(data, name, columns, order, spellings)
        reports[name] = with_queries(report, folds=data.folds)
    return compare(reports, names_of_metrics, **options)


def listed(column):
    return None if column is None else column.tolist()


def check_same(found, expected):
    """All that does not depend on documents."""
    assert found.names == expected.names
    assert found.metrics == expected.metrics
    assert found.plan == expected.plan
    assert found.verdict == expected.verdict
    assert found.folds_won == expected.folds_won
    assert listed(found.folds) == listed(expected.folds)
    for pairs in (False, True):
        frames = [one.to_frame(pairs=pairs) for one in (found, expected)]
        pd.testing.assert_frame_equal(*frames, rtol=1e-9)
    assert found.worst(3) == expected.worst(3)
    assert found.best(3) == expected.best(3)
    assert list(found.slices) == list(expected.slices)
    for name, report in found.reports.items():
        plain = expected.reports[name]
        for column in ("qid", "weights", "by", "groups", "folds"):
            assert listed(getattr(report, column)) == listed(getattr(plain, column)), column
        for metric in found.metrics:
            np.testing.assert_allclose(report.per_query[metric], plain.per_query[metric])


def check_means(comparison, data, queries):
    """Means of some of the queries, by metric and ranking, with their weights."""
    weights = None if data.weights is None else data.weights[queries]
    for metric in comparison.metrics:
        kind = next(key for key, own in SPELLINGS.items() if metric in own)
        for name, mean in comparison.by_metric(metric).means().items():
            values = VALUES[kind](data.ranks[name][queries])
            assert mean == pytest.approx(np.average(values, weights=weights), rel=1e-9)


def random_options(data, random):
    names = random.permutation(data.names)
    several = names[: random.integers(1, len(names))].tolist()
    baseline = [None, str(names[0]), several][random.integers(3)]
    margin = None if baseline is None else [None, 0.05][random.integers(2)]
    return {"baseline": baseline, "margin": margin}


def check(seed):
    random = np.random.default_rng(seed)
    data = Data(random)
    reports = random_reports(data, random)
    first = reports[data.names[0]]
    options = random_options(data, random)
    passed = {}
    by = data.by if all(report.by is not None for report in reports.values()) else None
    if random.random() < 0.4:
        by = random.choice(["k", "l", "m"], len(data.qid))
        passed["by"] = given(by, first, random)
    groups = data.groups
    lack_groups = [report.groups is None for report in reports.values()]
    if all(lack_groups):
        groups = None
    if random.random() < 0.3 or any(lack_groups) != all(lack_groups):
        groups = random.integers(0, len(data.qid), len(data.qid))
        passed["groups"] = given(groups, first, random)
    metrics, names = asked(data, first, random)
    found = compare(reports, metrics, **passed, **options)
    expected = expected_comparison(data, names, by, groups, options)
    check_same(found, expected)
    for value, part in found.slices.items():
        check_means(part, data, np.flatnonzero(by == value))
    check_means(found, data, np.arange(len(data.qid)))
    check_views(found, random)


def check_views(found, random):
    """By another metric, decided again, saved and loaded."""
    metric = found.metrics[random.integers(len(found.metrics))]
    view = found.by_metric(metric)
    options = {"baseline": found.plan.baseline, "margin": found.plan.margin}
    again = compare(view, **options)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "comparison.json"
        view.save(path)
        loaded = view.load(path)
    pairs = view.to_frame(pairs=True)
    for one in (again, loaded):
        assert one.metrics == view.metrics
        assert one.names == view.names
        assert one.plan == view.plan
        pd.testing.assert_frame_equal(one.to_frame(pairs=True), pairs)
        assert list(one.slices) == list(view.slices)
        assert listed(one.folds) == listed(view.folds)


@pytest.mark.parametrize("seed", range(30))
def test_reports_in_other_orders_are_one_comparison(seed):
    check(seed)


# What must agree


def changed(column, random):
    """A column with another value for one of the queries, which had it, too."""
    column = column.copy()
    place = random.integers(len(column))
    others = column[column != column[place]]
    column[place] = others[0]
    return column


def without_one(report, random):
    """The report without one of its queries."""
    n = report.n_queries
    return subset(report, np.delete(np.arange(n), random.integers(n)))


def with_other_label(data, name, random):
    """A second document of a query is relevant."""
    labels, scores, qid = rows_of_ranks(data.ranks[name])
    place = N_DOCUMENTS * random.integers(len(data.qid))
    labels[place + 1] = 1
    return evaluate(labels, scores, qid=np.array(data.qid)[qid], metrics=data.metrics)


def break_one(data, reports, name, random):
    """Make one report differ in one way; return what the error says."""
    report = reports[name]
    ways = {"queries": without_one(report, random)}
    for column, of_data in (("weights", data.weights), ("groups", data.groups), ("by", data.by)):
        own = getattr(report, column)
        if of_data is not None and len(set(own.tolist())) > 1:
            ways[column] = with_queries(report, **{column: changed(own, random)})
    if data.folds is not None and len(set(data.folds.tolist())) > 1:
        ways["folds"] = with_queries(report, folds=changed(report.folds, random))
    if data.weights is not None:
        ways["no weights"] = with_queries(report, weights=None)
    if data.groups is not None:
        ways["no groups"] = with_queries(report, groups=None)
    metric = next(iter(report.metrics))
    params = {"replace_undefined_by": 0.5}
    other = {metric: report.metrics[metric].replace(**params)}
    ways["metric"] = replace(report, metrics=report.metrics | other)
    way = str(random.choice(list(ways)))
    reports[name] = ways[way]
    if way == "queries":
        n = len(data.qid)
        if name == data.names[0]:
            return f"the same queries; got {n - 1} in '{name}' and {n} in .*, {n - 1} of them"
        return f"the same queries; got {n} in .* and {n - 1} in '{name}', {n - 1} of them"
    if way == "metric":
        return "in the same way; got|is missing from report"
    if way == "folds":
        return "tested in the same folds; .* differ"
    return f"must have the same {way.removeprefix('no ')}; '.*' and '.*' differ"


@pytest.mark.parametrize("seed", range(30))
def test_one_report_that_differs_in_one_query_is_refused(seed):
    random = np.random.default_rng(seed)
    data = Data(random)
    reports = random_reports(data, random, some_lack=False)
    compare(reports, data.metrics)
    message = break_one(data, reports, str(random.choice(data.names)), random)
    with pytest.raises(ValueError, match=message):
        compare(reports, data.metrics)


@pytest.mark.parametrize("seed", range(5))
def test_one_label_that_differs_is_refused(seed):
    random = np.random.default_rng(seed)
    data = Data(random)
    data.weights = data.by = data.groups = data.folds = None
    order = random.permutation(len(data.qid))
    reports = {
        name: report_from_rows(data, name, data.columns(order), order, random)
        for name in data.names
    }
    compare(reports)
    name = str(random.choice(data.names))
    reports[name] = with_other_label(data, name, random)
    if random.random() < 0.5:
        reports[name] = saved_and_loaded(reports[name])
    with pytest.raises(ValueError, match=r"the same documents with the same labels; .* in query"):
        compare(reports)
