"""The leaderboard against evaluate and compare, model by model, and its text by hand."""

import re
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.ranks import N_DOCUMENTS, report_of_ranks, rows_of_ranks
from support.shown import assert_shown, check_frame, html_of, words

from skrank_metrics import Leaderboard, compare, evaluate, kendall_tau_distance, leaderboard, mrr_score
from skrank_metrics.datasets import make_ranking

X, Y, QID = make_ranking(40, random_state=0)
NOISE = np.random.default_rng(0).normal(size=(len(Y), 4))
SCORES = {"noise": NOISE[:, 0], "first": X[:, 0], "second": X[:, 0] + 0.3 * NOISE[:, 1], "other": X[:, 1]}
# Reciprocal ranks 1; 1 and 1/2; 1/3: of seven queries, all signs of the differences are tried.
RANKS = {"worst": [3] * 7, "best": [1] * 7, "middle": [1, 2, 1, 2, 1, 2, 2]}
LABELS, _, IDS = rows_of_ranks([1] * 7)


def by_ranks(ranks=RANKS, **options):
    scores = {name: rows_of_ranks(own)[1] for name, own in ranks.items()}
    return leaderboard(LABELS, scores, **{"qid": IDS, "metrics": "mrr", **options})


@pytest.fixture(scope="module")
def board():
    return leaderboard(Y, SCORES, qid=QID, metrics=["ndcg@5", "mrr", "recall(average=micro)@5"], random_state=0)


def test_reports_are_those_of_evaluate(board):
    assert isinstance(board, Leaderboard)
    assert set(board.reports) == set(SCORES)
    for name, scores in SCORES.items():
        expected = evaluate(Y, scores, qid=QID, metrics=["ndcg@5", "mrr", "recall(average=micro)@5"])
        assert board.reports[name].mean == expected.mean
        assert board.reports[name].intervals() == expected.intervals()
        assert board.reports[name].health.findings == expected.health.findings
        assert board.reports[name].qid.tolist() == expected.qid.tolist()


def test_models_are_sorted_by_the_first_metric(board):
    means = [report.mean["ndcg@5"] for report in board.reports.values()]
    assert means == sorted(means, reverse=True)
    assert board.best == next(iter(board.reports))
    distances = leaderboard(Y, SCORES, qid=QID, metrics=kendall_tau_distance)
    means = [report.mean["kendall_tau_distance"] for report in distances.reports.values()]
    assert means == sorted(means), "smaller is better"


@pytest.mark.option("Leaderboard.compare.metric")
def test_comparisons_are_those_of_compare(board):
    reports = {name: evaluate(Y, SCORES[name], qid=QID, metrics=["ndcg@5", "mrr"]) for name in board.reports}
    for metric in ("ndcg@5", "mrr"):
        expected, found = compare(reports, metric, random_state=0), board.compare(metric)
        assert found.metric == metric
        assert [pair.p_adjusted for pair in found.pairs] == [pair.p_adjusted for pair in expected.pairs]
        assert [pair.interval for pair in found.pairs] == [pair.interval for pair in expected.pairs]
    assert board.compare() is board.compare("ndcg@5"), "compared once"
    assert board.compare(mrr_score).metric == "mrr"
    (chart,) = board._charts()
    p_values = [board.compare().pair(mark.name, board.best).p_adjusted for mark in chart.marks]
    assert [mark.warns for mark in chart.marks] == [p <= 0.05 for p in p_values]
    assert len({p <= 0.05 for p in p_values}) == 2
    with pytest.raises(ValueError, match="metric must be a mean over queries; got 'recall"):
        board.compare("recall(average=micro)@5")
    with pytest.raises(ValueError, match="metric must be one of"):
        board.compare("map")


