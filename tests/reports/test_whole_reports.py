"""Random reports say the same in every attribute, frame and sentence after a file, a pickle, or as a slice."""

import pickle
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
from support.random_rows import random_rows, rows_at
from support.said import assert_alike, columns_of, said_by, said_by_comparison
from support.shown import html_of

from skrank_metrics import compare, evaluate, get_metric, make_metric
from skrank_metrics._input.query_ids import as_python
from skrank_metrics.decisions import Comparison
from skrank_metrics.reports import RankingReport
from skrank_metrics.reports.ranking_report import with_queries
from skrank_metrics.reports.report_data import data_of

NOT_COUNTED = ("Not checked for tied scores, because the rows were not kept.",)


def revenue(labels, price, unranked=()):
    return float(price[:1].sum()) + len(unranked) if len(price) > 1 else np.nan


def cost(labels, unranked=()):
    return float(labels[-1]) if len(labels) > 1 else np.nan


OWN = make_metric(cost, name="cost", bounds=(0, 3), greater_is_better=False)
METRICS = [
    "ndcg@2",
    "map",
    "mrr(replace_undefined_by=nan)",
    "dcg(gain=exp2)",
    "recall(average=micro)@2",
    "precision(average=micro, replace_undefined_by=nan)@3",
    "recall(average=median, replace_undefined_by=1)@3",
    "map(average=geometric)",
    "neg_fall_out(replace_undefined_by=1)@2",
    "fall_out@1",
    "kendall_tau(replace_undefined_by=-1)",
    "neg_kendall_tau_distance(normalize=True)",
    "bpref",
    "judged@2",
    get_metric("dcg", gain={1: 1, 2: 3, 3: 2}, k=2),
    get_metric(OWN, replace_undefined_by=2.5),
    # As searches by a custom metric of which smaller values are better have it.
    replace(get_metric(OWN), negative=True),
]


def random_metrics(random, rows):
    metrics = [METRICS[i] for i in random.permutation(len(METRICS))[: random.integers(1, 5)]]
    if "documents" in rows and random.random() < 0.5:
        metrics.append(make_metric(revenue, documents=["price"]))
    return metrics


def random_report(random, always=()):
    rows = random_rows(random, always=always)
    report = evaluate(**rows, metrics=random_metrics(random, rows))
    if random.random() < 0.3:
        report = with_queries(report, folds=random.integers(0, 3, report.n_queries))
    return rows, report


def but(said, *names):
    """What was said, without some of it."""
    return {name: value for name, value in said.items() if name not in names}


def assert_loaded(found, report):
    """Check a report that comes from a file, and its slices, of which documents would be needed to say more."""
    assert_alike(said_by(found), said_by(report))
    assert not data_of(found).has_documents
    for name in ("n_documents", "n_judged", "digests"):
        one, other = (getattr(data_of(own).counts, name) for own in (found, report))
        np.testing.assert_array_equal(one, other)
    for part, other in zip(found.slices.values(), report.slices.values(), strict=True):
        assert_alike(but(said_by(part), "health", "text"), but(said_by(other), "health", "text"))
        assert part.health.findings == NOT_COUNTED
        assert data_of(part).counts.digests.tolist() == data_of(other).counts.digests.tolist()


@pytest.mark.parametrize("seed", range(16))
def test_reports_come_back_whole(seed, tmp_path):
    random = np.random.default_rng([seed, 5])
    _, report = random_report(random)
    path = tmp_path / "report.json"
    report.save(path)
    found = RankingReport.load(path)
    assert_loaded(found, report)
    found.save(tmp_path / "again.json")
    assert_alike(said_by(RankingReport.load(tmp_path / "again.json")), said_by(report))
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()
    assert_alike(said_by(pickle.loads(pickle.dumps(report))), said_by(report))


def plain_columns(report):
    """Columns of the frame of a report, by hand."""
    found = {"qid": as_python(report.qid)}
    if report.by is not None:
        found["by"] = as_python(report.by)
        if any(isinstance(value, tuple) for value in found["by"]):
            found["by"] = [
                ", ".join(map(str, value)).replace("None", "missing") for value in found["by"]
            ]
    if report.groups is not None:
        found["group"] = as_python(report.groups)
    if report.weights is not None:
        found["weight"] = report.weights.tolist()
    return found | {name: values.tolist() for name, values in report.per_query.items()}


def is_nothing(value):
    """Whether a cell of a frame is empty."""
    return value is None or value != value


@pytest.mark.parametrize("seed", range(12))
def test_frames_have_all_columns_and_make_the_report_again(seed):
    random = np.random.default_rng([seed, 8])
    _, report = random_report(random, always=["by"])
    expected = plain_columns(report)
    frames = {library: report.to_frame(library) for library in ("pandas", "polars")}
    for frame in frames.values():
        found = columns_of(frame)
        assert list(found) == list(expected)
        for name, column in expected.items():
            if np.asarray(report.qid).dtype.kind == "M" and name == "qid":
                continue  # libraries have times of their own
            for value, own in zip(found[name], column, strict=True):
                is_same = value == own or (is_nothing(value) and is_nothing(own))
                assert is_same or list(value) == list(own), name
    metrics = {name: metric for name, metric in report.metrics.items() if metric.average != "micro"}
    again = RankingReport.from_frame(frames["pandas"], metrics=metrics) if metrics else None
    for name in metrics:
        assert again.mean[name] == pytest.approx(report.mean[name], nan_ok=True)
        ends = report.intervals()[name]
        assert again.intervals()[name] == pytest.approx(ends, nan_ok=True)
        assert again.per_query[name].tolist() == pytest.approx(expected[name], nan_ok=True)
    parts = [part.n_queries for part in report.slices.values()]
    if metrics:
        assert sorted(part.n_queries for part in again.slices.values()) == sorted(parts)


