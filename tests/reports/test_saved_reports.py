"""Reports in files, and reports made from values per query."""

import datetime
import hashlib
import json
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skrank_metrics
from skrank_metrics import compare, evaluate, evaluate_run, get_metric, make_metric
from skrank_metrics._input.arrays import to_objects
from skrank_metrics.datasets import make_ranking
from skrank_metrics.decisions import Comparison
from skrank_metrics.metrics import get_metric_names
from skrank_metrics.reports import RankingReport
from skrank_metrics.reports.report_data import data_of
from skrank_metrics.reports.saved import FORMAT_VERSION
from skrank_metrics.sources import RankingAccumulator

X, Y, QID = make_ranking(30, random_state=0)
METRICS = [
    "ndcg(gain=exp2)@10",
    "map",
    "recall(average=micro)@5",
    "neg_kendall_tau_distance",
    "dcg@3",
]


def report_of(column=0, **options):
    return evaluate(Y, X[:, column].round(1), qid=QID, **{"metrics": METRICS, **options})


def reloaded(report, tmp_path):
    report.save(tmp_path / "report.json")
    return RankingReport.load(str(tmp_path / "report.json"))


def assert_same(found, report, rtol=0):
    assert found.mean == pytest.approx(report.mean, rel=rtol, abs=0)
    for name, ends in report.intervals().items():
        assert found.intervals()[name] == pytest.approx(ends, nan_ok=True)
    for name in ("qid", "weights", "by", "groups"):
        np.testing.assert_array_equal(getattr(found, name), getattr(report, name))
    for name, values in report.per_query.items():
        np.testing.assert_allclose(found.per_query[name], values, rtol=rtol)
    assert found.n_undefined == report.n_undefined


def test_a_report_of_condensed_lists_can_be_compared_when_it_comes_back(tmp_path):
    report = report_of(judged=np.arange(len(QID)) % 3 > 0, condense=True)
    assert compare([report, reloaded(report, tmp_path)]).pair().difference == 0


def test_a_report_comes_back_with_all_but_the_documents(tmp_path):
    rows = {
        "by": np.array(["x", None, "y"], dtype=object)[QID % 3],
        "groups": QID // 4,
        "sample_weight": QID % 5 + 1,
    }
    report = report_of(**rows)
    found = reloaded(report, tmp_path)
    assert_same(found, report)
    assert list(found.slices) == ["x", "y", None]
    assert_same(found.slices[None], report.slices[None])
    assert found.n_documents == report.n_documents
    part = found.slices[None]
    n_documents = report.slices[None].n_documents
    assert part.n_documents == n_documents
    assert part.n_queries == 10
    assert found.health.findings == report.health.findings
    assert vars(found.health) == vars(report.health)
    assert not data_of(found).has_documents
    assert {name: metric.definition for name, metric in found.metrics.items()} == {
        name: metric.definition for name, metric in report.metrics.items()
    }
    assert str(found).splitlines()[:9] == str(report).splitlines()[:9]
    again = tmp_path / "again.json"
    found.save(again)
    assert again.read_bytes() == (tmp_path / "report.json").read_bytes()
    assert again.read_bytes().isascii()


def test_reports_of_batches_are_saved_too(tmp_path):
    report = RankingAccumulator(METRICS).update(Y, X[:, 0].round(1), qid=QID).result()
    found = reloaded(report, tmp_path)
    assert_same(found, report)
    assert found.health.findings == report.health.findings


def test_a_saved_report_is_compared_with_a_new_one(tmp_path):
    old = report_of(0)
    new = report_of(1)
    loaded = reloaded(old, tmp_path)
    expected = compare({"old": old, "new": new}, "map").pair("old", "new")
    found = compare({"old": loaded, "new": new}, "map").pair("old", "new")
    assert found.difference == expected.difference
    assert found.interval == expected.interval
    labels = Y.copy()
    labels[0] += 1
    other = evaluate(labels, X[:, 1], qid=QID, metrics=METRICS)
    with pytest.raises(ValueError, match="same documents with the same labels"):
        compare({"old": loaded, "new": other}, "map")