def test_text_and_frame_by_hand():
    board = by_ranks(correction=None)
    # Worst and best differ in all seven queries: 2 of 2^7 signs. Best and middle differ in four: 2 of 2^4. Worst and
    # middle differ by 2/3 three times and by 1/6 four times, always in the same direction.
    p = {"middle": 2 / 2**4, "worst": 2 / 2**7}
    means = {"best": 1, "middle": float(Fraction(3, 7) + Fraction(4, 14)), "worst": 1 / 3}
    intervals = {name: board.reports[name].intervals()["mrr"] for name in means}
    pairs = {name: board.compare().pair(name, "best") for name in p}
    assert {name: pair.p_value for name, pair in pairs.items()} == p
    letters = {"best": "a", "middle": "a", "worst": "b"}
    ends = {name: "[{:.4f}, {:.4f}]".format(*interval) for name, interval in intervals.items()}
    rows = [[name, f"{'*' * (name == 'best')}{means[name]:.4f}", letters[name], ends[name]] for name in means]
    leads = [
        ["middle", f"{means['middle'] - 1:+.4f}", "[{:+.4f}, {:+.4f}]".format(*pairs["middle"].interval)],
        ["worst", f"{1 / 3 - 1:+.4f}", "[{:+.4f}, {:+.4f}]".format(*pairs["worst"].interval)],
    ]
    counts = {"middle": ["0", "4"], "worst": ["0", "7"]}
    leads = [[*row, *counts[row[0]], f"{p[row[0]]:.4f}"] for row in leads]
    lines = [
        "Ship best or middle: by mrr, best is ahead, but not significantly; worst is significantly worse.",
        f"3 models, 7 queries, {7 * N_DOCUMENTS} documents",
        "*: best. Letters: models that share one are not significantly different at 0.05: paired sign-flip permutation "
        "test, not adjusted per metric.",
        "Intervals: Student's t over queries, not adjusted.",
    ]
    tables, found = html_of(board)
    heads = [["", "mrr", "", "95% interval"], ["", "minus best", "95% interval", "wins", "losses", "p"]]
    assert tables == [[heads[0], *rows], [heads[1], *leads]]
    assert found[:4] == lines
    assert found[4].startswith("Queries needed to detect the observed difference with a power of 0.8: ")
    assert_shown(board, tables, found)
    columns = {"model": list(means), "mrr": list(means.values())}
    columns |= {"mrr low": [low for low, _ in intervals.values()], "mrr high": [high for _, high in intervals.values()]}
    columns |= {"mrr letters": list(letters.values()), "mrr minus best": [None, means["middle"] - 1, 1 / 3 - 1]}
    for library in ("pandas", "polars"):
        frame = board.to_frame(library)
        assert frame["mrr minus best"].to_list()[1:] == pytest.approx(columns["mrr minus best"][1:])
        check_frame(
            frame, columns | {"mrr minus best": frame["mrr minus best"].to_list(), "mrr p": [None, *p.values()]}
        )


def test_the_frame_has_adjusted_p_values():
    # Three pairs: worst and best, and worst and middle, differ in seven queries in one direction, best and middle in
    # four. Holm multiplies the smallest by 3, the next by 2, and none becomes smaller than one before.
    frame = by_ranks().to_frame()
    assert frame.loc["worst", "mrr p"] == pytest.approx(3 * 2 / 2**7)
    assert frame.loc["middle", "mrr p"] == pytest.approx(2 / 2**4)


def test_each_metric_of_the_frame_has_a_best_of_its_own():
    # "first" has the relevant document on top more often, "second" has it among the first three always.
    ranks = {"first": [1, 1, 1, 1, 4, 4, 4], "second": [2, 2, 2, 2, 2, 2, 1]}
    frame = by_ranks(ranks, metrics=["hit_rate@1", "hit_rate@3"]).to_frame()
    assert frame.loc["second", "hit_rate@1 minus best"] == pytest.approx(1 / 7 - 4 / 7)
    assert frame.loc["first", "hit_rate@3 minus best"] == pytest.approx(4 / 7 - 1)
    assert np.isnan(frame.loc["first", "hit_rate@1 minus best"])
    assert np.isnan(frame.loc["second", "hit_rate@3 minus best"])


def test_each_metric_has_a_star_of_its_own():
    ranks = {"first": [1, 1, 1, 1, 4, 4, 4], "second": [2, 2, 2, 2, 2, 2, 1]}
    shown = html_of(by_ranks(ranks, metrics=["hit_rate@1", "hit_rate@3"]))[0][0]
    assert [[cell for cell in row if "." in cell and "[" not in cell] for row in shown[1:]] == [
        [f"*{4 / 7:.4f}", f"{4 / 7:.4f}"],
        [f"{1 / 7:.4f}", f"*{1:.4f}"],
    ]


