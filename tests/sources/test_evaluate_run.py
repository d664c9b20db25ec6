"""Lists by id: all kinds of sources give one result, that of peers, and nothing is joined silently."""

import gzip
import io
import random

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import pytrec_eval
from support.policies import with_policies

from skrank_metrics import compare, evaluate, evaluate_run, make_metric, trec

QRELS = {
    "q 1": {"a": 2, "b": 0, "c": 1},
    "q2": {"a": 1},
    "q3": {"d": 0},
}
RUN = {
    "q 1": {"a": 0.5, "x": 2.0, "b": 0.5},
    "q2": {"b": 1.0, "a": 0.25},
    "q4": {"a": 1.0},
}
METRICS = ["ndcg@3", "map", "mrr", "recall@2", "judged@2", "bpref", "precision@2"]


def rows(lists, value):
    """Lists as rows of a frame."""
    found = [
        (query, document, one) for query, row in lists.items() for document, one in row.items()
    ]
    heads = ("query", "document", value)
    columns = map(list, zip(*found, strict=True))
    return dict(zip(heads, columns, strict=True))


def per_query(report):
    return {
        name: dict(zip(report.qid.tolist(), values, strict=True))
        for name, values in report.per_query.items()
    }


def random_lists(seed, kind=str):
    """Judgments and a run with ties, queries in one of them only, empty lists, and unjudged documents."""
    rng = random.Random(seed)
    documents = [kind(row * 3) for row in range(30)]
    if kind is str:
        padding = ["x" * rng.randrange(12) for _ in range(30)]
        documents = [f"d{text}{row}" for row, text in enumerate(padding)]
    qrels, run = {}, {}
    for query in map(kind, (1, 2, 30, 4, 5)):
        judged = rng.sample(documents, rng.randrange(1, 15))
        ranked = rng.sample(documents, rng.randrange(1, 25))
        if rng.random() < 0.9:
            qrels[query] = {document: rng.choice([0, 0, 0, 1, 2]) for document in judged}
        if rng.random() < 0.9 or not set(qrels) & set(run):
            scores = [1.0, 2.0, 1 + 1e-9, -1e-5]
            run[query] = {document: rng.choice([rng.random(), *scores]) for document in ranked}
            qrels.setdefault(query, {ranked[0]: 1})
    return qrels, run


def by_hand(qrels, run, metrics=METRICS, **options):
    """Rows of all documents of each query of qrels, evaluated in memory."""
    found = []
    for query, labels in qrels.items():
        scores = run.get(query, {})
        for document in [*scores, *(one for one in labels if one not in scores)]:
            known, ranked = document in labels, document in scores
            label = labels.get(document, 0)
            score = scores.get(document, 0)
            found.append((query, label, score, ranked, known))
    qid, y_true, y_score, retrieved, judged = zip(*found, strict=True)
    return evaluate(
        y_true, y_score, qid=qid, retrieved=retrieved, judged=judged, metrics=metrics, **options
    )