IDS = {
    "int": [3, -1],
    "uint64": np.array([2**64 - 1, 0], dtype=np.uint64),
    "float": [2.0, 1e300],
    "bool": [True, False],
    "str": ["é\udc80", "a"],
    "bytes": [b"a\xff", b""],
    "days": np.array(["2001-02-03", "2001-02-04"], dtype="M8[D]"),
    "nanoseconds": np.array([1, 2], dtype="M8[ns]"),
    "durations": np.array([1, 2], dtype="m8[s]"),
    "mixed": [1, "a"],
    "tuples": [(1, "a"), (1, ("b", 5))],
    "dates": [datetime.date(2001, 2, 3), datetime.date(2001, 2, 4)],
    "times": [
        datetime.datetime(2001, 2, 3, 4, 5, 6, 7),
        datetime.datetime(2001, 2, 3, tzinfo=datetime.UTC),
    ],
}


@pytest.mark.parametrize("kind", IDS)
def test_ids_keep_their_types(kind, tmp_path):
    ids = IDS[kind] if isinstance(IDS[kind], np.ndarray) else to_objects(IDS[kind])
    qid = np.repeat(ids, 2)
    report = evaluate(
        [1, 0, 0, 1], [2, 1, 2, 1], qid=qid, metrics="mrr", by=qid if kind != "tuples" else None
    )
    found = reloaded(report, tmp_path)
    assert found.qid.dtype == report.qid.dtype
    assert list(map(repr, found.qid.tolist())) == list(map(repr, report.qid.tolist()))
    assert list(found.slices) == list(report.slices)


def test_names_may_look_like_the_words_of_the_format(tmp_path):
    report = RankingReport.from_frame({"qid": [1, 2], "$array": [0.5, 1], "$$float": [1, 0.5]})
    assert_same(reloaded(report, tmp_path), report)


def test_ids_that_a_file_cannot_hold_are_refused(tmp_path):
    rows = {"y_true": [1, 0], "y_score": [2, 1], "metrics": "mrr"}
    by_time = evaluate(**rows, qid=np.array([pd.Timestamp(10**18 + 1, tz="UTC")] * 2, dtype=object))
    with pytest.raises(
        TypeError, match=r"A file cannot hold .*, of type Timestamp. Evaluate with str\(id\)"
    ):
        by_time.save(tmp_path / "report.json")
    times = np.array(["2001-01-01", "NaT", "2001-01-01T00:00:00.000000001"], dtype="M8[ns]")
    for by in (
        to_objects([frozenset("a")] * 3),
        to_objects([datetime.timedelta(1)] * 3),
        times,
    ):
        report = evaluate([[1, 0]] * 3, [[2, 1]] * 3, metrics="mrr", by=by)
        with pytest.raises(TypeError, match="A file cannot hold"):
            report.save(tmp_path / "report.json")
    assert list(tmp_path.iterdir()) == []


def test_values_beyond_the_range_of_a_metric_whose_gains_fall_come_back(tmp_path):
    falling = get_metric("q_measure", gain=[3, 1, 2, 0])
    report = evaluate([[0, 1, 1]], [[3, 2, 1]], metrics=[falling])
    assert report.mean[str(falling)] > 1
    assert_same(reloaded(report, tmp_path), report)


def of_every_metric():
    """Each metric with options, and options that are not plain numbers or words."""
    for name in get_metric_names():
        options = get_metric(name).record.options
        cutoff = {"k": 3} if get_metric(name).record.has_cutoff else {}
        threshold = (
            {"relevance_threshold": 0.5}
            if "relevance_threshold" in options and "gain" not in options
            else {}
        )
        yield get_metric(name, ties="worst", **cutoff, **threshold)
    yield get_metric("ndcg", gain=np.array([0, 1, 3, 7, 15]), k=3)
    yield get_metric("ndcg", gain={1: 1, 2: 3, 3: 7, 4: 15}, k=3)
    yield get_metric("ndcg", gain="binary", ideal=4, discount="jarvelin", min_documents=2)
    yield get_metric("mrr", replace_undefined_by=np.nan)
    yield from (get_metric("map", average=average) for average in ("median", "geometric"))