def test_of_a_distance_the_smallest_is_shipped():
    labels, ids = np.tile([2, 1, 0], 12), np.repeat(np.arange(12), 3)
    scores = {"reversed": -labels, "right": labels}
    board = leaderboard(labels, scores, qid=ids, metrics=kendall_tau_distance)
    assert (board.best, list(board.contenders)) == ("right", ["right"])
    assert board.verdict == "Ship right: by kendall_tau_distance, it is significantly better than reversed."


@pytest.mark.option("Leaderboard.to_frame.library")
def test_frame_and_page(board, tmp_path):
    assert list(board.to_frame().index) == list(board.reports)
    assert isinstance(board.to_frame(library="polars"), pl.DataFrame)
    board.to_html(tmp_path / "board.html")
    page = (tmp_path / "board.html").read_text()
    assert board.verdict in page
    assert "<figcaption>ndcg@5 minus that of " in page


def test_hostile_names_are_shown_as_text(tmp_path):
    board = by_ranks({"<script>alert(1)</script>": [1] * 7, "b": [2] * 7})
    board.to_html(tmp_path / "board.html")
    for html in (board._repr_html_(), (tmp_path / "board.html").read_text()):
        assert "<script>" not in html
        assert "&lt;script&gt;alert(1)" in html


def test_verdict_first_and_what_speaks_against_it():
    # By mrr the first is better in all eight queries; by recall@1 of one query in two, both have the same.
    assert by_ranks({"a": [1] * 7, "b": [2] * 7}).verdict == "Ship a: by mrr, it is significantly better than b."
    assert str(by_ranks({"a": [1] * 7, "b": [2] * 7})).startswith("Ship a: ")
    # "a" has rank 1 once and 5 else; "b" always rank 2: better by mrr at depth 2 and worse at depth 5.
    ranks = {"a": [1] * 4 + [5] * 10, "b": [2] * 14}
    labels, _, ids = rows_of_ranks([1] * 14)
    scores = {name: rows_of_ranks(own)[1] for name, own in ranks.items()}
    board = leaderboard(labels, scores, qid=ids, metrics=["hit_rate@1", "hit_rate@2"], test="t")
    assert board.best == "a"
    assert "But by hit_rate@2, b is significantly better than a." in words(board)


def test_few_queries_are_said_to_show_nothing():
    text = words(by_ranks({"a": [1] * 7, "b": [2] * 7, "c": [3] * 7}))
    assert "No difference could be significant: p is at least 0.0469" not in text, "3 times 2/2^7"
    labels, _, ids = rows_of_ranks([1] * 4)
    scores = {name: rows_of_ranks([rank] * 4)[1] for rank, name in enumerate("abc", start=1)}
    board = leaderboard(labels, scores, qid=ids, metrics="mrr")
    assert board.verdict == "Ship a, b or c: by mrr, a is ahead, but not significantly."
    assert "No difference could be significant: p is at least 0.3750 for 3 pairs." in words(board)


def test_metrics_that_cannot_be_compared_have_no_letters(board):
    assert set(board.to_frame()["recall(average=micro)@5 letters"]) == {""}
    pooled = leaderboard(Y, SCORES, qid=QID, metrics="recall(average=micro)@5")
    assert pooled.verdict == (
        f"{pooled.best} is ahead by recall(average=micro)@5, which is not a mean over queries and cannot be tested."
    )
    assert "Letters" not in str(pooled)
    assert pooled._charts() == []


@pytest.mark.parametrize("average", ["median", "geometric", "micro"])
def test_a_metric_that_cannot_be_compared_is_shown_beside_one_that_can(average):
    name = f"recall(average={average})"
    shown = leaderboard(Y, SCORES, qid=QID, metrics=["recall", name]).to_frame()
    assert set(shown[f"{name} letters"]) == {""}
    assert "" not in set(shown["recall letters"])
    for model, value in shown[name].items():
        assert value == evaluate(Y, SCORES[model], qid=QID, metrics=name).mean[name]


