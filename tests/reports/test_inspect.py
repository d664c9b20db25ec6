"""Single queries, rank by rank."""

import numpy as np
import pandas as pd
import pytest
from support.policies import with_policies
from support.shown import words

from skrank_metrics import compare, evaluate, evaluate_run, make_metric
from skrank_metrics.datasets import make_ranking

LABELS = [0, 1, 0, 2, 1, 0]
SCORES = [3.0, 2.0, 2.0, 1.0, 0.0, 5.0]
QID = ["a", "a", "a", "a", "b", "b"]


def report_of(metrics="dcg", **given):
    return evaluate(LABELS, SCORES, qid=QID, **with_policies(metrics, **given))


def only(inspection):
    ((ranking,),) = inspection.queries
    return ranking


def shown(metrics="dcg", *, n_ranks=None, **given):
    """Query "a", inspected."""
    return only(report_of(metrics, **given).inspect("a", n_ranks=n_ranks))


def test_ranks_labels_scores_ties_and_rows():
    found = shown()
    assert found.qid == "a"
    assert found.ranking == ""
    assert found.n_ranked == 4
    assert found.n_relevant == 2
    columns = found.columns
    assert columns["row"].tolist() == [0, 1, 2, 3]
    assert columns["label"].tolist() == [0, 1, 0, 2]
    assert columns["score"].tolist() == [3, 2, 2, 1]
    assert columns["tied"].tolist() == [False, True, True, False]
    assert shown(n_ranks=2).columns["tied"].tolist() == [False, True], "with one that is not shown"


def test_what_ranks_add_by_hand():
    found = shown()
    log3 = np.log2(3)
    log5 = np.log2(5)
    # The tied documents share the gain of one.
    added = [0, 1 / 2 / log3, 1 / 2 / 2, 2 / log5]
    assert found.columns["added"] == pytest.approx(added)
    assert found.value == pytest.approx(sum(added))


@pytest.mark.parametrize(
    ("options", "n"), [("", 2), ("(relevance_threshold=1)", 2), ("(relevance_threshold=1.5)", 1)]
)
def test_documents_that_the_metric_counts_as_relevant(options, n):
    assert shown(f"recall{options}").n_relevant == n


@pytest.mark.parametrize(
    ("ties", "rows"),
    [
        ("average", [0, 1, 2, 3]),
        ("stable", [0, 1, 2, 3]),
        ("best", [0, 1, 2, 3]),
        ("worst", [0, 2, 1, 3]),
    ],
)
def test_order_of_ties_is_that_of_the_metric(ties, rows):
    inspection = report_of(ties=ties).inspect("a")
    assert "=: tied; ?: not judged." in words(inspection)
    columns = only(inspection).columns
    assert columns["row"].tolist() == rows
    if ties != "average":
        assert columns["added"] == pytest.approx(columns["label"] / np.log2([2, 3, 4, 5]))


def test_metric_is_the_first_or_the_one_named():
    report = report_of(["mrr", "dcg"])
    assert report.inspect("a").metric == "mrr"
    assert report.inspect("a", metric="dcg").metric == "dcg"
    with pytest.raises(ValueError, match=r"metric must be one of \['mrr', 'dcg'\]; got 'ndcg'"):
        report.inspect("a", metric="ndcg")


def test_ranks_that_are_not_shown_are_counted():
    inspection = report_of().inspect("a", n_ranks=2)
    assert len(only(inspection).columns["label"]) == 2
    assert only(inspection).rest == pytest.approx(1 / 2 / 2 + 2 / np.log2(5))
    assert "Ranks below 2 add 1.1114." in str(inspection).splitlines()


@pytest.mark.parametrize(("metric", "n"), [("dcg@7", 7), ("dcg@25", 20), ("dcg", 20)])
def test_ranks_shown_by_default(metric, n):
    report = evaluate([np.ones(30)], [-np.arange(30.0)], metrics=metric)
    for n_ranks, expected in ((None, n), (28, 28)):
        found = only(report.inspect(0, n_ranks=n_ranks))
        assert len(found.columns["label"]) == expected