@pytest.mark.parametrize("metric", list(of_every_metric()), ids=str)
def test_every_metric_and_parameter_is_known_again(metric, tmp_path):
    report = evaluate(Y > 0, X[:, 0].round(1), qid=QID, metrics=[metric])
    found = reloaded(report, tmp_path)
    assert_same(found, report)
    ((name, own),) = found.metrics.items()
    assert own.definition == metric.definition
    assert own.average == metric.average
    assert name == str(metric)
    assert str(own) == name


def test_own_metrics_keep_their_values_bounds_and_direction(tmp_path):
    def cost(labels):
        return float(labels[0]) if len(labels) > 3 else np.nan

    def first(labels):
        return float(labels[0]) or np.nan

    metrics = [
        make_metric(cost, bounds=(0, 5), greater_is_better=False),
        get_metric(make_metric(first), replace_undefined_by=-1),
        get_metric("neg_" + "fall_out@3"),
        get_metric("dcg", gain=lambda labels: labels * 2, k=3),
    ]
    one, other = (report_of(column, metrics=metrics) for column in (0, 1))
    found = reloaded(one, tmp_path)
    assert_same(found, one)
    assert list(found.metrics) == list(one.metrics)
    own = next(iter(found.metrics.values()))
    assert own.record.lower == 0
    assert own.record.upper == 5
    assert own.greater_is_better is False
    with pytest.raises(ValueError, match="has recorded values only, and cannot be computed"):
        own([1, 0], [2, 1], qid=[0, 0])
    both = {"one": found, "other": reloaded(other, tmp_path)}
    assert compare(both, "cost").pair("one", "other").difference == pytest.approx(
        one.mean["cost"] - other.mean["cost"]
    )


def test_damaged_and_foreign_files_are_refused(tmp_path):
    path = tmp_path / "report.json"
    report_of().save(path)
    text = path.read_text()
    load = RankingReport.load
    message = r"report.json is not a saved report, as written by save\(\), or it is damaged"
    for damaged in (
        "",
        text[:10],
        text[:300],
        text[:-3],
        "{}",
        "[1]",
        "3",
        "\xff\xfe",
        text.replace("0.5", "0.6", 1),
    ):
        path.write_text(damaged)
        with pytest.raises(ValueError, match=message):
            load(path)
    path.write_text(
        text.replace(f'"version": {FORMAT_VERSION}', f'"version": {FORMAT_VERSION + 1}')
    )
    with pytest.raises(
        ValueError,
        match=r"has format version 2, written by skrank_metrics .* reads versions up to 1. Update",
    ):
        load(path)
    compare([report_of(0), report_of(1)]).save(path)
    with pytest.raises(ValueError, match=r"report.json is not a saved report"):
        load(path)
    with pytest.raises(TypeError, match=r"expected str, bytes or os.PathLike object, not int"):
        load(3)


# What a file may hold, with a checksum that is right, and what its error says.
FORGED = {
    "a type of 1.6 GB a value": (["qid", "$array", 0], "<U400000000", "is no type of columns"),
    "a type of arrays": (["qid", "$array", 0], "(100000000,)f8", "is no type of columns"),
    "objects": (["qid", "$array", 0], "V900000000", "is no type of columns"),
    "large integers": (["qid", "$array", 1], [10**30], "values that save() does not write"),
    "no base64": (["qid", "$array", 1], "AAAA*", "values that save() does not write"),
    "half a number": (["qid", "$array", 1], "AAAA", "values that save() does not write"),
    "an unknown field": (["colour"], "red", "does not know these fields of a report: colour"),
    "a number for values": (["values", "mrr"], 3, "The file holds no report"),
    "no values": (["values"], {}, "The file holds no report as save() writes it: 'mrr'"),
    "no health": (["health"], {}, "The file holds no report"),
    "no date": (["by"], {"$datetime": "x"}, "values that save() does not write"),
}