@pytest.mark.parametrize("seed", range(12))
def test_reports_print_what_they_rest_on(seed):
    random = np.random.default_rng([seed, 9])
    rows, report = random_report(random)
    lines = " ".join(str(report).split())
    n = len(rows["y_true"])
    n_groups = 0 if report.groups is None else len(set(report.groups.tolist()))
    groups = "1 group" if n_groups == 1 else f"{n_groups} groups"
    of_groups = f" in {groups}" if n_groups else ""
    assert lines.startswith(f"{report.n_queries} queries{of_groups}, {n} documents ")
    is_weighted = report.weights is not None
    n_without = int((report.weights == 0).sum()) if is_weighted else 0
    queries = "1 query" if n_without == 1 else f"{n_without} queries"
    ending = f", {queries} with weight 0." if n_without else "."
    assert ("Weighted by sample_weight" in lines) == is_weighted
    assert not is_weighted or f"Weighted by sample_weight{ending}" in lines
    of_all, *of_slices = html_of(report)[0]
    assert [row[0] for row in of_all[1:]] == list(report.metrics)
    assert len(of_slices) == bool(report.slices)
    for row in chain.from_iterable(table[1:] for table in of_slices):
        assert row[1] in report.metrics


@pytest.mark.parametrize("seed", range(10))
def test_slices_are_reports_of_their_rows(seed):
    random = np.random.default_rng([seed, 6])
    rows = random_rows(random, always=["by"])
    report = evaluate(**rows, metrics=random_metrics(random, rows))
    for part in report.slices.values():
        ids = part.qid.tolist()
        places = [place for place, query in enumerate(rows["qid"].tolist()) if query in ids]
        own = rows_at(rows, places)
        if not np.any(own.get("sample_weight", 1)):
            continue
        metrics = dict(zip(report.metrics, report.metrics.values(), strict=True))
        alone = evaluate(**own, metrics=metrics)
        assert_alike(said_by(part), said_by(alone), rel=1e-9)
        query = ids[random.integers(len(ids))]
        shown = part.inspect([query])
        expected = alone.inspect([query])
        ((one,),), ((other,),) = shown.queries, expected.queries
        assert one.columns["row"].tolist() == np.array(places)[other.columns["row"]].tolist()
        assert one.unranked == np.array(places)[other.unranked].tolist()
        assert (one.value, one.rest) == pytest.approx((other.value, other.rest), nan_ok=True)


# Comparisons


def random_comparison(random):
    """Several models, of which some did not return all documents, compared with random options."""
    rows = random_rows(random, int(random.integers(4, 20)), always=["by"])
    names = ["one", "two", "three"][: random.integers(1, 4)]
    n = len(rows["y_true"])
    scores = {name: random.integers(0, 4, n) / 2 for name in names}
    for own in scores.values():
        if random.random() < 0.4:
            own[random.random(n) < 0.2] = np.nan
    metrics = [
        "mrr",
        "neg_fall_out@2",
        "dcg@3",
        OWN,
        "recall(average=micro)@2",
        "map(average=median)",
    ]
    chosen = ["mrr", *(metrics[i] for i in random.permutation(len(metrics))[:2])]
    bound = {str(get_metric(metric)): get_metric(metric) for metric in chosen}
    given = rows | {"y_score": scores}
    comparison = evaluate(**given, metrics=bound)
    if len(names) == 1:
        return comparison
    tested = [name for name, metric in bound.items() if metric.average in (None, "macro")]
    options = {
        "baseline": str(random.choice(names)),
        "margin": {name: 0.05 * place for place, name in enumerate(tested, start=1)},
        "confidence": 0.9,
        "random_state": 3,
    }
    options = {name: value for name, value in options.items() if random.random() < 0.5}
    if "baseline" not in options:
        options.pop("margin", None)
    return compare(comparison, tested, **options)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.slow
def test_comparisons_come_back_whole(seed, tmp_path):
    random = np.random.default_rng([seed, 7])
    comparison = random_comparison(random)
    comparison.save(tmp_path / "all.json")
    found = Comparison.load(tmp_path / "all.json")
    # What is known of the documents of a slice is not in the file.
    slices = [f"slice {name}: " for name in comparison.named_slices]
    skipped = [start + end for start in slices for end in ("text", "notes", "details")]
    expected = but(said_by_comparison(comparison), *skipped)
    assert_alike(but(said_by_comparison(found), *skipped), expected)
    for name, report in comparison.reports.items():
        assert_loaded(found.reports[name], report)
