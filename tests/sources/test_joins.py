"""Joins by id: what is joined silently wrong elsewhere, ids of many types, repeats, passages, and names of columns."""

import datetime
import gzip
import io
import itertools
import re
import uuid
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from skrank_metrics import compare, evaluate, evaluate_run, make_metric, trec
from skrank_metrics.decisions import Comparison
from skrank_metrics.reports import RankingReport
from skrank_metrics.sources.lists import IdColumn, JoinedLists

TRUTH = {"u": ["a", "b"], "v": ["c"]}
LISTS = {"u": ["x", "a", "b"], "v": ["c", "a"]}


def mrr(qrels, run, **options):
    return evaluate_run(qrels, run, "mrr", **options).per_query["mrr"].tolist()


def test_some_rows_do_not_claim_to_be_the_lists_as_given():
    codes, values = np.zeros(2, np.int32), np.array([2.0, 1.0])
    ids = IdColumn.from_values(["x", "y"], "run")
    lists = JoinedLists("run", ["a", "b"], codes, ids, values, given={"a": ["x", "y"], "b": []})
    assert lists.take(np.array([1])).given is None
    # Whole queries are.
    assert lists.of_queries(["b", "a"]).given == lists.given


# --- Exclusions and ids that cannot match


@pytest.mark.parametrize(
    ("exclude", "message"),
    [
        ({"z": ["x"]}, "exclude and run share no query: 'z' ... against 'u'"),
        ({1: ["x"]}, "exclude has 1, but .* such as 'u'. The ids are of different types; convert"),
        ({"u": [1]}, "exclude has 1, but qrels and run have documents such as 'x'"),
        (
            pd.DataFrame({"user": [7], "item": ["x"]}),
            "exclude has 7, but qrels and run have queries",
        ),
    ],
)
def test_exclusions_that_match_nothing_are_an_error(exclude, message):
    with pytest.raises(ValueError, match=message):
        mrr(TRUTH, LISTS, exclude=exclude)
    assert mrr(TRUTH, LISTS, exclude={"u": ["c"], "w": ["x"]}) == [1 / 2, 1], "others may match"


def test_exclusions_that_a_run_obeys_already_are_a_finding():
    truth, exclude = {"u": ["a"]}, [("u", "x")]
    clean = evaluate_run(truth, {"u": ["a"]}, "mrr", exclude=exclude)
    assert clean.mean == {"mrr": 1}
    finding = "Nothing excluded: no document of exclude is in run or qrels, 'x' ... against 'a' ..."
    assert finding in clean.health.findings
    nothing = evaluate_run(truth, {"u": []}, "mrr", exclude=exclude)
    assert finding in nothing.health.findings
    runs = {"raw": {"u": ["x", "a"]}, "clean": {"u": ["a"]}}
    compared = evaluate_run(truth, runs, "mrr", exclude=exclude)
    assert {name: report.mean["mrr"] for name, report in compared.reports.items()} == {
        "raw": 1,
        "clean": 1,
    }
    assert finding not in compared.reports["raw"].health.findings
    one_more = {
        "raw": {"u": ["a"], "w": ["x", "a"]},
        "clean": {"u": ["a"]},
    }
    evaluate_run(truth, one_more, "mrr", exclude=[("w", "x")])  # a query of one of the runs
    with pytest.raises(
        ValueError, match=r"exclude has 1, but .* documents such as 'x'. .* different types"
    ):
        evaluate_run(truth, runs, "mrr", exclude=[("u", 1)])
    with pytest.raises(ValueError, match=r"exclude and run share no query: 'z' ... against 'u'"):
        evaluate_run(truth, runs, "mrr", exclude=[("z", "x")])


def test_a_run_without_a_shared_document_is_a_finding_but_other_types_are_an_error():
    report = evaluate_run({"q": ["a"]}, {"q": ["z"]}, "mrr")
    assert report.mean == {"mrr": 0}
    finding = "No document in common: run and qrels share none, 'z' ... against 'a' ..., so no list has a hit."
    assert finding in report.health.findings
    assert evaluate_run({"q": [3]}, {"q": [4.0]}, "mrr").mean == {"mrr": 0}
    with pytest.raises(
        ValueError, match=r"run has 7, but qrels has the document '7'. .* different types"
    ):
        evaluate_run({"q": ["7"]}, {"q": [7]}, "mrr")


# --- Ids of other types

NUMBERED = {
    1: {10: 1, 11: 0},
    2: {20: 1, 21: 1},
}
FIRST_IS_WRONG = {1: [11, 10], 2: [21, 20]}