@pytest.mark.parametrize("case", FORGED)
def test_forged_files_are_refused_before_memory_is_taken(case, tmp_path):
    place, value, message = FORGED[case]
    path = tmp_path / "forged.json"
    evaluate([1, 0, 0, 1], [2, 1, 2, 1], qid=[1, 1, 2, 2], metrics="mrr").save(path)
    saved = json.loads(path.read_text())
    holder = saved["contents"]
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = value
    text = json.dumps(saved["contents"])
    saved["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    path.write_text(json.dumps(saved))
    with pytest.raises(ValueError, match=re.escape(message)):
        RankingReport.load(path)


GOLDEN = Path(__file__).parents[1] / "golden"


def test_files_of_every_version_can_be_read():
    assert FORMAT_VERSION == 1, "add files of the new version, and keep those of the old one"
    report = RankingReport.load(GOLDEN / "report.1.json")
    X, y, qid = make_ranking(12, random_state=0)
    metrics = ["ndcg@10", "recall(average=micro)@5"]
    expected = evaluate(y, X[:, 0].round(2), qid=qid, metrics=metrics, by=qid % 2, groups=qid // 2)
    assert_same(report, expected, rtol=1e-14)  # the order of sums may differ between versions
    comparison = Comparison.load(GOLDEN / "comparison.1.json")
    assert comparison.plan.margin == {"ndcg@10": 0.1, "mrr": 0.2}
    assert comparison.plan.baseline == "b"
    assert comparison.decision == "ship"
    folds = Comparison.load(GOLDEN / "cross_evaluation.1.json")
    assert type(folds).__name__ == "CrossEvaluation"
    assert set(folds.folds) == {0, 1, 2}
    assert {name: scores.shape for name, scores in folds.scores.items()} == {
        "weak": y.shape,
        "plain": y.shape,
    }
    assert "allows for training on other" in str(folds)
    search = Comparison.load(GOLDEN / "search_report.1.json")
    assert type(search).__name__ == "SearchReport"
    assert list(search.params.values()) == [
        {"estimator": "Ridge()"},  # as text, as a file cannot hold estimators
        {"estimator": "Ridge(alpha=1000000.0)"},
    ]
    assert f"{search.naive_score:.4f}" in str(search)


# As the version that wrote the files printed them.
MEANS = {
    "comparison": {
        "a": {"ndcg@10": 0.599737, "mrr": 0.916667},
        "b": {"ndcg@10": 0.535746, "mrr": 0.666667},
    },
    "cross_evaluation": {"plain": {"ndcg@10": 0.721359}, "weak": {"ndcg@10": 0.707194}},
    "search_report": {
        "candidate 1": {"ndcg@10": 0.721359},
        "candidate 2": {"ndcg@10": 0.707194},
    },
}


@pytest.mark.parametrize("kind", MEANS)
def test_reports_of_old_files_keep_their_names_and_means(kind):
    found = Comparison.load(GOLDEN / f"{kind}.1.json").reports
    assert list(found) == list(MEANS[kind])
    for name, means in MEANS[kind].items():
        assert dict(found[name].mean) == pytest.approx(means, abs=1e-6)


def changed_file(name, change, tmp_path):
    """A golden file of another version, with some contents changed, and a checksum that is right."""
    saved = json.loads((GOLDEN / name).read_text())
    change(saved["contents"])
    saved["written_by"] = "skrank_metrics 0.4.2"
    text = json.dumps(saved["contents"])
    saved["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(saved))
    return path


@pytest.mark.parametrize(
    ("field", "default"),
    [("weights", None), ("by", None), ("groups", None), ("folds", None), ("condensed", False)],
)
def test_fields_that_a_file_lacks_have_their_defaults(field, default, tmp_path):
    path = changed_file("report.1.json", lambda contents: contents.pop(field), tmp_path)
    report = RankingReport.load(path)
    assert getattr(report, field) is default
    assert report.mean == RankingReport.load(GOLDEN / "report.1.json").mean


def test_a_comparison_without_a_plan_has_the_default_one(tmp_path):
    path = changed_file("search_report.1.json", lambda contents: contents.pop("plan"), tmp_path)
    assert Comparison.load(path).plan == Comparison.load(GOLDEN / "search_report.1.json").plan

    def without_folds_and_health(contents):
        for _, report in contents["reports"]:
            report.pop("health", None)
            report.pop("kept", None)

    path = changed_file("comparison.1.json", without_folds_and_health, tmp_path)
    assert Comparison.load(path).decision == "ship"


@pytest.mark.parametrize("field", ["qid", "metrics", "values"])
def test_fields_that_every_report_needs_are_named_if_they_are_missing(field, tmp_path):
    path = changed_file("report.1.json", lambda contents: contents.pop(field), tmp_path)
    with pytest.raises(ValueError, match=f"needs these fields of a report: {field}"):
        RankingReport.load(path)


def test_unknown_fields_name_both_versions(tmp_path):
    path = changed_file("report.1.json", lambda contents: contents.update(hue=1), tmp_path)
    with pytest.raises(ValueError, match="does not know these fields of a report: hue") as error:
        RankingReport.load(path)
    assert "written by skrank_metrics 0.4.2" in str(error.value)
    assert f"this is skrank_metrics {skrank_metrics.__version__}" in str(error.value)


def test_only_pooled_metrics_keep_their_denominators(tmp_path):
    labels = [[1, 2, 0], [0, 1, 0]]
    scores = [[1, 2, 3], [3, 2, 1]]
    metrics = ["ndcg", "recall(average=micro)@2"]
    report = evaluate(labels, scores, metrics=metrics)
    report.save(tmp_path / "report.json")
    values = json.loads((tmp_path / "report.json").read_text())["contents"]["values"]
    assert [numbers[1] is None for numbers in values.values()] == [True, False]
    loaded = RankingReport.load(tmp_path / "report.json")
    assert loaded.mean == report.mean
    assert loaded.intervals() == report.intervals()


@pytest.mark.parametrize("name", ["comparison", "cross_evaluation", "search_report"])
def test_a_comparison_is_saved_in_its_class_with_all_its_fields(name, tmp_path):
    found = Comparison.load(GOLDEN / f"{name}.1.json")
    found.save(tmp_path / "again.json")
    again = type(found).load(tmp_path / "again.json")
    assert type(again) is type(found)
    assert str(again) == str(found)
    again.save(tmp_path / "third.json")
    assert (tmp_path / "third.json").read_bytes() == (tmp_path / "again.json").read_bytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"class": "Sandwich"}, "The class of a saved comparison must be one of"),
        ({"class": None}, "The class of a saved comparison must be one of"),
        ({"colour": "red"}, "does not know these fields of a comparison: colour. Update"),
        (
            {"plan": {"patience": 3, "zeal": 1}},
            "does not know these fields of a plan: patience, zeal.",
        ),
        (
            {"plan": {"test": "t"}},
            "no longer has test='t' in a plan (see CHANGELOG.md). Compare its",
        ),
    ],
)
def test_unknown_fields_of_a_comparison_are_refused(change, message, tmp_path):
    saved = json.loads((GOLDEN / "comparison.1.json").read_text())
    saved["contents"].update(change)
    text = json.dumps(saved["contents"])
    saved["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    (tmp_path / "changed.json").write_text(json.dumps(saved))
    with pytest.raises(ValueError, match=re.escape(message)):
        Comparison.load(tmp_path / "changed.json")


def test_what_reports_share_is_written_once(tmp_path):
    one = report_of(0)
    compare([one, one]).save(tmp_path / "one.json")
    compare([one] * 9).save(tmp_path / "nine.json")
    size = (tmp_path / "one.json").stat().st_size
    assert (tmp_path / "nine.json").stat().st_size < 4.5 * size


def test_what_reports_do_not_share_is_written_for_each(tmp_path):
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1}}
    runs = {
        "short": {"q1": {"a": 2.0}, "q2": {"a": 1.0}},
        "long": {"q1": {"b": 2.0, "x": 3.0, "y": 1.0}, "q2": {"z": 1.0}},
        "as long": {"q1": {"a": 2.0, "x": 3.0, "y": 1.0}, "q2": {"z": 1.0}},
    }
    comparison = evaluate_run(qrels, runs, "mrr")
    comparison.save(tmp_path / "runs.json")
    again = Comparison.load(tmp_path / "runs.json")
    # Judged documents and returned ones: {a, b} and {a}, then twice {a, b, x, y} and {a, z}.
    n_documents = {name: report.n_documents for name, report in again.reports.items()}
    assert n_documents == {"short": 3, "long": 6, "as long": 6}
    for name, report in again.reports.items():
        assert_same(report, comparison.reports[name])