RETRIEVED = [True, False, True, True, True, True]
JUDGED = [True, True, False, True, True, True]


def test_documents_that_are_not_ranked_or_judged():
    inspection = report_of("ndcg", retrieved=RETRIEVED, judged=JUDGED).inspect("a")
    found = only(inspection)
    assert found.columns["row"].tolist() == [0, 2, 3]
    assert found.columns["label"].tolist() == pytest.approx([0, np.nan, 2], nan_ok=True)
    assert found.n_relevant == 2
    assert found.unranked == [1]
    text = str(inspection)
    assert "1 relevant document not ranked: 1." in text
    rows = text.splitlines()[3:6]
    assert [row.split()[2] for row in rows] == ["0", "?", "2"]


@pytest.mark.parametrize(("metric", "options"), [("ndcg", {"condense": True}), ("bpref", {})])
def test_unjudged_documents_that_the_metric_leaves_out(metric, options):
    found = shown(metric, judged=JUDGED, **options)
    assert found.columns["row"].tolist() == [0, 1, 3]


def test_a_query_without_ranked_documents():
    retrieved = [[False, False], [True, True]]
    report = evaluate([[1, 0]] * 2, [[1, 2]] * 2, metrics="ndcg", retrieved=retrieved)
    inspection = report.inspect(0)
    assert str(inspection).splitlines()[1:4] == [
        "Query 0: 0.0000; 0 ranked documents, 1 relevant document",
        "rank  row  label  score  tied  adds",
        "1 relevant document not ranked: 0.",
    ]
    assert len(report.inspect([0, 1]).to_frame()) == 2


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_without_rows_have_their_columns(library):
    truth = {"a": {"x": 1}, "b": {"x": 1}}
    empty = evaluate_run(truth, {"a": {}, "b": {"x": 1}}, "mrr")
    names = ["qid", "rank", "id", "label", "score", "tied", "added"]
    found = empty.inspect("a").to_frame(library)
    assert list(found.columns) == names
    assert len(found) == 0
    both = compare({"one": empty, "two": empty})
    found = both.inspect(qid="a").to_frame(library)
    names.insert(1, "ranking")
    assert list(found.columns) == names
    assert len(found) == 0
    health = evaluate([1, 0], [2.0, 1.0], qid=["a", "a"], metrics="mrr").health
    found = health.to_frame(library)
    assert list(found.columns) == ["finding"]
    assert len(found) == len(health.findings)


def test_infinite_scores_tie():
    scores = [-np.inf, np.inf, np.inf, -np.inf]
    found = only(evaluate([[0, 1, 2, 0]], [scores], metrics="ndcg").inspect(0))
    assert found.columns["row"].tolist() == [1, 2, 0, 3]
    assert found.columns["tied"].all()


def test_negative_zero_is_zero():
    assert "-0" not in str(evaluate([[1, 0]], [[0.5, -0.0]], metrics="dcg").inspect(0))


@pytest.mark.parametrize(("value", "text"), [(0.0, "0.0000"), (np.nan, "nan")])
def test_undefined_queries_add_nothing(value, text):
    options = with_policies("ndcg", replace_undefined_by=value)
    inspection = evaluate([[0, 0], [1, 0]], [[2, 1]] * 2, **options).inspect(0)
    title = f"Query 0: {text} (undefined); 2 ranked documents, 0 relevant documents"
    assert title in words(inspection)
    found = only(inspection)
    assert not found.is_defined
    assert np.isnan([found.rest, *found.columns["added"]]).all()
    assert "nan\n" not in str(inspection)


def test_metrics_that_are_no_sums_show_the_order():
    own = make_metric(lambda labels: float(labels[0]), name="first_label")
    for metric in ("pairwise_accuracy", own):
        inspection = report_of([metric]).inspect("a")
        found = only(inspection)
        assert found.columns["row"].tolist() == [0, 1, 2, 3]
        assert np.isnan([found.rest, *found.columns["added"]]).all()