@pytest.mark.option("leaderboard.by")
def test_slices():
    country = np.where(QID % 3 == 0, "de", "fr")
    board = leaderboard(Y, SCORES, qid=QID, metrics="ndcg@5", by=country, random_state=0)
    for name, report in board.reports.items():
        expected = evaluate(Y, SCORES[name], qid=QID, metrics="ndcg@5", by=country)
        assert {value: part.mean for value, part in report.slices.items()} == {
            value: part.mean for value, part in expected.slices.items()
        }
    found = board.compare().slices
    assert list(found) == ["de", "fr"]
    assert {part.n_tests for part in found.values()} == {2 * 6}
    *_, table = html_of(board)[0]
    assert table[0] == ["slice", "queries", *(cell for name in board.reports for cell in (name, ""))]
    for row, value in zip(table[1:], ("de", "fr"), strict=True):
        means = {name: report.slices[value].mean["ndcg@5"] for name, report in board.reports.items()}
        n_queries = (np.unique(QID) % 3 == 0).sum() if value == "de" else (np.unique(QID) % 3 != 0).sum()
        assert row[:2] == [value, str(n_queries)]
        best = max(means.values())
        assert row[2::2] == [f"{'*' * (mean == best)}{mean:.4f}" for mean in means.values()]
        assert row[3::2] == [found[value].letters[name] for name in means]
    assert "Slices: adjusted for 12 tests, all pairs in all slices." in words(board)


def test_a_slice_in_which_another_model_is_significantly_better():
    first, second = [1] * 10 + [2] * 8 + [1, 2], [3] * 10 + [1] * 8 + [1, 1]
    y_true, one, qid = rows_of_ranks(first)
    scores = {"first": one, "second": rows_of_ranks(second)[1]}
    by = np.repeat(["first", "other", "same"], np.multiply([10, 8, 2], N_DOCUMENTS))
    board = leaderboard(y_true, scores, qid=qid, metrics="mrr", by=by)
    *_, table = html_of(board)[0]
    assert board.best == "first"
    assert table[1:] == [
        ["first", "10", "*1.0000", "a", "0.3333", "b"],
        # 2 of 2^8 signs, for one pair in each of three slices.
        ["other", "8", "0.5000", "b", "*1.0000", "a"],
        ["same", "2", "0.7500", "a", "*1.0000", "a"],
    ]
    for name in ("third", "fourth", "fifth"):
        scores[name] = rows_of_ranks([6] * 20)[1]
    *_, table = html_of(leaderboard(y_true, scores, qid=qid, metrics="mrr", by=by, correction=None))[0]
    assert table[1:] == [
        ["first", "10", "1.0000", "first", "1.0000", ""],
        ["other", "8", "0.5000", "second", "1.0000", "yes"],
        ["same", "2", "0.7500", "second", "1.0000", "no"],
    ]