def test_one_long_id_among_many_takes_no_more_memory(tmp_path):
    ids = np.array(["long" * 100_000, *map(str, range(999))], dtype=object)
    report = RankingReport.from_frame({"qid": ids[:9].astype(str), "mrr": np.ones(9)})
    path = tmp_path / "few.json"
    report.save(path)
    saved = json.loads(path.read_text())
    contents = saved["contents"]
    contents["qid"]["$array"][1] = ids.tolist()
    values = contents["values"]["mrr"][0]
    values["$array"][1] = [1.0] * 1000
    body = json.dumps(contents)
    saved["sha256"] = hashlib.sha256(body.encode()).hexdigest()
    path = tmp_path / "many.json"
    path.write_text(json.dumps(saved))
    assert RankingReport.load(path).qid.dtype == object


def test_nested_files_are_refused(tmp_path):
    path = tmp_path / "report.json"
    path.write_text('{"contents": ' + "[" * 100_000 + "]" * 100_000 + "}")
    with pytest.raises(ValueError, match=r"report.json is not a saved report"):
        RankingReport.load(path)


@pytest.mark.slow
@given(st.integers(0, 10**6), st.integers(1, 126))
def test_any_changed_character_is_noticed(tmp_path_factory, place, character):
    path = tmp_path_factory.getbasetemp() / "changed.json"
    evaluate([1, 0, 0, 1], [2, 1, 2, 1], qid=["a", "a", "b", "b"], metrics="mrr").save(path)
    data = bytearray(path.read_bytes())
    place %= len(data)
    before = json.loads(data)
    data[place] = character
    path.write_bytes(data)
    try:
        RankingReport.load(path)
    except ValueError:
        return
    after = json.loads(data)
    assert {**before, "written_by": ""} == {**after, "written_by": ""}, (
        "only blanks, or the version of the writer"
    )