def price_of_first(y_true, *, price):
    return float(price[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"exclude": {"1": [11], 2: [21]}}, "exclude has '1', but .* queries such as 1"),
        ({"exclude": {1: ["11"], 2: [21]}}, "exclude has '11', but .* documents such as 1"),
        ({"exclude": [(1, 11), (2, "x")]}, "exclude has 'x', but .* documents such as 1"),
        ({"by": {1: "a", 2: "b", "2": "c"}}, "by has '2', but there is the query 2"),
        ({"groups": {1: "a", 2: "b", "2": "c"}}, "groups has '2', but"),
        ({"sample_weight": {1: 1, 2: 2, "2": 3}}, "sample_weight has '2', but"),
        ({"parents": {10: 10, 11: 11, 20: 20, 21: 21, "21": 3}}, "parents has '21', but"),
        ({"parents": {10: "10", 11: 11, 20: 20, 21: 21}}, "run has '10', but qrels has the doc"),
        (
            {
                "run": [[11, 10], [21, 20]],
                "queries": [1, "2"],
            },
            "run has '2', but qrels has the q",
        ),
        ({"run": {1: ["11", 10], 2: [21, 20]}}, "run has '11', but qrels has the document 11"),
        ({"qrels": {1: ["10"], 2: [20]}}, "qrels has '10', but run has the document 10"),
        ({"qrels": {"1": [10], 2: [20]}}, "qrels has '1', but run has the query 1"),
        ({"documents": {"price": {10: 1, 11: 2, 20: 3, 21: 4, "21": 5}}}, "documents.* has '21'"),
    ],
)
def test_ids_of_which_a_part_has_another_type_are_an_error(options, message):
    given = {"qrels": NUMBERED, "run": FIRST_IS_WRONG} | options
    metric = make_metric(price_of_first, documents=["price"]) if "documents" in given else "mrr"
    with pytest.raises(ValueError, match=f"{message}.*different types"):
        evaluate_run(**given, metrics=metric)


def test_ids_of_a_type_that_only_judgments_have_can_be_excluded():
    truth = {"q": {"a": 1, 7: 0, 8: 1}}
    report = evaluate_run(truth, {"q": ["b", "a"]}, "mrr", exclude=[("q", 7)])
    assert report.mean == {"mrr": 1 / 2}
    assert not any(line.startswith("Nothing excluded") for line in report.health.findings)
    with pytest.raises(ValueError, match=r"exclude has b'a', but qrels and run have documents"):
        evaluate_run(truth, {"q": ["b", "a"]}, "mrr", exclude=[("q", b"a")])


def test_ids_of_two_types_that_do_not_look_alike_are_different_documents():
    mixed = {1: [10, "advertisement"], 2: ["video", 20]}
    assert mrr(NUMBERED, mixed) == [1, 1 / 2]
    assert mrr(NUMBERED, mixed, exclude=[(2, "video"), (1, 99)]) == [1, 1]
    by = {1: 0, 2: 0, "all": 1}
    assert mrr(NUMBERED, mixed, exclude=[(2.0, "video")], by=by) == [1, 1]


TIMES = ["2024-01-01", "2024-01-02", "2024-01-03"]
DAYS = pa.array(TIMES).cast(pa.timestamp("s"))
ZONED = pa.array([f"{day}T00:00Z" for day in TIMES])
NANOSECONDS = pa.array([10**18 + 1, 10**18 + 2, 10**18 + 3])
TYPES = {
    "float": pa.array([1.0, 2.0, 3.0]),
    "bool": pa.array([True, False, True]),
    "date": DAYS.cast(pa.date32()),
    "time": DAYS.cast(pa.timestamp("us")),
    "zone": ZONED.cast(pa.timestamp("us", tz="UTC")),
    "nanoseconds": NANOSECONDS.cast(pa.timestamp("ns")),
    "duration": pa.array([1, 2, 3]).cast(pa.duration("s")),
    "large": pa.array([2**63 + 1, 2**63 + 2, 3], pa.uint64()),
}


@pytest.mark.parametrize("kind", TYPES)
def test_ids_of_arrow_equal_those_of_python_and_pandas(kind):
    ids = TYPES[kind][:2]
    run = pa.table({"query": ["q", "q"], "document": ids, "score": [2.0, 1.0]})
    as_list = ids.to_pylist()
    _, second = as_list
    frame = pd.DataFrame({"query": ["q"], "document": ids[1:].to_pandas()})
    table = run.slice(1).drop_columns("score")
    for qrels in ({"q": [second]}, {"q": {second: 1}}, frame, table):
        assert mrr(qrels, run) == [1 / 2]
        assert mrr(qrels, {"q": as_list}) == [1 / 2]
    queries = pa.table({"query": ids, "document": ["a", "a"], "score": [2.0, 1.0]})
    assert mrr({second: ["a"]}, queries) == [1]