@pytest.mark.slow
def test_many_slices_and_those_of_two_columns():
    text = words(leaderboard(Y, SCORES, qid=QID, metrics="mrr", by=QID // 1, test="t"))
    assert "Slices: the largest 20 of 40; to_frame(slices=True) has all. Adjusted for 240 tests, all pairs in" in text
    assert " 20 others 20 " in text
    more = SCORES | {"fifth": NOISE[:, 3]}
    board = leaderboard(Y, more, qid=QID, metrics="mrr", by=QID % 2, random_state=0)
    *_, table = html_of(board)[0]
    assert table[0] == ["slice", "queries", "mrr of the overall best", "best", "mrr", "significantly different"]
    for row, value in zip(table[1:], (0, 1), strict=True):
        means = {name: report.slices[value].mean["mrr"] for name, report in board.reports.items()}
        best = max(means, key=means.get)
        assert row[:5] == [str(value), "20", f"{means[board.best]:.4f}", best, f"{means[best]:.4f}"]
    country = np.where(QID % 2 == 0, "de", "fr")
    board = leaderboard(Y, SCORES, qid=QID, metrics="mrr", by=pd.DataFrame({"c": country, "long": QID % 4 > 1}))
    assert list(board.compare().slices) == [("de", False), ("de", True), ("fr", False), ("fr", True)]
    assert "de, True" in words(board)


@pytest.mark.option("Leaderboard.to_frame.slices")
def test_frame_of_slices():
    board = leaderboard(Y, SCORES, qid=QID, metrics=["ndcg@5", "mrr"], by=QID % 2, random_state=0)
    frame = board.to_frame(slices=True)
    assert frame.index.tolist() == ["0"] * 4 + ["1"] * 4
    assert frame["model"].tolist() == [*board.reports] * 2
    assert frame["n_queries"].tolist() == [20] * 8
    for metric in board.metrics:
        for value in (0, 1):
            rows, found = frame.loc[str(value)].set_index("model"), board.compare(metric).slices[value]
            assert np.isnan(rows.loc[board.best, f"{metric} p"])
            for name in list(board.reports)[1:]:
                pair = found.pair(name, board.best)
                values = board.reports[name].slices[value].mean[metric], pair.difference, pair.p_adjusted
                assert tuple(rows.loc[name, [metric, f"{metric} minus best", f"{metric} p"]]) == values
    assert board.to_frame("polars", slices=True)["slice"].to_list() == ["0"] * 4 + ["1"] * 4
    with pytest.raises(ValueError, match="slices must be False for a leaderboard without slices; got True"):
        by_ranks().to_frame(slices=True)


def test_the_best_of_a_comparison_is_that_of_the_board():
    # Queries of rank 0 have no relevant document. "a" has the better mean, over all of its queries.
    reports = {"b": report_of_ranks([2, 2, 2, 2]), "a": report_of_ranks([1, 2, 3, 1])}
    board = Leaderboard.from_reports(reports)
    assert list(board.reports) == list(board.compare().ranking) == ["a", "b"]
    reports["b"].per_query["mrr"][[0, 3]] = np.nan  # as of a metric that is undefined for one of the rankings alone
    board = Leaderboard.from_reports(reports)
    assert board.compare().pair("a", "b").difference == pytest.approx((0 + 1 / 3 - 1 / 2) / 2)
    assert list(board.reports) == list(board.compare().ranking) == ["a", "b"]
    assert board.compare().letters == {"a": "a", "b": "a"}


def test_findings_of_all_models_come_once():
    labels = np.array([1, 0, 0, 0, 1, 0])
    scores = {"a": [3, 2, 1, 3, 2, 1], "constant": [1] * 6}
    text = words(leaderboard(labels, scores, qid=[0, 0, 1, 1, 2, 2], metrics="mrr"))
    assert text.count("No relevant document: 1 query") == 1
    assert "Found in some models, see reports[...].health: Ties: constant; Constant scores: constant" in text


RETRIEVED = np.arange(len(Y)) % 5 > 0
OPTIONS = {
    "convention": {"convention": "lightgbm"},
    "ties": {"ties": "worst"},
    "replace_undefined_by": {"replace_undefined_by": np.nan},
    "sample_weight": {"sample_weight": np.where(QID < 20, 1.0, 3.0)},
    "retrieved": {"retrieved": RETRIEVED},
    "judged": {"judged": ~RETRIEVED},
    "condense": {"condense": True, "judged": RETRIEVED},
}


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.option("leaderboard.convention", "leaderboard.ties", "leaderboard.replace_undefined_by")
@pytest.mark.option("leaderboard.sample_weight", "leaderboard.retrieved", "leaderboard.judged", "leaderboard.condense")
def test_options_of_evaluate(option):
    scores = {name: np.round(own, 1) for name, own in SCORES.items()}
    labels, given = np.where(QID % 7 == 0, 0, Y), {"qid": QID, "metrics": ["ndcg@5", "mrr"], **OPTIONS[option]}
    means, plain = (
        {name: report.mean for name, report in leaderboard(labels, scores, **options).reports.items()}
        for options in (given, {name: value for name, value in given.items() if name != option})
    )
    assert means == {name: evaluate(labels, own, **given).mean for name, own in scores.items()}
    assert means != plain


def test_scores_of_documents_that_were_not_retrieved_can_be_missing():
    given = {"qid": QID, "metrics": "ndcg@5", "retrieved": RETRIEVED}
    missing = {name: np.where(RETRIEVED, own, np.nan) for name, own in SCORES.items()}
    assert leaderboard(Y, missing, **given).reports["other"].mean == evaluate(Y, X[:, 1], **given).mean


@pytest.mark.option("leaderboard.test", "leaderboard.correction", "leaderboard.confidence", "leaderboard.n_resamples")
@pytest.mark.option("leaderboard.random_state")
def test_options_of_compare():
    for options in (
        {"test": "wilcoxon", "correction": "bh", "confidence": 0.8},
        {"test": "permutation", "correction": None, "n_resamples": 99, "random_state": 3},
    ):
        board = leaderboard(Y, SCORES, qid=QID, metrics="ndcg@5", **options)
        expected = compare(board.reports, "ndcg@5", **options)
        assert board.compare().to_frame().equals(expected.to_frame())
        interval = board.reports["first"].intervals(options.get("confidence", 0.95))["ndcg@5"]
        assert tuple(board.to_frame().loc["first", ["ndcg@5 low", "ndcg@5 high"]]) == interval


@pytest.mark.option("leaderboard.qid", "leaderboard.metrics")
def test_ids_and_metrics():
    board = leaderboard(Y.reshape(-1), SCORES, qid=QID)
    assert board.metrics == ("ndcg@10", "map", "mrr")
    rectangle = leaderboard([[1, 0], [0, 1]], {"a": [[2, 1], [2, 1]], "b": [[1, 2], [1, 2]]}, metrics="mrr@1,5")
    assert rectangle.metrics == ("mrr@1", "mrr@5")
    assert rectangle.reports["b"].per_query["mrr@5"].tolist() == [1 / 2, 1]
    shuffled = np.random.default_rng(1).permutation(len(Y))
    again = leaderboard(Y[shuffled], {name: own[shuffled] for name, own in SCORES.items()}, qid=QID[shuffled])
    assert list(again.reports) == list(board.reports)
    for name, report in board.reports.items():
        assert again.reports[name].mean == pytest.approx(report.mean)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_scores_in_a_frame(library, board):
    found = leaderboard(Y, library(SCORES), qid=QID, metrics=["ndcg@5", "mrr", "recall(average=micro)@5"])
    assert {name: report.mean for name, report in found.reports.items()} == {
        name: report.mean for name, report in board.reports.items()
    }
    numbered = leaderboard(Y, pd.DataFrame(NOISE), qid=QID, metrics="mrr")
    assert set(numbered.reports) == {"0", "1", "2", "3"}


def test_inputs_stay_as_they_are():
    frame = pd.DataFrame(SCORES)
    before = frame.copy()
    leaderboard(Y, frame, qid=QID, metrics="mrr", retrieved=np.arange(len(Y)) % 2 == 0)
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize(
    ("scores", "error", "message"),
    [
        ({}, ValueError, r"scores must hold at least two models; got none\. Pass one model to evaluate"),
        ({"a": X[:, 0]}, ValueError, "scores must hold at least two models; got only 'a'"),
        (pd.DataFrame({"a": X[:, 0]}), ValueError, "got only 'a'"),
        (X[:, 0], TypeError, "scores must be a dict of scores by model name, .*; got ndarray"),
        (pd.Series(X[:, 0]), TypeError, "got Series"),
        ({"a": X[:, 0], "b": X[:-1, 0]}, ValueError, r"scores\['b'\] must have the same shape as y_true; got"),
        ({"a": X[:-1, 0], "b": X[:, 0]}, ValueError, r"scores\['a'\] must have the same shape as y_true; got"),
        ({"a": X[:, 0], "b": X}, ValueError, r"scores\['b'\] must have the same shape.* not one per class"),
        (
            {"a": X[:, 0], "b": QID.astype(str)},
            TypeError,
            r"scores\['b'\] must hold real numbers.* Pass only the columns of scores",
        ),
        ({"a": X[:, 0], "b": X[:, 0] * np.nan}, ValueError, r"scores\['b'\] contains NaN, first at row 0"),
        ({1: X[:, 0], "1": X[:, 0]}, ValueError, r"different names; got '1' more than once\. Rename the columns"),
        (pd.DataFrame(NOISE[:, :2], columns=["a", "a"]), ValueError, "different names; got 'a' more than once"),
    ],
)
def test_bad_scores(scores, error, message):
    with pytest.raises(error, match=message):
        leaderboard(Y, scores, qid=QID)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"qid": None}, TypeError, "needs the query id of each document"),
        ({"metrics": "ndgc"}, ValueError, "Did you mean 'ndcg'"),
        ({"test": "z"}, ValueError, "test must be one of"),
        ({"test": "t", "random_state": 0}, ValueError, "random_state must be left out unless test='permutation'"),
        ({"test": "t", "sample_weight": np.ones(len(Y))}, ValueError, "test must be 'permutation' for weighted"),
        ({"confidence": 95}, ValueError, "confidence must be a number"),
        ({"by": "country"}, ValueError, "by must be an array with one value per document"),
        ({"by": np.arange(len(Y))}, ValueError, "by must be constant within a query"),
        ({"condense": True}, ValueError, "condense=True requires judged"),
    ],
)
def test_bad_options(options, error, message):
    with pytest.raises(error, match=message):
        leaderboard(Y, SCORES, **{"qid": QID, **options})