def test_the_frame_of_a_report_gives_the_report():
    report = report_of(
        by=QID % 3, groups=QID // 4, sample_weight=QID % 5 + 1, metrics=["ndcg@10", "map", "dcg"]
    )
    assert_same(RankingReport.from_frame(report.to_frame()), report)
    frame = report.to_frame("polars")
    assert_same(RankingReport.from_frame(frame), report)
    assert_same(RankingReport.from_frame(frame.to_arrow()), report)
    assert_same(RankingReport.from_frame({name: frame[name] for name in frame.columns}), report)


def test_columns_named_like_metrics_have_their_bounds():
    values = {
        "recip_rank": [1.0, 0.5, 0.0],
        "ndcg_cut_10": [0.2, 0.3, np.nan],
        "helpful": [4, 2, np.nan],
    }
    report = RankingReport.from_frame(pd.DataFrame(values, index=["a", "b", "c"]))
    assert list(report.metrics) == list(values)
    assert report.mean == pytest.approx({"recip_rank": 0.5, "ndcg_cut_10": 0.5 / 3, "helpful": 3})
    assert report.n_undefined == {"recip_rank": 0, "ndcg_cut_10": 1, "helpful": 1}
    assert (
        report.metrics["recip_rank"].definition
        == get_metric("mrr", convention="trec_eval").definition
    )
    assert report.intervals()["recip_rank"] == (0, 1)
    assert report.metrics["helpful"].greater_is_better
    low, high = report.intervals()["helpful"]
    assert low < 2 < 4 < high
    assert report.n_documents is None
    assert str(report).startswith("3 queries\n")
    chosen = RankingReport.from_frame(pd.DataFrame(values), metrics={"helpful": "dcg@3"})
    assert chosen.metrics["helpful"].definition == get_metric("dcg@3").definition
    assert list(RankingReport.from_frame(pd.DataFrame(values), metrics="helpful").mean) == [
        "helpful"
    ]
    smaller = RankingReport.from_frame(
        pd.DataFrame({"neg_fall_out@3": [-0.5, 0.0], "fall_out@3": [0.5, 0.0]})
    )
    assert [metric.greater_is_better for metric in smaller.metrics.values()] == [True, False]
    assert smaller.mean == {"neg_fall_out@3": -0.25, "fall_out@3": 0.25}, (
        "the values of the columns"
    )


