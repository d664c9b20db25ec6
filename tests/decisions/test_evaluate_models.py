"""evaluate of several models against evaluate of each and compare."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.random_rows import random_rows
from support.said import assert_alike, said_by
from support.shown import words

from skrank_metrics import (
    compare,
    evaluate,
    get_metric,
    kendall_tau_distance,
    make_metric,
)
from skrank_metrics.datasets import make_ranking

X, Y, QID = make_ranking(40, random_state=0)
NOISE = np.random.default_rng(0).normal(size=(len(Y), 4))
SCORES = {
    "noise": NOISE[:, 0],
    "first": X[:, 0],
    "second": X[:, 0] + 0.3 * NOISE[:, 1],
    "other": X[:, 1],
}
METRICS = ["ndcg@5", "mrr", "recall(average=micro)@5"]


@pytest.fixture(scope="module")
def board():
    return evaluate(Y, SCORES, qid=QID, metrics=METRICS)


def test_reports_are_those_of_evaluate(board):
    for name, scores in SCORES.items():
        expected = evaluate(Y, scores, qid=QID, metrics=METRICS)
        assert board.reports[name].mean == expected.mean
        assert board.reports[name].intervals() == expected.intervals()
        assert board.reports[name].health.findings == expected.health.findings
    means = [report.mean["ndcg@5"] for report in board.reports.values()]
    assert means == sorted(means, reverse=True)
    distances = evaluate(Y, SCORES, qid=QID, metrics=kendall_tau_distance)
    means = [report.mean["kendall_tau_distance"] for report in distances.reports.values()]
    assert means == sorted(means), "smaller is better"


MEANS = METRICS[:2]  # medians and pooled ratios have no margin


@pytest.mark.parametrize(
    "options",
    [{}, {"baseline": "first", "margin": 0.05}, {"confidence": 0.8}, {"random_state": 3}],
)
def test_options_of_compare(options):
    board = evaluate(Y, SCORES, qid=QID, metrics=MEANS)
    found = compare(board, **options)
    expected = compare(
        {name: evaluate(Y, own, qid=QID, metrics=MEANS) for name, own in SCORES.items()},
        **options,
    )
    assert found.to_frame(pairs=True).equals(expected.to_frame(pairs=True))
    assert str(found) == str(expected)
    unchanged = str(found) == str(board) and found.to_frame(pairs=True).equals(
        board.to_frame(pairs=True)
    )
    assert unchanged == (not options)


RETRIEVED = np.arange(len(Y)) % 5 > 0
OPTIONS = {
    "convention": {"convention": "lightgbm"},
    "sample_weight": {"sample_weight": np.where(QID < 20, 1.0, 3.0)},
    "retrieved": {"retrieved": RETRIEVED},
    "judged": {"judged": ~RETRIEVED},
    "condense": {"condense": True, "judged": RETRIEVED},
}


@pytest.mark.parametrize("option", OPTIONS)
def test_options_of_metrics(option):
    """Options of evaluate do what they do for the metrics on their own."""
    scores = {name: np.round(own, 1) for name, own in SCORES.items()}
    labels = np.where(QID % 7 == 0, 0, Y)
    given = {"qid": QID, **OPTIONS[option]}
    metrics = ["ndcg@5", "mrr"]
    found = evaluate(labels, scores, metrics=metrics, **given).reports
    without = {name: value for name, value in given.items() if name != option}
    plain = evaluate(labels, scores, metrics=metrics, **without).reports
    policies = {name: given[name] for name in ("convention",) if name in given}
    rows = given["judged"] if "condense" in given else np.full(len(Y), True)
    taken = {"qid", "sample_weight", "retrieved"} & set(given)
    columns = {name: given[name][rows] for name in taken}
    if option == "judged":
        columns["judged"] = given["judged"]
    for name, own in scores.items():
        assert evaluate(labels, own, metrics=metrics, **given).mean == found[name].mean
        for metric in metrics:
            mean = get_metric(metric, **policies, average="macro")
            per_query = get_metric(metric, **policies, average=None)
            expected = mean(labels[rows], own[rows], **columns)
            assert found[name].mean[metric] == pytest.approx(expected, abs=1e-12)
            of_queries = per_query(labels[rows], own[rows], **columns)
            np.testing.assert_allclose(found[name].per_query[metric], of_queries, rtol=1e-12)
    assert any(found[name].mean != plain[name].mean for name in scores)


def test_slices_groups_and_documents():
    country = np.where(QID % 3 == 0, "de", "fr")
    user = QID // 4
    options = {"by": country, "groups": user}
    found = evaluate(Y, SCORES, qid=QID, metrics="ndcg@5", **options)
    expected = compare(
        {n: evaluate(Y, s, qid=QID, metrics="ndcg@5", **options) for n, s in SCORES.items()}
    )
    assert list(found.slices) == ["de", "fr"]
    assert str(found) == str(expected)
    assert "queries in 10 groups" in words(found)
    with pytest.raises(
        ValueError, match="over the same queries; got 14 in '0' and 26 in '1', 0 of them in both"
    ):
        compare([found.reports["first"].slices["de"], found.reports["other"].slices["fr"]])
    cheap = make_metric(
        lambda labels, k=None, *, price: price[0], name="cheap", documents=["price"]
    )
    price = np.abs(NOISE[:, 3])
    priced = evaluate(Y, SCORES, qid=QID, metrics=cheap, documents={"price": price})
    for name, scores in SCORES.items():
        expected = evaluate(Y, scores, qid=QID, metrics=cheap, documents={"price": price})
        assert priced.means()[name] == expected.mean["cheap"]


def test_documents_without_a_score_were_not_returned():
    options = {"qid": QID, "metrics": ["ndcg@5", "recall"]}
    returned = {}
    missing = {}
    for seed, (name, scores) in enumerate(SCORES.items()):
        returned[name] = np.random.default_rng(seed).random(len(Y)) < 0.8
        missing[name] = np.where(returned[name], scores, np.nan)
    found = evaluate(Y, missing, **options)
    masked = evaluate(Y, missing, retrieved=RETRIEVED, **options)
    for name, scores in SCORES.items():
        mask = returned[name]
        expected = evaluate(Y, scores, retrieved=mask, **options)
        assert found.reports[name].mean == expected.mean
        expected = evaluate(Y, scores, retrieved=mask & RETRIEVED, **options)
        assert masked.reports[name].mean == expected.mean


def test_documents_without_a_score_are_told():
    first = SCORES["first"]
    returned = np.random.default_rng(0).random(len(Y)) < 0.8
    models = {"all": first, "some": np.where(returned, first, np.nan)}
    some = evaluate(Y, models, qid=QID, metrics="ndcg@5")
    alone = evaluate(Y, first, qid=QID, metrics="ndcg@5")
    assert some.means()["all"] == alone.mean["ndcg@5"]
    n_missing = (~returned).sum()
    said = f"No score (NaN) for {n_missing} documents, counted as not returned."
    assert f"some: {said}" in some.notes()
    assert said in some.reports["some"].health.findings
    assert not any("NaN" in finding for finding in some.reports["all"].health.findings)
    masked = evaluate(Y, models, qid=QID, metrics="ndcg@5", retrieved=returned)
    assert not any("NaN" in note for note in masked.notes()), "these were not returned anyway"


@pytest.mark.parametrize("seed", range(6))
def test_documents_without_a_score_are_like_those_that_were_not_retrieved(seed):
    random = np.random.default_rng([seed, 12])
    rows = random_rows(random)
    n = len(rows["qid"])
    scores = {"a": random.integers(0, 3, n) / 2, "b": random.random(n)}
    for own in scores.values():
        own[random.random(n) < random.choice([0.0, 0.3])] = np.nan
    found = evaluate(**rows | {"y_score": scores}, metrics=["mrr", "recall@2"])
    for name, own in scores.items():
        given = rows | {"y_score": own}
        is_missing = np.isnan(own) & rows.get("retrieved", True)
        given["retrieved"] = ~np.isnan(own) & rows.get("retrieved", True)
        alone = evaluate(**given, metrics=["mrr", "recall@2"])
        n_missing = int(is_missing.sum())
        documents = "1 document" if n_missing == 1 else f"{n_missing} documents"
        told = f"No score (NaN) for {documents}, counted as not returned."
        expected = said_by(alone)
        expected["health"] = sorted([*expected["health"], *[told] * bool(n_missing)])
        report = said_by(found.reports[name])
        report["health"] = sorted(report["health"])
        del report["text"], expected["text"]  # a sentence more
        assert_alike(report, expected)


def test_ids_and_metrics():
    assert evaluate(Y, SCORES, qid=QID).metrics == ("ndcg@10", "map", "mrr")
    rectangle = evaluate(
        [[1, 0], [0, 1]], {"a": [[2, 1], [2, 1]], "b": [[1, 2], [1, 2]]}, metrics="mrr@1,5"
    )
    assert rectangle.metrics == ("mrr@1", "mrr@5")
    assert rectangle.reports["b"].per_query["mrr@5"].tolist() == [1 / 2, 1]


@pytest.mark.parametrize(
    "library", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"]
)
def test_scores_in_a_frame(library, board):
    frame = library(SCORES)
    found = evaluate(Y, frame, qid=QID, metrics=METRICS)
    assert {n: r.mean for n, r in found.reports.items()} == {
        n: r.mean for n, r in board.reports.items()
    }
    assert set(evaluate(Y, pd.DataFrame(NOISE), qid=QID, metrics="mrr").reports) == {
        "0",
        "1",
        "2",
        "3",
    }
    for name, own in SCORES.items():
        assert np.array_equal(np.asarray(frame[name]), own), "inputs stay as they are"


@pytest.mark.parametrize(
    ("scores", "error", "message"),
    [
        (
            {},
            ValueError,
            "y_score must hold the scores of at least one model; got none",
        ),
        (
            {"a": X[:, 0], "b": X[:-1, 0]},
            ValueError,
            r"y_score\['b'\] must have the same shape as y_true; got",
        ),
        (
            {"a": X[:, 0], "b": X},
            ValueError,
            r"y_score\['b'\] must have the same shape.* not one per class",
        ),
        (
            {"a": X[:, 0], "b": QID.astype(str)},
            TypeError,
            r"y_score\['b'\] .* Pass only the columns of scores",
        ),
        (
            {"a": X[:, 0], "b": X[:, 0] * np.nan},
            ValueError,
            r"y_score\['b'\] must hold scores; all are NaN",
        ),
        (
            pd.DataFrame(NOISE[:, :2], columns=["a", "a"]),
            ValueError,
            r"different names; got 'a' more than once\. Rename",
        ),
    ],
)
def test_bad_scores(scores, error, message):
    with pytest.raises(error, match=message):
        evaluate(Y, scores, qid=QID)


def test_findings_of_all_models_come_once():
    labels = np.array([1, 0, 0, 0, 1, 0])
    scores = {"a": [3, 2, 1, 3, 2, 1], "constant": [1] * 6}
    text = words(evaluate(labels, scores, qid=[0, 0, 1, 1, 2, 2], metrics="mrr"))
    assert text.count("1 query (1) has no relevant document") == 1
    assert (
        'constant has the same score for all documents on 3 queries; see .reports["constant"].'
        in text
    )


def test_one_model_in_a_dict_or_a_frame_is_a_comparison_of_one():
    for scores in ({"a": X[:, 0]}, pd.DataFrame({"a": X[:, 0]})):
        found = evaluate(Y, scores, qid=QID, metrics="mrr")
        assert found.names == ("a",)
        assert found.means()["a"] == evaluate(Y, X[:, 0], qid=QID, metrics="mrr").mean["mrr"]
        assert "a  " in str(found)


def test_rows_of_a_frame_are_queries_if_labels_are_2d():
    labels = [[1, 0], [0, 1]]
    scores = [[2, 1], [2, 1]]
    of_frame = evaluate(labels, pd.DataFrame(scores), metrics="mrr")
    assert of_frame.per_query["mrr"].tolist() == [1, 1 / 2]


def test_a_list_of_scores_is_told_to_be_a_dict():
    with pytest.raises(ValueError, match="of several models, pass a dict to evaluate"):
        evaluate([1, 0], [[2.0, 1.0], [1.0, 2.0]], qid=["a", "a"])