def test_a_column_that_was_shuffled_without_the_others():
    y, frame = pd.Series(Y, index=np.arange(len(Y)) + 5), pd.DataFrame(SCORES, index=np.arange(len(Y)) + 5)
    shuffled = {"a": frame["first"], "b": frame["second"][::-1]}
    with pytest.raises(ValueError, match=r"scores\['b'\] must have the same index as y_true"):
        leaderboard(y, shuffled, qid=QID)


def test_names_of_reports_become_text(board):
    one, two = list(board.reports.values())[:2]
    numbered = Leaderboard.from_reports({1: one, 2: two})
    assert list(numbered.reports) == ["1", "2"]
    assert "Ship " in str(numbered)
    assert compare({1: one, 2: two}, "mrr").pair("1", "2").first == "1"
    assert compare({1: one, 2: two}, "mrr").pair(2, 1).first == "2"
    with pytest.raises(ValueError, match="reports must have different names; got '1' more than once"):
        compare({1: one, "1": two}, "mrr")


def test_reports_of_other_sources_have_a_board():
    reports = {name: report_of_ranks(ranks) for name, ranks in RANKS.items()}
    assert words(Leaderboard.from_reports(reports, correction=None)) == words(by_ranks(correction=None))


@pytest.mark.option("Leaderboard.from_reports.test", "Leaderboard.from_reports.correction")
@pytest.mark.option("Leaderboard.from_reports.confidence", "Leaderboard.from_reports.n_resamples")
@pytest.mark.option("Leaderboard.from_reports.random_state")
def test_options_of_boards_of_reports():
    rng = np.random.default_rng(0)
    reports = {name: report_of_ranks(rng.integers(1, 6, 30)) for name in "abc"}
    for options in (
        {"test": "wilcoxon", "correction": "bh", "confidence": 0.8},
        {"test": "permutation", "correction": None, "n_resamples": 99, "random_state": 3},
    ):
        board = Leaderboard.from_reports(reports, **options)
        assert board.compare().to_frame().equals(compare(board.reports, "mrr", **options).to_frame())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metrics": "ndcg"}, r"reports must have the same metrics; got \['mrr'\] and \['ndcg'\]"),
        (
            {"by": np.repeat(range(3), N_DOCUMENTS)},
            "reports must have the same slices; 'other' has slices and 'one' has none",
        ),
        ({"ids": list("xyz")}, "reports must have a query in common; got none|must be over the same queries"),
        ({"weights": [1, 2, 3]}, "reports must have the same weights"),
    ],
)
def test_reports_that_do_not_belong_together(change, message):
    with pytest.raises(ValueError, match=message):
        Leaderboard.from_reports({"one": report_of_ranks([1, 2, 3]), "other": report_of_ranks([1, 2, 3], **change)})