def test_values_from_anywhere_are_compared():
    one = report_of(0, metrics="map")
    other = report_of(1, metrics="map")
    frame = other.to_frame()[::-1]
    expected = compare([one, other], "map").pairs()[0]
    found = compare([one, RankingReport.from_frame(frame)], "map").pairs()[0]
    assert found.difference == expected.difference
    assert found.wins == expected.wins
    assert found.losses == expected.losses
    seeds = [
        RankingReport.from_frame({"qid": [1, 2, 3], "judge": values})
        for values in ([4, 5, 3], [3, 5, 1])
    ]
    assert compare(seeds, "judge").pairs()[0].difference == 1


@pytest.mark.parametrize(
    ("frame", "error", "message"),
    [
        ({"map": [0.5]}, TypeError, "frame must have a column 'qid'"),
        (pl.DataFrame({"map": [0.5]}), TypeError, "frame must have a column 'qid'"),
        (
            pd.DataFrame({"topic": [7, 8], "map": [0.5, 1]}, index=["a", "b"]),
            ValueError,
            "frame has an index and a column 'topic', and either may hold the query ids",
        ),
        (
            {"userId": [7, 8], "era": [1, 2], "map": [0.5, 1]},
            ValueError,
            "several columns that could be the query: 'userId', 'era'",
        ),
        ({"qid": [7, 8], "QID": [1, 2], "map": [0.5, 1]}, ValueError, "'QID' holds no values of"),
        ({"qid": [1, 2], "Weights": [1, 2], "map": [0.5, 1]}, ValueError, "Column 'Weights' holds"),
        ({"qid": [1, 2], "group_id": [1, 2], "map": [0.5, 1]}, ValueError, "'group_id' holds"),
        ({"qid": [1, 2], "slice": [1, 2], "map": [0.5, 1]}, ValueError, "'slice' holds"),
        ({"qid": [1, 2], "doc-id": [1, 2], "map": [0.5, 1]}, ValueError, "'doc-id' holds"),
        ({"qid": [1, 1], "map": [0.5, 1]}, ValueError, "query ids repeat"),
        ({"qid": [1, 2], "map": [0.5, 0.4, 0.1]}, ValueError, "different lengths"),
        (
            {"qid": pd.Series([1, 2], [3, 4]), "map": pd.Series([0.5, 0.4], [4, 3])},
            ValueError,
            "same index",
        ),
        ({"qid": [1]}, ValueError, "at least one column of values; got none"),
        ({"qid": [], "map": []}, ValueError, "qid must hold at least one value; got none"),
        ({"qid": [1], "text": ["a"]}, TypeError, "text must hold real numbers"),
        ({"qid": [1], "map": [71.0]}, ValueError, "map, 0 to 1. Divide percentages by 100"),
        ({"qid": [1], "judge": [math.inf]}, ValueError, "Column 'judge' holds inf, outside"),
        ({"qid": [1], "map": [0.5], "weight": [0]}, ValueError, "must not be zero everywhere"),
        (pa.table({"qid": [1, None], "map": [0.5, 1]}), ValueError, "missing"),
        (7, TypeError, "frame must be a frame or a dict of columns; got int"),
        (pd.DataFrame([[1, 0.5]], columns=["map"] * 2), ValueError, "must have different names"),
    ],
)
def test_frames_that_do_not_fit(frame, error, message):
    with pytest.raises(error, match=message):
        RankingReport.from_frame(frame)