@pytest.mark.skipif(not hasattr(pl, "Int128"), reason="needs polars 1.18 or later")
@pytest.mark.parametrize(
    "ids",
    [
        [2**70, 2**70 + 1],
        [-(2**65), 5],
    ],
)
def test_integers_beyond_64_bits(ids):
    columns = {"query": ["q", "q"], "document": ids, "score": [2.0, 1.0]}
    frame = pd.DataFrame(columns)
    categories = frame.astype({"document": "category"})
    wide = pl.DataFrame(columns, schema_overrides={"document": pl.Int128})
    for run in (
        frame,
        categories,
        wide,
        {"q": ids},
        {"q": dict(zip(ids, (2.0, 1.0), strict=True))},
    ):
        assert mrr({"q": [ids[1]]}, run) == [1 / 2]


def as_text(rows):
    return [list(map(str, row)) for row in rows]


@pytest.mark.parametrize("far", [1, 2**40, 2**57])
@pytest.mark.parametrize("seed", range(5))
def test_integers_from_0_and_far_apart_join_as_strings(seed, far):
    rng = np.random.default_rng(seed)
    queries = [0, far]
    relevant = [(far * rng.choice(40, 4, replace=False)).tolist() for _ in queries]
    rows = [(far * rng.choice(40, 9, replace=False)).tolist() for _ in queries]
    seen = list(itertools.product(queries, rows[0][::3]))
    truth = dict(zip(queries, relevant, strict=True))
    found = mrr(truth, np.array(rows), queries=queries, exclude=seen)
    names = list(map(str, queries))
    truth = dict(zip(names, as_text(relevant), strict=True))
    run = dict(zip(names, as_text(rows), strict=True))
    assert found == mrr(truth, run, exclude=list(map(tuple, as_text(seen))))


# --- Missing ids and padding


@pytest.mark.parametrize("nothing", [None, float("nan"), np.nan, pd.NaT])
def test_missing_ids_in_dicts_are_an_error(nothing):
    for qrels in ({"q": ["a", nothing]}, {"q": {"a": 1, nothing: 1}}, {nothing: ["a"]}):
        with pytest.raises(ValueError, match="must not hold missing ids"):
            mrr(qrels, {"q": ["a"]})
    with pytest.raises(ValueError, match="must not hold missing ids"):
        mrr({"q": ["a"]}, {"q": [(1, nothing)]})


def test_padding_of_arrays():
    truth = {7: [3], 8: [4]}
    padded = np.array([[1, 3], [-1, 4]])
    for run in (
        padded,
        np.ma.masked_equal([[1, 3], [9, 4]], 9),
        padded.astype(object),
        np.array([[1, 3], [pd.NA, 4]], dtype=object),
        np.array([[1, 3], [pd.NaT, 4]], dtype=object),
    ):
        assert mrr(truth, run, queries=[7, 8]) == [1 / 2, 1]
        report = evaluate_run(truth, run, "precision(divisor=retrieved)@2", queries=[7, 8])
        assert report.per_query["precision(divisor=retrieved)@2"].tolist() == [1 / 2, 1]
    for kind in (np.uint8, np.uint32, np.uint64):
        largest = np.iinfo(kind).max
        with pytest.raises(ValueError, match=f"run has {largest} in .*, which may be an id or -1"):
            mrr(truth, padded.astype(kind), queries=[7, 8])


@pytest.mark.parametrize(
    "columns", [("query", "document"), ("qid", "doc"), ("user_id", "item_id", "rating")]
)
def test_dicts_of_columns_are_not_queries(columns):
    frame = {name: ["x", "y"] for name in columns}
    with pytest.raises(TypeError, match=r"qrels looks like a dict of columns. Pass pandas.DataFra"):
        mrr(frame, LISTS)
    with pytest.raises(TypeError, match="run looks like a dict of columns"):
        mrr(TRUTH, frame)


def test_scores_and_ranks_of_one_run_agree():
    run = pd.DataFrame({"qid": "u", "docno": list("xab"), "score": [3.0, 2, 2], "rank": [0, 1, 2]})
    tied = {"u": ["a"]}
    assert mrr(tied, run) == [(1 / 2 + 1 / 3) / 2]
    other = run.assign(rank=[2, 1, 0])
    with pytest.raises(ValueError, match=r"ranks of run disagree, first for document 'x' of qu"):
        mrr(tied, other)
    truth = {"u": ["x"]}
    assert mrr(truth, other, columns={"rank": "rank"}) == [1 / 3]
    assert mrr(truth, other, columns={"score": "score"}) == [1]


def test_sparse_matrices_that_are_dicts(tmp_path):
    matrix = sparse.dok_matrix((1, 3))
    matrix[0, 2] = 1
    assert mrr(matrix, {0: [1, 2]}) == [1 / 2]


def test_a_run_of_a_dict_that_is_no_file():
    with pytest.raises(
        FileNotFoundError, match="There is no such file, or folder of tables, for run: 'ba'"
    ):
        mrr(TRUTH, {"bm25": "ba"})


def test_digits_of_tables_of_text_are_strings(tmp_path):
    (tmp_path / "run.csv").write_text("query,document,score\n1,007,2\n1,8,1\n")
    assert mrr({"1": ["8"]}, tmp_path / "run.csv") == [1 / 2]
    assert mrr({"1": ["007"]}, tmp_path / "run.csv") == [1]