def test_reports_whose_slices_hold_other_queries():
    slices = np.repeat(["de", "fr", "fr"], N_DOCUMENTS)
    one, other = report_of_ranks([1, 2, 3], by=slices), report_of_ranks([1, 2, 3], by=slices[::-1])
    message = r"query 0 is in 'de' in 'one' and in 'fr' in 'other'\. Evaluate with the same by"
    with pytest.raises(ValueError, match=message):
        Leaderboard.from_reports({"one": one, "other": other})
    # The same slices of the same queries, in another order.
    other = report_of_ranks([1, 2, 3], ids=[2, 1, 0], by=slices[::-1])
    board = Leaderboard.from_reports({"one": one, "other": other})
    assert [part.pairs[0].n_queries for part in board.compare().slices.values()] == [1, 2]


@pytest.mark.parametrize("metrics", ["mrr", ["hit_rate@1", "mrr"]])
def test_boards_without_a_query_that_has_a_value(metrics):
    none = {"metrics": metrics, "replace_undefined_by": np.nan}
    by_name = {name: [3, 2, 1] * 2 for name in "ab"}
    first = metrics if isinstance(metrics, str) else metrics[0]
    message = f"must have a query .* for which all models have a value of '{first}'; got none among 2 queries"
    with pytest.raises(ValueError, match=f"y_true {message}"):
        leaderboard([0] * 6, by_name, qid=[0, 0, 0, 1, 1, 1], **none)
    reports = {name: evaluate([0] * 6, own, qid=[0, 0, 0, 1, 1, 1], **none) for name, own in by_name.items()}
    with pytest.raises(ValueError, match=f"reports {message}"):
        Leaderboard.from_reports(reports)