@pytest.mark.parametrize("name", ["QID", "query-id", "topic_id", "Customer ID", "userId:token"])
def test_queries_are_paired_by_ids_with_any_usual_name(name):
    one = RankingReport.from_frame({name: [3, 1, 2], "map": [0.1, 0.5, 0.9]})
    other = RankingReport.from_frame(pd.DataFrame({name: [1, 2, 3], "map": [0.5, 0.9, 0.1]}))
    assert list(one.metrics) == ["map"]
    assert compare([one, other], "map").pairs()[0].ties == 3


def test_named_columns_may_be_called_like_others():
    report = RankingReport.from_frame({"qid": [1, 2], "group_id": [1, 0]}, metrics="group_id")
    assert report.mean == {"group_id": 1 / 2}


def test_metrics_that_a_frame_lacks_are_named():
    with pytest.raises(ValueError, match=r"metrics must be one of .*'map'.*; got 'mrr'"):
        RankingReport.from_frame({"qid": [1], "map": [0.5]}, metrics=["mrr"])


def test_a_frame_that_changes_later_does_not_change_its_report():
    columns = {
        "qid": np.array([1, 2]),
        "mrr": np.array([0.25, 0.75]),
        "weight": np.array([1.0, 3.0]),
    }
    report = RankingReport.from_frame(columns)
    for column in columns.values():
        column[:] = 1
    assert report.mean == {"mrr": (1 * 0.25 + 3 * 0.75) / (1 + 3)}
    assert report.per_query["mrr"].tolist() == [0.25, 0.75]


@pytest.mark.parametrize(
    ("gone", "message"),
    [
        ({"test": "permutation", "correction": "max"}, None),
        ({"test": "permutation"}, None),
        (
            {"test": "t"},
            r"written by .* this is .* no longer has test='t' .*\(see CHANGELOG\.md\).* scipy\.stats\.ttest_rel",
        ),
        ({"correction": "bh"}, "no longer has correction='bh' .*false_discovery_control"),
        ({"correction": None}, "no longer has correction=None .* the column p_value"),
    ],
)
def test_options_that_went_are_ignored_if_they_changed_nothing(gone, message, tmp_path):
    comparison = compare([report_of(0), report_of(1)])
    comparison.save(tmp_path / "comparison.json")
    saved = json.loads((tmp_path / "comparison.json").read_text())
    saved["contents"]["plan"] |= gone
    text = json.dumps(saved["contents"])
    saved["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    (tmp_path / "older.json").write_text(json.dumps(saved))
    if message is None:
        assert str(Comparison.load(tmp_path / "older.json")) == str(comparison)
        return
    with pytest.raises(ValueError, match=message):
        Comparison.load(tmp_path / "older.json")