def test_lists_of_masked_arrays_keep_their_masks():
    truth = {7: [5], 8: [5]}
    queries = [7, 8]
    wrong = np.ma.array([5, 9], mask=[1, 0])
    right = np.ma.array([9, 5], mask=[1, 0])
    assert mrr(truth, [wrong, right], queries=queries) == [0, 1]
    assert mrr(truth, [wrong, [9, 5]], queries=queries) == [0, 1 / 2]
    assert mrr(truth, {7: wrong, 8: right}) == [0, 1]
    runs = {"x": [wrong, right], "y": [right, wrong]}
    reports = evaluate_run(truth, runs, "mrr", queries=queries).reports
    assert reports["x"].per_query["mrr"].tolist() == [0, 1]
    assert reports["y"].per_query["mrr"].tolist() == [1, 0]
    with pytest.raises(ValueError, match=r"y_true must not be masked; got 2 masked entries\."):
        evaluate([wrong, right], [[1, 2], [2, 1]])


def test_lists_of_rows_keep_their_ids_and_have_one_length():
    assert mrr({7: ["1"], 8: [1]}, [[1, "1"], [1, "1"]], queries=[7, 8]) == [1 / 2, 1]
    large = 2**60
    assert mrr({7: [large]}, [[large + 1, large, 5.0, np.nan]], queries=[7]) == [1 / 2]
    with pytest.raises(ValueError, match="run must have rows of the same length with queries="):
        mrr({7: [1], 8: [1]}, [[1], [2, 1]], queries=[7, 8])


def test_ranks_beyond_2_to_24_do_not_tie():
    run = pd.DataFrame({"query": "q", "document": ["a", "b"], "rank": [2**24 + 1, 2**24]})
    columns = {"rank": "rank"}
    assert mrr({"q": ["a"]}, run, convention="trec_eval", columns=columns) == [1 / 2]


# --- Frames that are no columns in memory


def test_frames_that_are_not_in_memory_are_refused():
    lazy = pl.LazyFrame({"query": ["u"], "document": ["a"]})
    for given in ({"qrels": lazy}, {"run": lazy}, {"exclude": lazy}, {"documents": lazy}):
        arguments = {"qrels": TRUTH, "run": LISTS} | given
        (name,) = given
        with pytest.raises(
            TypeError, match=rf"{name} must be in memory; .* Pass {name}.collect\(\)"
        ):
            evaluate_run(**arguments)
    weights = pd.DataFrame({"weight": [1.0, 2.0]}, index=["u", "v"])
    for name in ("sample_weight", "by", "groups"):
        with pytest.raises(
            TypeError, match=rf"{name} must be a dict, or a Series .* got DataFrame"
        ):
            evaluate_run(TRUTH, LISTS, **{name: weights})


# --- Columns of documents

SEEN = []


def watch(labels, value, unranked=()):
    SEEN.append(list(value[: len(labels)]))
    return float(sum(labels))


@pytest.mark.option("evaluate_run.documents")
@pytest.mark.parametrize("documents", [{"b": [2.0, 2.5], "x": [9.0], "a": [1.0]}])
def test_columns_of_lists_stay_with_their_documents(documents):
    lists = {"value": documents}
    frame = pd.DataFrame({"item": list(documents), "value": list(documents.values())})
    for given in (
        lists,
        frame,
        pl.DataFrame(frame.to_dict("list")),
        pa.table(frame.to_dict("list")),
    ):
        SEEN.clear()
        own = make_metric(watch, documents=["value"])
        evaluate_run({"u": ["a", "b"]}, {"u": ["x", "b"]}, own, documents=given)
        assert [list(one) for one in SEEN[0]] == [[9.0], [2.0, 2.5]]


def test_arrays_per_document_are_rows_and_objects_stay_objects():
    own = make_metric(watch, documents=["value"])
    run = {"u": ["x", "b"]}
    truth = {"u": ["a", "b"]}
    SEEN.clear()
    vectors = {one: np.full(3, place) for place, one in enumerate("abx")}
    evaluate_run(truth, run, own, documents={"value": vectors})
    assert [one.tolist() for one in SEEN[0]] == [[2, 2, 2], [1, 1, 1]]
    SEEN.clear()
    for values in ({"a": 1, "b": None, "x": "3"}, {"a": "y", "b": 3, "x": float("inf")}):
        evaluate_run(truth, run, own, documents={"value": values})
    assert [["3", None], [float("inf"), 3]] == SEEN


# --- Repeats and passages