def test_a_board_made_by_hand_ranks_too():
    reports = {name: report_of_ranks(ranks) for name, ranks in RANKS.items()}
    assert list(Leaderboard(reports).reports) == ["best", "middle", "worst"]
    assert list(reports) == list(RANKS), "the dict that was passed stays as it is"


def test_equal_models_are_said_to_be_equal_and_all_starred():
    labels, _, ids = rows_of_ranks([1] * 8)
    ranks = {"a": [1, 2] * 4, "b": [1, 2] * 4, "c": [5] * 8}
    scores = {name: rows_of_ranks(own)[1] for name, own in ranks.items()}
    board = leaderboard(labels, {name: scores[name] for name in "ab"}, qid=ids, metrics="mrr")
    assert board.verdict == "Ship a or b: by mrr, they are equal on every query."
    assert [row[1] for row in html_of(board)[0][0][1:]] == ["*0.7500", "*0.7500"]
    assert str(board.to_frame()["mrr minus best"]["b"]) == "0.0"
    three = leaderboard(labels, scores, qid=ids, metrics="mrr")
    assert three.verdict == "Ship a or b: by mrr, they are equal on every query; c is significantly worse."
    # The means are equal, and the queries are not.
    swapped = rows_of_ranks([2, 1] * 4)[1]
    level = leaderboard(labels, {"a": scores["a"], "b": swapped}, qid=ids, metrics="mrr")
    assert level.verdict == "Ship a or b: by mrr, their means are equal."
    assert [row[1] for row in html_of(level)[0][0][1:]] == ["*0.7500", "*0.7500"]


@pytest.mark.slow
def test_many_models_fit_into_80_columns():
    noise = np.random.default_rng(0).normal(size=(36, len(Y)))
    scores = {f"candidate {i:02d}, depth={i}": X[:, 0] + 0.1 * i * noise[i] for i in range(36)}
    board = leaderboard(Y, scores, qid=QID, metrics=["ndcg@5", "mrr", "map", "recall@5"], random_state=0)
    lines = str(board).splitlines()
    assert max(map(len, lines)) <= 80
    names = [line for line in lines if re.match(r"candidate \d\d, depth=\d+ +[-*\d]", line)]
    assert len(names) == 36 + 36 + 35, "one line per model in each of two tables of metrics and in that of leads"
    text = str(board.compare())
    assert max(map(len, text.splitlines())) <= 80
    assert len(text.splitlines()) < 60
    assert "The matrix of pairs is left out for more than 20 rankings: see significant()." in words(board.compare())