def test_several_ids_in_the_order_given():
    report = report_of()
    for several in (
        ["b", "a"],
        np.array(["b", "a"]),
        pd.Series(["b", "a"]),
        {"b": 0.1, "a": 0.2},
        ("b", "a", "b"),
    ):
        assert [query[0].qid for query in report.inspect(several).queries] == ["b", "a"]
    assert report.inspect(report.worst(2)).queries[0][0].qid == next(iter(report.worst(2)))


def test_an_id_that_is_a_tuple_is_one_id():
    ids = pd.Series([(1, "x"), (1, "x"), (2, "y"), (2, "y")])
    report = evaluate([1, 0, 0, 1], [2, 1, 2, 1], qid=ids, metrics="mrr")
    assert only(report.inspect((2, "y"))).qid == (2, "y")


@pytest.mark.parametrize(
    ("ids", "wanted", "message"),
    [
        (["alpha", "beta"], "alpa", "qid 'alpa' is not in the report, whose first id is 'alpha'"),
        ([1, 2], "2", "qid '2' is not in the report, whose first id is 1"),
        ([1, 2], [2, 7], "qid 7 is not in the report"),
    ],
)
def test_ids_that_are_not_there(ids, wanted, message):
    report = evaluate([1, 0, 1, 0], [2, 1, 2, 1], qid=np.repeat(ids, 2), metrics="mrr")
    with pytest.raises(ValueError, match=message):
        report.inspect(wanted)


def test_documents_passed_to_evaluate_are_shown():
    order = np.array([4, 2, 0, 5, 3, 1])
    prices = np.arange(6) / 2
    letters = np.array(list("uvwxyz"))
    columns = {"price": prices[order], "label": letters[order]}
    y, scores, qid = (np.take(column, order) for column in (LABELS, SCORES, QID))
    report = evaluate(y, scores, qid=qid, metrics="dcg", documents=columns, by=qid)
    for inspection in (report.inspect("a"), report.slices["a"].inspect("a")):
        shown = only(inspection).columns
        assert shown["documents.price"].tolist() == [0, 1, 0.5, 1.5]
        assert shown["documents.label"].tolist() == list("uwvx")
        assert shown["label"].tolist() == [0, 0, 1, 2]
        assert inspection.to_frame()["documents.label"].tolist() == list("uwvx")
    second = report.inspect(["a", "b"]).queries[1]
    assert second[0].columns["documents.label"].tolist() == ["z", "y"]


def test_ids_and_columns_that_are_tuples_print_as_they_are():
    qrels = {"q": {("a", 1): 1, ("b", 2): 0}}
    by_id = evaluate_run(qrels, {"q": [("b", 2), ("a", 1)]}, "mrr")
    assert "('b', 2)" in str(by_id.inspect("q"))
    spans = {"span": [(0.5, 1.5), (2.0, 3.0)]}
    rows = evaluate([1, 0], [2, 1], qid=["a", "a"], metrics="mrr", documents=spans)
    assert "(0.5, 1.5)" in str(rows.inspect("a"))


def test_bytes_of_documents_keep_their_last_zeros():
    names = {"name": [b"a\0", b"a"]}
    report = evaluate([1, 0], [2, 1], qid=["a", "a"], metrics="mrr", documents=names)
    assert only(report.inspect("a")).columns["documents.name"].tolist() == names["name"]


def test_slices_show_the_rows_of_the_whole_report():
    part = report_of(by=["x"] * 4 + ["y"] * 2).slices["y"]
    assert only(part.inspect("b")).columns["row"].tolist() == [5, 4]
    with pytest.raises(ValueError, match="qid 'a' is not in the report"):
        part.inspect("a")