@pytest.mark.option("evaluate_run.duplicates")
def test_repeats():
    log = pd.DataFrame(
        {
            "user": list("uuuv"),
            "item": list("abac"),
            "rating": [1, 2, 3, 1],
        }
    )
    message = "qrels has document 'a' of query 'u' twice. evaluate_run keeps one with duplicates='first' or"
    with pytest.raises(ValueError, match=message):
        evaluate_run(log, LISTS)
    lists = {"u": ["x", "a", "b"], "v": ["c"]}
    for duplicates, gain in (("first", 1), ("best", 3)):
        report = evaluate_run(log, lists, "dcg@2", duplicates=duplicates)
        assert report.per_query["dcg@2"] == pytest.approx([gain / np.log2(3), 1])
    with pytest.raises(ValueError, match="duplicates must be one of"):
        evaluate_run(log, LISTS, duplicates="last")


def test_repeats_with_scores():
    scored = pd.DataFrame({"query": "q", "document": list("abba"), "score": [1.0, 2.0, 5.0, 4.0]})
    lines = [f"q Q0 {row.document} 1 {row.score} t\n" for row in scored.itertuples()]
    text = "".join(lines)
    truth = {"q": ["a"]}
    for run in (scored, pa.table(scored), io.StringIO(text)):
        assert mrr(truth, run, duplicates="best") == [1 / 2]
    shuffled = scored.iloc[::-1]
    for run in (shuffled, io.StringIO(text)):
        assert mrr(truth, run, duplicates="first") == [1 / 2]
    assert mrr(truth, shuffled.iloc[[0, 2]], duplicates="first") == [1]
    assert mrr({"q": ["b"]}, {"q": ["a", "a", "b"]}, duplicates="first") == [1 / 2]