@pytest.mark.option("evaluate_run.convention", "evaluate_run.metrics")
@pytest.mark.option("evaluate_run.condense")
@pytest.mark.parametrize(
    "kind", [str, int, lambda row: (row, "a b"), float, lambda row: bytes([row % 256, row // 256])]
)
@pytest.mark.parametrize("seed", range(10))
def test_equals_an_outer_join(seed, kind):
    qrels, run = random_lists(seed, kind)
    others = (
        {"ties": "worst"},
        {"condense": True},
        {"convention": "lightgbm"},
        {"replace_undefined_by": np.nan},
    )
    for options in ({}, *others):
        report, expected = (
            evaluate_run(qrels, run, **with_policies(METRICS, **options)),
            by_hand(qrels, run, **with_policies(METRICS, **options)),
        )
        assert report.qid.tolist() == list(qrels)
        assert report.condensed == ("condense" in options)
        for name in METRICS:
            np.testing.assert_array_equal(report.per_query[name], expected.per_query[name])


IDS = ["query", "document"]
FRAMES = {
    "pandas": pd.DataFrame,
    "pandas objects": lambda columns: pd.DataFrame(columns).astype(dict.fromkeys(IDS, object)),
    "pandas categories": lambda columns: pd.DataFrame(columns).astype(
        dict.fromkeys(IDS, "category")
    ),
    "polars": pl.DataFrame,
    "polars categories": lambda columns: pl.DataFrame(columns).with_columns(
        pl.col(IDS).cast(pl.Categorical)
    ),
    "pyarrow": pa.table,
    "pyarrow dictionaries": lambda columns: pa.table(
        columns | {name: pa.array(columns[name]).dictionary_encode() for name in IDS}
    ),
}
NAMES = {"query": "user", "document": "item", "label": "rating", "score": "s"}  # of other columns


@pytest.mark.option("evaluate_run.columns")
@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("kind", [str, int])
def test_frames_are_the_same_as_dicts(frame, kind):
    if kind is int and frame == "polars categories":
        pytest.skip("polars has categories of strings only")
    frame = FRAMES[frame]
    for seed in range(5):
        qrels, run = random_lists(seed, kind)
        judged = rows(qrels, "label")
        ranked = rows(run, "score")
        n = len(ranked["query"])
        order = random.Random(seed).sample(range(n), n)
        ranked = {name: [column[row] for row in order] for name, column in ranked.items()}
        renamed = [pd.DataFrame(columns).rename(columns=NAMES) for columns in (judged, ranked)]
        expected = per_query(evaluate_run(qrels, run, METRICS))
        both = evaluate_run(frame(judged), frame(ranked), METRICS)
        one = evaluate_run(qrels, frame(ranked), METRICS)
        with_names = evaluate_run(*renamed, METRICS, columns=NAMES)
        for found in (both, one, with_names):
            assert per_query(found) == expected


def test_ranked_lists_ranks_and_relevant_documents():
    truth = {"u": ["a", "b"], "v": ["c"]}
    lists = {"u": ["b", "x", "a"], "v": ["a", "c"]}
    expected = {"map": {"u": (1 + 2 / 3) / 2, "v": 1 / 2}}
    ranked = {
        "query": list("vuvuu"),
        "document": list("caaxb"),
        "rank": [2, 3, 1, 2, 1],
    }
    pairs = pd.DataFrame({"query": list("uuv"), "document": list("abc")})
    others = [{query: kind(row) for query, row in lists.items()} for kind in (tuple, np.array)]
    for judged in (
        truth,
        {query: set(row) for query, row in truth.items()},
        pairs,
        pairs.assign(label=1),
    ):
        scored = pd.DataFrame(ranked).assign(score=[-rank for rank in ranked["rank"]])
        for run in (lists, *others, scored):
            assert per_query(evaluate_run(judged, run, "map")) == expected
        for run in (pd.DataFrame(ranked), pl.DataFrame(ranked)):
            found = evaluate_run(judged, run, "map", columns={"rank": "rank"})
            assert per_query(found) == expected
        in_order = pd.DataFrame(ranked).sort_values("rank")
        assert per_query(evaluate_run(judged, in_order, "map")) == expected
    named = pd.DataFrame(ranked).rename(columns={"rank": "place"}).assign(score=1.0)
    assert per_query(evaluate_run(truth, named, "map", columns={"rank": "place"})) == expected
    named = scored.rename(columns={"score": "s"})
    assert per_query(evaluate_run(truth, named, "map", columns={"score": "s"})) == expected


@pytest.mark.option("evaluate_run.queries")
def test_arrays_of_ids():
    truth = {
        7: {3: 1, 4: 1},
        8: {5: 1},
        9: {3: 1},
    }
    found = {"map": {7: 1 / 2 / 2, 8: 0, 9: 1}}
    array = np.array(
        [
            [1, 3, -1],
            [-1, -1, -1],
            [3, 2, 1],
        ]
    )
    others = [np.where(array < 0, nothing, array) for nothing in (None, np.nan)]
    for queries in ([7, 8, 9], np.array([7, 8, 9]), pd.Series([7, 8, 9])):
        for run in (array, array.astype(np.int32), *others):
            assert per_query(evaluate_run(truth, run, "map", queries=queries)) == found
    with_empty = evaluate_run(truth, array, "map", queries=[7, 8, 9], missing="error")
    assert with_empty.n_queries == 3, "an empty list is one"
    negative = evaluate_run({7: {-5: 1}}, np.array([[-5, -1]]), "map", queries=[7])
    assert negative.mean == {"map": 1}, "only -1 is padding"
    large = 2**63 + 5
    array = np.array([[3, large]], dtype=np.uint64)
    assert evaluate_run({7: [large]}, array, "map", queries=[7]).mean == {"map": 1 / 2}


def as_files(qrels, run):
    """Files of TREC."""
    return (
        io.StringIO(
            "".join(
                f"{query} 0 {d} {label}\n"
                for query, row in qrels.items()
                for d, label in row.items()
            )
        ),
        io.StringIO(
            "".join(
                f"{query} Q0 {d} 0 {s!r} x\n" for query, row in run.items() for d, s in row.items()
            )
        ),
    )


MEASURES = {
    "map",
    "bpref",
    "recip_rank",
    "Rprec",
    "ndcg",
    "P_5",
    "recall_10",
    "ndcg_cut_5",
    "map_cut_3",
    "success_1",
}


@pytest.mark.parametrize("seed", range(100))
def test_pytrec_eval_on_random_lists(seed):
    qrels, run = random_lists(seed)
    expected = pytrec_eval.RelevanceEvaluator(qrels, MEASURES).evaluate(run)
    frames = pd.DataFrame(rows(qrels, "label")), pl.DataFrame(rows(run, "score"))
    for judged, ranked in ((qrels, run), frames, as_files(qrels, run)):
        report = evaluate_run(
            judged, ranked, sorted(MEASURES), convention="trec_eval", missing="skip"
        )
        assert set(report.qid) == set(expected)
        for row, query in enumerate(report.qid):
            found = {name: report.per_query[name][row] for name in MEASURES}
            assert found == pytest.approx(expected[query], abs=1e-12)


def without_ties(run):
    return {
        query: {d: s + 1e-6 * place for place, (d, s) in enumerate(row.items())}
        for query, row in run.items()
    }


@pytest.mark.parametrize("seed", range(50))
def test_ir_measures_on_random_dicts(seed):
    ir_measures = pytest.importorskip("ir_measures")
    names = {"nDCG@5": "ndcg@5", "AP": "map", "RR": "mrr", "P@3": "precision@3", "R@4": "recall@4"}
    names["Judged@5"] = "judged@5"
    qrels, run = random_lists(seed)
    run = without_ties(run)
    measures = [ir_measures.parse_measure(name) for name in names]
    mine = per_query(
        evaluate_run(qrels, run, [*names.values()], convention="ir_measures", missing="skip")
    )
    for found in ir_measures.iter_calc(measures, qrels, run):
        value = mine[names[str(found.measure)]].get(found.query_id)
        if value is None:  # it counts queries without a list as 0
            assert (found.query_id in run, found.value) == (False, 0)
        else:
            assert value == pytest.approx(found.value, abs=1e-12)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_ranx_on_random_dicts():
    ranx = pytest.importorskip("ranx")
    names = ["ndcg@5", "map", "mrr", "precision@3", "recall@4"]
    for seed in range(30):
        qrels, run = random_lists(seed)
        qrels = {
            query: {one: max(label, 0) for one, label in row.items()}
            for query, row in qrels.items()
        }
        qrels = {query: row for query, row in qrels.items() if any(row.values())}
        run = without_ties({query: run.get(query, {"none": 0.0}) for query in qrels})
        if not qrels:
            continue
        expected = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), names, return_mean=False)
        mine = per_query(evaluate_run(qrels, run, names))
        for name in names:
            found = [mine[name][query] for query in sorted(qrels)]  # its order
            assert found == pytest.approx(list(expected[name]), abs=1e-12)


@pytest.mark.option("evaluate_run.missing")
def test_queries_without_a_list():
    zero = evaluate_run(QRELS, RUN, "recall@2")
    assert zero.qid.tolist() == ["q 1", "q2", "q3"]
    assert zero.mean == {"recall@2": ((1 / 2 * (1 / 2)) + 1 + 0) / 3}, "a and b tie for rank 2"
    assert zero.health.findings[:2] == (
        "1 query (q3) is not in the run and counts as 0; missing='skip' leaves it out.",
        "1 query (q4) of the run has no judgments and is ignored.",
    )
    skip = evaluate_run(QRELS, RUN, "recall@2", missing="skip")
    assert skip.qid.tolist() == ["q 1", "q2"]
    assert (
        skip.health.findings[0]
        == "1 query (q3) is not in the run and is left out; missing='zero' counts it as 0."
    )
    assert evaluate_run(QRELS, RUN | {"q3": {}}, "mrr", missing="error").n_queries == 3
    assert evaluate_run({"q": ["a"], "none": []}, {"q": ["a"]}, "mrr").per_query[
        "mrr"
    ].tolist() == [1, 0]
    for convention in ("sklearn", "trec_eval"):
        empty = evaluate_run({"q": ["a"]}, {"q": []}, "mrr", convention=convention)
        assert empty.mean == {"mrr": 0}


def test_a_document_of_another_query_shows_that_the_ids_agree():
    assert evaluate_run({"q": ["a"], "r": ["b"]}, {"q": ["b"]}, "mrr").mean == {"mrr": 0}
    assert evaluate_run({"q": ["a"]}, {"q": ["a"]}, "mrr", exclude={"q": ["a"]}).mean == {"mrr": 0}


@pytest.mark.option("evaluate_run.exclude")
def test_pairs_to_exclude():
    truth = {"u": ["a", "b"], "v": ["a"]}
    run = {"u": ["x", "a", "b"], "v": ["x", "a"]}
    frame = pd.DataFrame({"query": ["u", "u", "w"], "document": ["x", "a", "x"]})
    for exclude in (
        {"u": ["x", "a"], "w": ["x"]},
        {"u": {"x", "a"}},
        [("u", "x"), ("u", "a"), ("w", "x")],
        frame,
    ):
        # In the list of "u", only b remains, one of the two relevant documents; nothing changes for "v".
        report = evaluate_run(truth, run, "map", exclude=exclude)
        assert per_query(report) == {"map": {"u": 1 / 2, "v": 1 / 2}}
    for exclude in ([], {}, frame[:0]):
        assert (
            evaluate_run(truth, run, "map", exclude=exclude).mean
            == evaluate_run(truth, run, "map").mean
        )


@pytest.mark.option("evaluate_run.by", "evaluate_run.groups", "evaluate_run.sample_weight")
@pytest.mark.parametrize("kind", [dict, pd.Series])
def test_slices_groups_and_weights_by_query_id(kind):
    kinds = {"q 1": "x", "q2": None, "q3": "x", "z": "z"}
    weights = {"q 1": 3, "q2": 1, "q3": 0}
    columns = {
        "by": kind(kinds),
        "groups": kind(dict.fromkeys(QRELS, "u")),
        "sample_weight": kind(weights),
    }
    report = evaluate_run(QRELS, RUN, "mrr", **columns)
    sizes = {name: part.n_queries for name, part in report.slices.items()}
    assert sizes == {"x": 2, None: 1}
    assert report.groups.tolist() == ["u"] * 3
    of_first = (1 / 2 + 1 / 3) / 2
    assert report.mean["mrr"] == pytest.approx((3 * of_first + 1 / 2) / 4)


PRICES = {"a": 3.0, "b": 5.0, "c": 7.0, "d": 0.0, "x": 1.0}
TABLE = pd.DataFrame({"document": list(PRICES), "price": list(PRICES.values())})


def revenue(labels, price, unranked=()):
    return float(sum(labels[:2] * price[:2]))


OWN = {"metrics": make_metric(revenue, documents=["price"])}


@pytest.mark.option("evaluate_run.documents")
def test_columns_of_documents():
    run = {"q 1": ["b", "a"], "q2": ["x", "a"]}
    own = TABLE.rename(columns={"document": "item"})
    frames = [
        TABLE,
        TABLE.set_index("document"),
        pl.DataFrame(TABLE.to_dict("list")),
        pa.table(TABLE.to_dict("list")),
    ]
    for documents in ({"price": PRICES}, {"price": pd.Series(PRICES)}, *frames):
        report = evaluate_run(QRELS, run, documents=documents, **OWN)
        expected = {"q 1": 0 * 5 + 2 * 3, "q2": 0 * 1 + 1 * 3, "q3": 0}
        assert per_query(report)["revenue"] == expected
    assert evaluate_run(QRELS, run, documents=own, **OWN).mean == report.mean


def test_reports_over_the_same_qrels_compare_whatever_was_returned():
    rng = random.Random(0)
    qrels = {
        query: {document: rng.choice([0, 1, 2]) for document in rng.sample(range(50), 9)}
        for query in range(30)
    }
    reports = {}
    for name, size in (("few", 3), ("many", 20), ("none of some", 0)):
        run = {query: rng.sample(range(50), size) for query in range(0, 30, 1 if size else 2)}
        reports[name] = evaluate_run(
            qrels, run, ["ndcg@3", "mrr"], by={query: query % 2 for query in qrels}
        )
    assert len(compare(reports, "ndcg@3", random_state=0).pairs()) == 3
    reports["other"] = evaluate_run(qrels | {3: {1: 2}}, {0: [1]}, "ndcg@3")
    with pytest.raises(ValueError, match="differ in query 3"):
        compare(reports, "ndcg@3")


def test_negative_labels_mean_not_judged_only_in_trec(tmp_path):
    qrels = {"1": {"a": 1, "b": -1, "c": 0, "d": -1}}
    run = {"1": {"b": 3, "a": 2, "c": 1}}
    report = evaluate_run(qrels, run, ["recip_rank", "bpref", "judged@3"], convention="trec_eval")
    assert report.mean == {"recip_rank": 1 / 2, "bpref": 1.0, "judged@3": 2 / 3}
    assert report.n_documents == 3, "d was neither returned nor judged"
    table = tmp_path / "qrels.csv"
    rows = [f"1,{document},{label}\n" for document, label in qrels["1"].items()]
    table.write_text("query,document,label\n" + "".join(rows))
    of_table = evaluate_run(table, run, list(report.metrics), convention="trec_eval")
    assert of_table.mean == report.mean
    assert evaluate_run(as_files(qrels, {})[0], run, "mrr", convention="sklearn").mean == {
        "mrr": 1 / 2
    }
    with pytest.raises(
        ValueError,
        match=r">= 0; got -1 for document 'b' of query '1' in qrels\. In the conventions .*'trec_eval'",
    ):
        evaluate_run(qrels, run)


@pytest.mark.parametrize(
    "documents",
    [
        (9, 10),
        ("9", "10"),
        ("ab", "a"),
        ("z", "é"),
        ("é", "z"),
    ],
)
def test_ids_of_documents_break_ties_in_the_convention_of_trec_eval(documents):
    report = evaluate_run(
        {"q": [documents[0]]}, {"q": dict.fromkeys(documents, 1.0)}, "mrr", convention="trec_eval"
    )
    first = max(documents, key=lambda one: str(one).encode()) == documents[0]
    assert report.mean["mrr"] == (1 if first else 1 / 2)


def test_lines_of_topics_may_alternate():
    run = "".join(f"{topic} Q0 {document} 1 5 tag\n" for document in "ab" for topic in "12")
    report = evaluate_run(
        io.StringIO("1 0 b 1\n2 0 b 1\n"), io.StringIO(run), "recip_rank", convention="trec_eval"
    )
    assert report.per_query["recip_rank"].tolist() == [1, 1]


def test_files_dicts_and_frames_mix(tmp_path):
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("q1 0 a 1\nq1 0 c 1\n")
    run.write_text("q1 Q0 b 1 2 t\nq1 Q0 a 2 1 t\n")
    for judged in (qrels, str(qrels), trec.read_qrels(qrels), {"q1": ["a", "c"]}):
        for ranked in (
            run,
            io.StringIO(run.read_text()),
            trec.read_run(run),
            {"q1": {"b": 2, "a": 1}},
        ):
            assert evaluate_run(judged, ranked, "map").mean == {"map": 1 / 2 / 2}
    tied = {"q1": {"a": 1, "b": 1}}
    assert evaluate_run(qrels, tied, "mrr").mean == {"mrr": (1 + 1 / 2) / 2}, (
        "only runs in the format set the convention"
    )
    assert trec.evaluate_run is evaluate_run
    with pytest.raises(TypeError, match=r"qrels must be .*; got Run"):
        evaluate_run(trec.read_run(run), run)


@pytest.mark.parametrize("kind", [str, int])
def test_tables_of_files_are_the_same_as_frames(kind, tmp_path):
    qrels, run = (
        pd.DataFrame(rows(*one))
        for one in zip(random_lists(0, kind), ("label", "score"), strict=True)
    )
    expected = per_query(evaluate_run(qrels, run, METRICS))
    for suffix, write in (("parquet", "to_parquet"), ("csv", "to_csv"), ("csv.gz", "to_csv")):
        paths = [tmp_path / f"{part}.{suffix}" for part in ("qrels", "run", "seen")]
        for path, frame in zip(paths, (qrels, run, run.drop(columns="score")), strict=True):
            getattr(frame.rename(columns=NAMES), write)(path, index=False)
        found = per_query(evaluate_run(*paths[:2], METRICS, columns=NAMES))
        texts = "csv" in suffix  # whose ids are strings
        assert found == {
            m: {str(q) if texts else q: one for q, one in row.items()}
            for m, row in expected.items()
        }
        given = {"exclude": paths[2], "columns": NAMES}
        assert evaluate_run(*paths[:2], "mrr", **given).mean == {"mrr": 0}
    paths[1].write_bytes(gzip.compress(b"user,item,s\n1,2\n"))
    with pytest.raises(
        ValueError,
        match=r"run\.csv\.gz must be .* csv in UTF-8; reading it failed: .*Expected 3 col",
    ):
        evaluate_run(qrels, paths[1], columns=NAMES)
    (tmp_path / "run.csv").write_text("query,thing,score\n1,2,3\n")
    with pytest.raises(
        ValueError,
        match=r"run\.csv has no column 'document'; name it with columns=\{'document'.*'query', 'thing',",
    ):
        evaluate_run(qrels, tmp_path / "run.csv")


FRAME = pd.DataFrame(
    {
        "query": ["q"],
        "document": ["a"],
        "label": [1],
        "score": [1.0],
    }
)
A, LISTS = {"q": ["a"]}, "a dict of scores or a ranked list"
RANKS = pd.DataFrame(
    {
        "query": ["q", "q"],
        "document": ["a", "b"],
        "rank": [1, 1],
    }
)
NULL = pl.DataFrame({"query": ["q"], "document": [None], "score": [1.0]})
WRONG = [
    ({"301": ["a"]}, {301: ["a"]}, "run has 301, but qrels has the query '301'. .*; convert"),
    ({"301": ["a"]}, {302: ["a"]}, "run and qrels share no query: 302 ... against '301' ..."),
    ({}, A, "qrels is empty: it has no query"),
    (A, {"q": ["a", "b", "a"]}, "run has document 'a' of query 'q' twice"),
    ({"q": ["a", "a"]}, A, "qrels has document 'a' of query 'q' twice"),
    (FRAME, pd.concat([FRAME] * 2), "run has document 'a' of query 'q' twice"),
    (
        {"q": [(1, 2)]},
        {"q": [(1, 2), "x", (1, 2)]},
        r"run has document \(1, 2\) of query 'q' twice",
    ),
    ({"q": {"a": np.nan}}, A, "qrels has no label for document 'a' of query 'q': NaN"),
    (A, {"q": {"a": np.nan}}, "run has no score for document 'a' of query 'q': NaN"),
    (A, {"q": {"b": np.inf, "a": np.nan}}, "run has no score for document 'a' of query 'q': NaN"),
    ({"q": {"a": np.inf}}, A, "Labels must be finite and >= 0; got inf"),
    ({"q": {"a": None}}, A, "labels of qrels must hold real numbers; got None"),
    (FRAME.assign(label="x"), FRAME, "labels of qrels must hold real numbers"),
    (FRAME, FRAME[:0], "run is empty: it has no query"),
    (A, {"q": {"a": "1.5"}}, "scores of run must hold real numbers"),
    ({"q": ["a"], "r": {"a": 1}}, A, "qrels must have dicts for all queries, or for none"),
    ({"q": "a"}, A, r"qrels\['q'\] is the text 'a'"),
    (A, {"q": {"a"}}, f"run must have {LISTS} for each query; got set for 'q'"),
    (A, {"q": pd.Series({"a": 1})}, f"run must have {LISTS} for each query; got Series for 'q'"),
    (
        {"q": pd.Series({"a": 1})},
        A,
        "qrels must have a dict or the documents for each query; got Series for 'q'",
    ),
    ({"q": [["a"]]}, A, "qrels must hold hashable values"),
    ({"q": ["a", None]}, A, "qrels must not hold missing ids"),
    ({"q": {"a": 1, None: 1}}, {"q": {"a": 1}}, "qrels must not hold missing ids"),
    (FRAME, NULL, "must not hold missing ids"),
    (FRAME, FRAME.drop(columns="score"), "run has no column 'score'; name it with columns="),
    (
        FRAME.drop(columns="label"),
        FRAME,
        "qrels has no column 'label'; name it with columns=.*, or pass only the queries and documents",
    ),
    (
        FRAME[["query", "document"]],
        FRAME,
        "qrels has no column 'rating'. Columns: 'query', 'document'",
        {"columns": {"label": "rating"}},
    ),
    (
        FRAME,
        RANKS,
        "run has rank 1 twice, again for document 'b' of query 'q'",
        {"columns": {"rank": "rank"}},
    ),
    (None, FRAME, "qrels must be dicts of labels .*; got NoneType"),
    (FRAME, ["q Q0 a 1 1 t"], "run must be dicts of scores .*; got list"),
    ([["a"]], A, r"qrels must be .*; pass dict\(enumerate\(qrels\)\), the lists by their number"),
    (A, [["a"]], r"run must be .*; pass dict\(enumerate\(run\)\), the lists by their number"),
    (A, b"q Q0 a 1 1 t", "run must be dicts of scores .*; got bytes"),
    (
        FRAME,
        RANKS.assign(rank=[1, 2], score=[1, 2]),
        "Scores and ranks of run disagree",
        {"columns": {"rank": "rank", "score": "score"}},
    ),
    *(
        (
            FRAME,
            FRAME,
            rf"columns\['{name}'\] must be a dict of names by role; got ",
            {"columns": {name: names}},
        )
        for name, names in (("qrels", None), ("qrels", ["query"]), ("run", 3), ("run", "score"))
    ),
    (A, A, "by must hold one value per query, 1 in all; got", {"by": {"q": ["x", "y"]}}),
    (A, A, "missing must be one of", {"missing": "mean"}),
    (QRELS, RUN, "run has no list for 1 query of qrels, such as 'q3'", {"missing": "error"}),
    (A, A, "exclude must be .* got others than tuples of two ids", {"exclude": ["ab"]}),
    (A, A, "There is no such file, or folder of tables, for exclude", {"exclude": "train.txt"}),
    (QRELS, RUN, "by has no value for 1 query, such as 'q3'", {"by": {"q 1": 1, "q2": 2}}),
    (
        QRELS,
        RUN,
        "by must be a dict, or a Series with the query ids as index; got list",
        {"by": ["x", "y", "z"]},
    ),
    (A, A, "groups has a query twice in its index", {"groups": pd.Series(1, index=["q", "q"])}),
    (A, A, "sample_weight contains -1", {"sample_weight": {"q": -1}}),
    (
        {7: [3]},
        [[3, 4]],
        "queries must have the same length as run; got 2 and 1",
        {"queries": [7, 8]},
    ),
    ({7: [3]}, [[3], [4], [5]], "queries has 8 twice", {"queries": [7, 8, 8]}),
    ({7: [3]}, [[3, 3]], "run has document 3 of query 7 twice", {"queries": [7]}),
    ({7: [3]}, np.array([[3]]), "run must be .*; pass queries=, the query id of each row"),
    ({7: [3]}, {7: [3]}, "queries= applies only to a run that is a 2-D array", {"queries": [7]}),
    (A, A, "metric 'revenue' needs documents=", OWN),
    (
        QRELS,
        RUN,
        r"documents\['price'\] has no value for 4 .* 'x'",
        OWN | {"documents": {"price": {"a": 1.0}}},
    ),
    (A, A, "documents has a document twice", OWN | {"documents": pd.concat([TABLE] * 2)}),
    (
        A,
        A,
        "documents has no column 'document' of ids; name it",
        OWN | {"documents": pl.DataFrame({"price": [1.0]})},
    ),
    (
        A,
        A,
        r"documents\['price'\] must be a dict, or a Series with the document ids as index",
        OWN | {"documents": {"price": [1.0]}},
    ),
]


@pytest.mark.parametrize("case", WRONG, ids=range(len(WRONG)))
def test_errors_name_what_is_wrong(case):
    qrels, run, message, *options = case
    with pytest.raises((TypeError, ValueError, OSError), match=message):
        evaluate_run(qrels, run, **dict(*options))