def test_frame_has_one_row_per_rank():
    frame = report_of().inspect(["b", "a"]).to_frame()
    assert frame["qid"].tolist() == ["b"] * 2 + ["a"] * 4
    assert frame["rank"].tolist() == [1, 2, 1, 2, 3, 4]
    assert list(frame) == [
        "qid",
        "rank",
        "row",
        "label",
        "score",
        "tied",
        "added",
    ]
    assert frame["row"].tolist() == [5, 4, 0, 1, 2, 3]
    assert report_of().inspect("a").to_frame(library="polars").columns == list(frame)


@pytest.fixture(scope="module")
def compared():
    X, y, qid = make_ranking(40, random_state=0)
    new, old = (
        evaluate(y, X[:, number].round(1), qid=qid, metrics=["ndcg@10", "mrr"]) for number in (0, 1)
    )
    return compare({"new": new, "old": old, "same": new})


def test_queries_with_the_largest_differences(compared):
    pair = compared.pair("new", "old")
    largest = pair.qid[np.argsort(-np.abs(pair.differences))].tolist()
    for n in (1, 3, 100):
        assert [query[0].qid for query in compared.inspect(n, "new", "old").queries] == largest[:n]
    assert len(compared.inspect().queries) == 3
    first, second = compared.inspect(1, "new", "old").queries[0]
    assert first.ranking == "new"
    assert second.ranking == "old"
    assert first.value - second.value == pytest.approx(
        pair.differences[np.abs(pair.differences).argmax()]
    )
    for n in (0, -1):
        with pytest.raises(ValueError, match=f"n must be an int >= 1 or None; got {n}"):
            compared.inspect(n)


def test_queries_of_a_comparison_by_id(compared):
    found = compared.by_metric("mrr").inspect(qid=[3, 5], first="same", second="old")
    assert found.metric == "mrr"
    assert [query[1].qid for query in found.queries] == [3, 5]
    assert {tuple(ranking.ranking for ranking in query) for query in found.queries} == {
        ("same", "old")
    }
    with pytest.raises(
        ValueError, match="n must be left out if qid names the queries; got n=2 and qid=3"
    ):
        compared.inspect(2, qid=3)


def test_ranks_of_a_comparison(compared):
    (query,) = compared.inspect(1, n_ranks=4).queries
    assert [len(ranking.columns["label"]) for ranking in query] == [4, 4]


def test_a_ranking_with_documents_of_its_own_beside_one_without():
    comparison = compare(
        {"with": report_of(documents={"text": list("uvwxyz")}), "without": report_of()}
    )
    frame = comparison.inspect(qid="a").to_frame()
    assert frame["documents.text"].tolist()[:4] == list("uvwx")
    assert frame["documents.text"].isna().tolist() == [False] * 4 + [True] * 4
    assert " u\n" in str(comparison.inspect(qid="a"))
    turned = compare({name: comparison.reports[name] for name in ("without", "with")})
    frame = turned.inspect(qid="a").to_frame()
    assert frame["ranking"].tolist() == ["without"] * 4 + ["with"] * 4
    assert frame["documents.text"].isna().tolist() == [True] * 4 + [False] * 4
    assert frame["documents.text"].tolist()[4:] == list("uvwx")


def test_no_query_to_inspect_is_an_error():
    with pytest.raises(ValueError, match="qid must name at least one query; got none"):
        report_of().inspect([])


@pytest.mark.parametrize(("ties", "order"), [("best", [2, 1, 0]), ("worst", [0, 1, 2])])
def test_unjudged_documents_are_below_those_of_label_0_if_labels_decide(ties, order):
    # The value counts the same document: judged@1 is 1 only if a judged one comes first.
    report = evaluate(
        [0, 0, 1],
        [1, 1, 1],
        qid=[7] * 3,
        judged=[False, True, True],
        metrics=f"judged(ties={ties})@1",
    )
    shown = only(report.inspect(7, n_ranks=3)).columns
    assert shown["row"].tolist() == order
    assert report.mean == {f"judged(ties={ties})@1": float(order[0] != 0)}