@pytest.mark.option("evaluate_run.parents")
def test_passages_count_as_their_documents():
    parents = {"d1#0": "d1", "d1#1": "d1", "d2#0": "d2", "d3#0": "d3"}
    run = {"q": {"d3#0": 4.0, "d1#1": 1.0, "d1#0": 3.0, "d2#0": 2.0}}
    ranked = {"q": ["d3#0", "d1#0", "d2#0", "d1#1"]}
    first, second = {"q": ["d1"]}, {"q": ["d2"]}
    ways = [parents, lambda passage: passage.partition("#")[0]]
    for given, lists in itertools.product(ways, (run, ranked)):
        assert mrr(first, lists, parents=given) == [1 / 2]
        # The option is about passages; of a document, the best one counts.
        assert mrr(first, lists, parents=given, duplicates="first") == [1 / 2]
        assert mrr(second, lists, parents=given) == [1 / 3]
    with pytest.raises(ValueError, match="run has document 'd1#0' of query 'q' twice"):
        mrr(first, {"q": ["d1#0", "d1#0"]}, parents=parents)
    del parents["d2#0"]
    with pytest.raises(ValueError, match="parents has no value for 1 passage"):
        mrr(first, run, parents=parents)
    integers = np.array([[10, 11, 20]])
    assert mrr({0: [2]}, integers, queries=[0], parents=lambda one: one // 10) == [1 / 2]


def test_an_empty_list_is_a_list():
    qrels = {"full": ["a"], "empty": ["a"], "none": ["a"]}
    run = {"full": ["a"], "empty": []}
    skip = evaluate_run(qrels, run, "mrr", missing="skip")
    assert skip.qid.tolist() == ["full", "empty"]
    assert skip.mean == {"mrr": 1 / 2}
    # Exclusions can empty a list, too.
    excluded = evaluate_run(qrels, run, "mrr", missing="skip", exclude={"full": ["a"]})
    assert excluded.per_query["mrr"].tolist() == [0, 0]
    assert evaluate_run(qrels, run, "mrr").mean == {"mrr": 1 / 3}


# --- Sparse matrices


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_sparse_matrices(kind):
    bought = kind(
        np.array(
            [
                [0, 2, 0, 1],
                [0, 0, 0, 0],
                [1, 0, 0, 0],
            ]
        )
    )
    lists = np.array(
        [
            [2, 1, 3],
            [0, 1, 2],
            [3, 0, -1],
        ]
    )
    assert mrr(bought, lists, queries=[0, 1, 2]) == [1 / 2, 1 / 2]
    seen = kind(
        np.array(
            [
                [0, 0, 1, 0],
                [0, 0, 0, 0],
                [0, 0, 0, 1],
            ]
        )
    )
    assert mrr(bought, lists, queries=[0, 1, 2], exclude=seen) == [1, 1]
    labels = {0: {1: 2, 3: 1}, 2: {0: 1}}
    expected = evaluate_run(labels, lists, "ndcg", queries=[0, 1, 2]).per_query["ndcg"]
    found = evaluate_run(bought, lists, "ndcg", queries=[0, 1, 2])
    assert found.qid.tolist() == [0, 2]
    assert found.per_query["ndcg"].tolist() == expected.tolist()


def test_a_stored_zero_is_a_judgment_but_excludes_nothing():
    entries = np.array([1.0, 0.0]), (np.array([0, 0]), np.array([3, 1]))
    matrix = sparse.csr_matrix(entries, shape=(1, 5))
    assert matrix.nnz == 2
    assert mrr({0: [1]}, {0: [3, 1, 2]}, exclude=matrix) == [1]
    found = evaluate_run(matrix, {0: [1, 3]}, ["mrr", "judged@2"])
    assert found.mean == {"mrr": 1 / 2, "judged@2": 1}


# --- Names of columns

USUAL = {
    "query": [
        "query",
        "qid",
        "query_id",
        "topic",
        "user",
        "user_id",
        "userID",
        "QueryID",
        "customer_id",
        "topicId",
        "era",
        "user_id:token",
    ],
    "document": [
        "document",
        "movieId",
        "article_id",
        "docno",
        "docid",
        "doc_id",
        "item",
        "item_id",
        "itemID",
        "passage_id",
        "corpus-id",
    ],
    "label": ["label", "relevance", "rel", "rating", "grade"],
    "score": ["score", "prediction"],
}


@pytest.mark.parametrize("role", USUAL)
@pytest.mark.option("evaluate_run.columns")
def test_usual_names_are_recognized_and_two_of_them_are_an_error(role):
    qrels = pd.DataFrame({"query": ["q"], "document": ["a"], "label": [1]})
    run = pd.DataFrame({"query": ["q"] * 2, "document": ["b", "a"], "score": [2.0, 1.0]})
    for name in USUAL[role]:
        changed = [frame.rename(columns={role: name}) for frame in (qrels, run)]
        assert mrr(*changed) == [1 / 2]
    one, other, *_ = USUAL[role]
    argument, frame = ("qrels", qrels) if role in qrels else ("run", run)
    doubled = frame.assign(**{other: frame[one]})
    frames = {"qrels": qrels, "run": run, argument: doubled}
    message = f"{argument} has several columns that could be the {role}: '{one}', '{other}'"
    with pytest.raises(ValueError, match=message):
        evaluate_run(**frames)
    assert mrr(*frames.values(), columns={argument: {role: one}}) == [1 / 2]


def test_weights_are_labels_if_nothing_else_is():
    # As in RecTools. Of two relevant documents, the one with the larger weight is second.
    frame = pd.DataFrame({"user_id": [1, 1], "item_id": [8, 9], "weight": [1.0, 3.0]})
    ranked = {1: [8, 9]}
    expected = (1 + 3 / np.log2(3)) / (3 + 1 / np.log2(3))
    assert evaluate_run(frame, ranked, "ndcg").mean == pytest.approx({"ndcg": expected})
    labelled = frame.assign(rel=[1, 1])
    assert evaluate_run(labelled, ranked, "ndcg").mean == {"ndcg": 1}


def test_columns_of_several_runs():
    run = pd.DataFrame({"customer": ["u"] * 2, "document": ["x", "a"], "score": [2.0, 1.0]})
    runs = {"one": run, "other": run.assign(score=[1.0, 2.0])}
    found = evaluate_run({"u": ["a"]}, runs, "mrr", columns={"query": "customer"})
    assert found.means() == {"other": 1, "one": 1 / 2}
    with pytest.raises(ValueError, match="columns= applies to frames and files; got none"):
        evaluate_run({"u": ["a"]}, {"one": {"u": {"a": 1.0}}}, columns={"query": "customer"})


def test_columns_of_each_frame():
    qrels = pd.DataFrame({"customer": ["q"], "sku": ["a"], "stars": [1]})
    run = pd.DataFrame({"client": ["q"] * 2, "sku": ["b", "a"], "score": [2.0, 1.0]})
    own = {"qrels": {"query": "customer", "label": "stars"}, "run": {"query": "client"}}
    assert mrr(qrels, run, columns={"document": "sku", **own}) == [1 / 2]
    for columns, kind, message in (
        ({"query": "customer", "document": "sku"}, ValueError, "run has no column 'customer'"),
        ({"quary": "customer"}, ValueError, "got 'quary'. Did you mean 'query'"),
        (
            {"run": {"label": "stars"}},
            ValueError,
            r"columns\['run'\] must be one of .*; got 'label'",
        ),
        ({"query": 3}, ValueError, "has no column 3"),
        (["customer"], TypeError, "columns must be a dict such as"),
    ):
        with pytest.raises(kind, match=message):
            evaluate_run(qrels, run, columns=columns)
    with pytest.raises(ValueError, match="columns= applies to frames and files; got none"):
        evaluate_run(TRUTH, LISTS, columns={"query": "customer"})


def test_files_as_people_have_them(tmp_path):
    def write(name, text):
        path = tmp_path / name
        content = text.encode()
        path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
        return path

    trec_qrels, trec_run = "q 0 a 1\nq 0 c 0\n", "q Q0 b 1 9.5 t\nq Q0 a 2 7 t\n"
    beir = write("test.tsv", "query-id\tcorpus-id\tscore\nq\ta\t1\nq\tc\t0\n")
    all_qrels = [
        beir,
        write("beir.tsv.gz", beir.read_text()),
        write("msmarco.tsv", trec_qrels.replace(" ", "\t")),
        write("trec.tsv", trec_qrels),
        write("qrels.csv", "query_id,doc_id,relevance\nq,a,1\nq,c,0\n"),
    ]
    all_runs = [
        write("top.tsv", "q\tb\t1\nq\ta\t2\n"),
        write("trec_run.tsv", trec_run.replace(" ", "\t")),
        write("ranks.txt", "q b 1\nq a 2\n"),
        write("run.csv", "qid,docno,score\nq,b,9.5\nq,a,7\n"),
        write("run.tsv", "qid\tdocno\trank\nq\tb\t1\nq\ta\t2\n"),
    ]
    for qrels in all_qrels:
        for run in all_runs:
            assert mrr(qrels, run) == [1 / 2]
    with pytest.raises(ValueError, match="expected 6 fields"):
        trec.read_run(all_runs[0])
    with pytest.raises(ValueError, match=r"line 1: expected rank 1, since .*; got 'q b 1.5'"):
        mrr(beir, write("scores.txt", "q b 1.5\n"))


# --- Several runs


def test_a_dict_of_runs_is_compared(tmp_path):
    truth = {query: {"a": 1, "b": 2} for query in range(8)}
    als = {query: ["a", "x", "b"] for query in truth}
    bpr = {query: ["a", "b", "x"] if query % 2 else ["x", "b", "a"] for query in truth}
    lists = {"als": als, "bpr": bpr}
    scored, frames, tuples, rows = {}, {}, {}, {}
    for name, run in lists.items():
        scored[name] = {}
        for query, row in run.items():
            scored[name][query] = dict(zip(row, (3.0, 2.0, 1.0), strict=True))
        tuples[name] = {query: tuple(row) for query, row in run.items()}
        rows[name] = list(run.values())
        frame = pd.DataFrame(scored[name]).rename_axis("item").reset_index()
        frame = frame.melt("item", var_name="user", value_name="score")
        frames[name] = frame[["user", "item", "score"]]
    reports = {name: evaluate_run(truth, run) for name, run in lists.items()}
    expected = str(compare(reports))
    for runs in (lists, scored, frames, tuples):
        found = evaluate_run(truth, runs)
        assert isinstance(found, Comparison)
        assert str(found) == expected
    arrays = {name: np.array(of_run) for name, of_run in rows.items()}
    for runs in (arrays, rows):
        found = evaluate_run(truth, runs, queries=list(truth))
        assert str(found) == expected


def test_a_dict_that_is_a_run_and_several_runs_is_an_error(tmp_path):
    message = "run must be a single run, or a dict of runs; got both: 'u' holds"
    for other in (["a"], {"a": 1.0}, np.array(["a"])):
        with pytest.raises(ValueError, match=message):
            evaluate_run(TRUTH, {"als": {"u": ["a"]}, "u": other})
    assert mrr({"u": [("a", 1)]}, {"u": [("b", 2), ("a", 1)]}) == [1 / 2], "ids can be tuples"
    assert mrr({"u": [("a", 1)]}, {"u": {("b", 2): 2.0, ("a", 1): 1.0}}) == [1 / 2]
    with pytest.raises(ValueError, match="run must have different names; got '1' more than once"):
        evaluate_run(TRUTH, {1: {"u": ["a"]}, "1": {"u": ["b"]}})
    with pytest.raises(ValueError, match="run 'empty' is empty: it has no query"):
        evaluate_run(TRUTH, {"empty": {}, "als": {"u": ["a"]}})
    path = tmp_path / "run.txt"
    path.write_text("u Q0 a 1 1.5 t\n")
    runs = {"file": path, "other": {"u": ["a"]}}
    with pytest.raises(
        ValueError, match=r"Only some of the runs are .* Pass convention='trec_eval'"
    ):
        evaluate_run(TRUTH, runs)
    assert set(evaluate_run(TRUTH, runs, convention="trec_eval").reports) == set(runs)


KINDS = {
    "str": str,
    "int": int,
    "tuple": lambda one: ("a", one),
    "UUID": lambda one: uuid.UUID(int=one),
    "tuple of UUID": lambda one: (uuid.UUID(int=one), "a"),
    "bytes": lambda one: str(one).encode(),
    "period": lambda one: pd.Period(year=2000 + one, freq="Y"),
    "instant": lambda one: datetime.datetime(2000, 1, one, tzinfo=datetime.UTC),
    "large int": lambda one: 2**70 + one,
    "huge int": lambda one: 10**5000 + one,
    "below 0": lambda one: -one,
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_judgments_that_moved_between_documents_are_noticed(kind, tmp_path):
    truth = {query: {kind(1): 1, kind(2): 0, kind(3): 2} for query in range(3)}
    moved = truth | {2: {kind(1): 0, kind(2): 1, kind(3): 2}}
    renamed = truth | {2: {kind(1): 1, kind(2): 0, kind(4): 2}}
    lists = {query: [kind(3), kind(1), kind(9)] for query in truth}
    report = evaluate_run(truth, lists, "mrr")
    report.save(tmp_path / "one.json")
    firsts = [report, RankingReport.load(tmp_path / "one.json")]
    shuffled = {query: dict(reversed(row.items())) for query, row in truth.items()}
    same = evaluate_run(shuffled, {query: [kind(1), kind(8)] for query in truth}, "mrr")
    for first in firsts:
        assert isinstance(compare({"one": first, "other": same}), Comparison)
        for other in (moved, renamed):
            differing = evaluate_run(other, lists, "mrr")
            with pytest.raises(
                ValueError, match=r"same documents with the same labels; .* query 2"
            ):
                compare({"one": first, "other": differing})


def test_ids_of_other_types_are_other_documents():
    reports = {
        name: evaluate_run({"q": {kind(1): 1, kind(2): 0}}, {"q": [kind(1)]}, "mrr")
        for name, kind in KINDS.items()
    }
    for name, report in reports.items():
        with pytest.raises(ValueError, match="same documents with the same labels"):
            compare({"str": reports["str" if name != "str" else "UUID"], "other": report})


@pytest.mark.parametrize(
    ("one", "equal"),
    [
        (Decimal(2**53 + 1), 2**53 + 1),
        (Fraction(3), 3),
        (2**70, 2.0**70),
        (10**5000, Fraction(10**5000)),
        ((Decimal(1), "a"), (1.0, "a")),
    ],
    ids=lambda one: type(one).__name__,
)
def test_equal_ids_of_several_types_are_the_same_document(one, equal):
    first = evaluate_run({"q": {one: 1, "z": 0}}, {"q": [one]}, "mrr")
    second = evaluate_run({"q": {equal: 1, "z": 0}}, {"q": [equal]}, "mrr")
    assert isinstance(compare({"first": first, "second": second}), Comparison)


@pytest.mark.parametrize("lowest", [-1, -2.5])
def test_negative_ranks_are_refused(lowest):
    run = pd.DataFrame({"query": ["q", "q"], "document": ["a", "b"], "rank": [lowest, 3]})
    with pytest.raises(ValueError, match=f"run has rank {lowest}, but 1 is the first rank"):
        evaluate_run({"q": ["a"]}, run, columns={"rank": "rank"})


# Several runs that lack different queries


LACKING = {"a": {"q1": ["d"], "q2": ["e"]}, "b": {"q1": ["d"]}}
JUDGED = {"q1": ["d"], "q2": ["e"], "q3": ["f"]}


def test_several_runs_have_no_advice_that_ends_in_an_error():
    found = evaluate_run(JUDGED, LACKING, "mrr")
    findings = found.reports["b"].health.findings
    assert "2 queries (q2, q3) are not in the run and count as 0." in findings


def test_skipping_must_leave_several_runs_the_same_queries():
    message = "missing='skip' would leave different queries in 'a' and 'b', such as 'q2'"
    with pytest.raises(ValueError, match=message):
        evaluate_run(JUDGED, LACKING, "mrr", missing="skip")
    alike = {"a": {"q1": ["d"], "other": ["d"]}, "b": {"q1": ["e"]}}
    skipped = evaluate_run(JUDGED, alike, "mrr", missing="skip").reports
    assert {name: report.mean["mrr"] for name, report in skipped.items()} == {"a": 1.0, "b": 0.0}


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({"q1": {"d": float("nan")}}, "run 'b' has no score for "),
        ({"other": ["d"]}, "run 'b' and qrels share no query"),
        ({"q1": ["d", "d"]}, "run 'b'"),
        (
            {"q1": [("d", 0.5)]},
            "run['b']['q1'] holds pairs of an id and a number; pass dict(run['b']['q1']).",
        ),
    ],
)
def test_errors_of_one_of_several_runs_name_it(run, message):
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        evaluate_run({"q1": ["d"]}, {"a": {"q1": ["d"]}, "b": run}, "mrr")


def test_pairs_of_an_id_and_a_score_in_a_list_are_refused():
    message = "run['q2'] holds pairs of an id and a number; pass dict(run['q2'])."
    for first in ("a", 7):
        pairs = [(first, np.float32(0.5)), ("b", 2)]
        with pytest.raises(TypeError, match=re.escape(message)):
            evaluate_run({"q2": ["a"]}, {"q1": [], "q2": pairs}, "mrr")
    # Pages of documents are ids.
    pages = {"q": [("a", 2), ("a", 1)]}
    assert evaluate_run({"q": [("a", 1)]}, pages, "mrr").mean["mrr"] == 1 / 2
