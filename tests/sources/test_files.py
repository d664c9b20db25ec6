"""Batches and files that disagree on types, and what text files may hold."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from skrank_metrics import evaluate_run, make_metric
from skrank_metrics.sources import evaluate_batches

NAMES = {"label": "y", "score": "s", "qid": "q", "metrics": "mrr"}
ORDERS = pytest.mark.parametrize("order", ["check", "shuffle"])


def batch(ids, labels, scores, kind=None):
    return pa.table({"y": labels, "s": pa.array(scores, kind), "q": ids})


def two_files(folder, *contents):
    paths = []
    for name, content in zip("ab", contents, strict=True):
        ending = "parquet" if isinstance(content, pa.Table) else "csv"
        paths.append(folder / f"{name}.{ending}")
        if isinstance(content, pa.Table):
            pq.write_table(content, paths[-1])
        else:
            paths[-1].write_bytes(content.encode() if isinstance(content, str) else content)
    return paths


@ORDERS
@pytest.mark.parametrize("exact_first", [False, True])
def test_scores_of_a_wider_type_are_not_rounded(order, exact_first, tmp_path):
    # As float32, both scores of "b" are 1, a tie with MRR 3/4.
    rough = batch(["a", "a"], [1, 0], [2.0, 1.0], pa.float32())
    exact = batch(["b", "b"], [1, 0], [1.0, 1 + 1e-9], pa.float64())
    paths = two_files(tmp_path, *((exact, rough) if exact_first else (rough, exact)))
    assert evaluate_batches(paths, **NAMES, order=order).mean == {"mrr": (1 + 1 / 2) / 2}


@ORDERS
def test_whole_numbers_may_have_decimals_in_a_later_batch(order):
    # "a" goes on in the second batch: its relevant document is at rank 2, that of "b" at rank 1.
    source = [
        {"y": [1], "s": [1], "q": ["a"]},
        {
            "y": np.array([0, 0.5]),
            "s": np.array([1.5, 0.5]),
            "q": ["a", "b"],
        },
        {"y": [False], "s": [0], "q": ["b"]},
    ]
    assert evaluate_batches(source, **NAMES, order=order).mean == {"mrr": (1 / 2 + 1) / 2}


def test_integers_that_floats_cannot_hold_are_an_error():
    source = [
        {
            "y": [1],
            "s": [2**53 + 1],
            "q": ["a"],
        },
        {"y": [1], "s": [0.5], "q": ["a"]},
    ]
    with pytest.raises(
        ValueError, match=r"column 's' must hold numbers from .*; got 9007199254740993"
    ):
        evaluate_batches(source, **NAMES)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (([7], ["07"]), "int64 vs string in row 1 of the source. Convert the column"),
        ((["7"], [7]), "string vs int64 in row 1 of the source"),
        (([b"7"], ["7"]), "binary vs string"),
        ((np.array(["2001-01-01"], "M8[s]"), ["2001-01-01"]), "timestamp.* vs string"),
    ],
)
def test_ids_of_different_kinds_are_an_error(ids, message):
    source = [{"y": [1], "s": [1.0], "q": one} for one in ids]
    with pytest.raises(
        ValueError, match=f"one type in all batches and files; .*Field q has .* types: {message}"
    ):
        evaluate_batches(source, **NAMES)


@ORDERS
@pytest.mark.parametrize(
    "ids",
    [
        (np.array([7], np.int8), np.array([7], np.uint64)),
        (np.array([7], np.uint32), np.array([7], np.int64)),
        (pa.array(["7"]), pa.array(["7"], pa.large_string())),
        (np.array(["2001-01-01"], "M8[s]"), np.array(["2001-01-01"], "M8[us]")),
        ([7], [7.0]),
    ],
)
def test_ids_of_one_kind_are_one_query(ids, order):
    source = [{"y": [label], "s": [1.0 - label], "q": one} for label, one in enumerate(ids)]
    report = evaluate_batches(source, **NAMES, order=order)
    assert (report.n_queries, report.mean) == (1, {"mrr": 1 / 2})


def test_ids_of_a_text_are_strings(tmp_path):
    ids = ["1", "001", "1.10", "1.1", "9007199254740993.0", "9007199254740992.0", "+1", "0", "-0"]
    paths = two_files(
        tmp_path,
        "y,s,q,b\n1,2.5,1,1\n",
        "y,s,q,b\n" + "".join(f"1,2.5,{one},{one}\n" for one in ids),
    )
    report = evaluate_batches(paths, **NAMES, by="b")
    assert set(report.slices) == set(ids)
    assert report.qid.tolist() == ids, "the first goes on in the second file"
    assert report.n_documents == len(ids) + 1


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (
            "y,s,q\n1,2.5,01\n",
            r"Field q has incompatible types: int64 vs string in row 0 of .*b\.csv",
        ),
        (
            batch([1, None], [1, 1], [1.0, 2.0]),
            r"'q' must not hold nulls; got one in row 1 of .*b\.parquet",
        ),
    ],
    ids=["ids of another kind", "a null"],
)
def test_errors_name_the_file(second, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        evaluate_batches(two_files(tmp_path, batch([1], [1], [1.0]), second), **NAMES)


def test_texts_are_in_utf_8(tmp_path):
    text, reason = "y,s,q\n1,2.5,é\n", r"(invalid UTF8|decode byte|got 1: \0)"
    others = "y,s,q,é\n1,2.5,a,b\n".encode("latin-1"), b"y,s,q\n1,2.5,7\n1,2.5,\xe9\n"
    for content in (text.encode("latin-1"), text.encode("utf-16"), *others):
        paths = two_files(tmp_path, text, content)
        with pytest.raises(
            ValueError,
            match=rf"b\.csv must be a file of csv in UTF-8; reading it failed: .*{reason}",
        ):
            evaluate_batches(paths, **NAMES)
    assert evaluate_batches(paths[0], **NAMES).qid.tolist() == ["é"]


@pytest.mark.parametrize(
    "text", ["y,s,q\n1,2.5,a\n\n\n1,,a\n", '\ny,s,q\r\n1,2.5,"a\r\nb"\r\n1,,a\r\n']
)
def test_blank_lines_are_no_rows(text, tmp_path):
    (tmp_path / "a.csv").write_bytes(text.encode())
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(text.encode()))
    for name in ("a.csv", "a.csv.gz"):
        with pytest.raises(
            ValueError, match=rf"column 's' must not hold nulls; got one in row 1 of .*{name}"
        ):
            evaluate_batches(tmp_path / name, **NAMES)


@ORDERS
@pytest.mark.parametrize("rows", [3, 30_000])  # 30,000 rows are several blocks
def test_cells_of_csv_may_hold_lines(order, rows, tmp_path):
    # Each title looks like a judged row of "a"; nobody may add rows through a cell.
    title = '"a title\n1,9,a,\n""quoted"""'
    lines = [f"{row % 2},{row % 2},{row // 2},{title}\n" for row in range(rows)]
    text = "".join(lines)
    (tmp_path / "a.csv").write_text(f"y,s,q,title\n{text}")
    report = evaluate_batches(tmp_path / "a.csv", **NAMES, order=order)
    assert (report.n_documents, report.n_queries) == (rows, (rows + 1) // 2)
    (tmp_path / "a.csv").write_text(f"y,s,q,title\n{text}0,,z,b\n")
    with pytest.raises(
        ValueError, match=rf"column 's' must not hold nulls; got one in row {rows} of"
    ):
        evaluate_batches(tmp_path / "a.csv", **NAMES, order=order)


@ORDERS
def test_tsv_has_no_quotes(order, tmp_path):
    rows = [
        '1\t2\ta\t"Heroes" and others',
        "0\t3\ta\tplain",
        '1\t1\tb\t"open',
        "0\t0\tb\tx",
        '1\t1\t"c"\ty"',
    ]
    (tmp_path / "a.tsv").write_text("y\ts\tq\ttitle\n" + "\n".join(rows))
    report = evaluate_batches(tmp_path / "a.tsv", **NAMES, order=order)
    found = dict(zip(report.qid.tolist(), report.per_query["mrr"].tolist(), strict=True))
    assert found == {"a": 1 / 2, "b": 1, '"c"': 1}
    (tmp_path / "a.tsv").write_text("y\ts\tq\ttitle\n" + "\n".join([*rows, "1\tx\td\t"]))
    with pytest.raises(
        TypeError, match=r"score must be a column of numbers; 's' of .*a\.tsv is not: .*'x'"
    ):
        evaluate_batches(tmp_path / "a.tsv", **NAMES, order=order)


def test_numbers_and_masks_of_a_text(tmp_path):
    text = "y,s,q,j,t\n1, 1.5 ,a, true ,b\n0,2,a,False,b\n1e0,-inf,b,1,b\nnan,inf,b,0,b\n"
    (tmp_path / "a.csv").write_text(text)
    report = evaluate_batches(tmp_path / "a.csv", **NAMES, judged="j")
    assert report.per_query["mrr"].tolist() == [1 / 2, 1 / 2]
    with pytest.raises(
        TypeError, match=r"judged must be .* True and False; 't' of .*a\.csv is not: .*value: b"
    ):
        evaluate_batches(tmp_path / "a.csv", **NAMES, judged="t")
    (tmp_path / "a.csv").write_text("y,s,q\nTrue,2,a\nFALSE,3,a\n")
    assert evaluate_batches(tmp_path / "a.csv", **NAMES).mean == {"mrr": 1 / 2}
    (tmp_path / "a.csv").write_text(text.replace("nan", "1_0"))
    with pytest.raises(
        TypeError, match=r"label must be a column of numbers; 'y' of .*a\.csv is not: .*'1_0'"
    ):
        evaluate_batches(tmp_path / "a.csv", **NAMES)


def test_a_packed_file_that_was_cut_is_named(tmp_path):
    data = gzip.compress(b"y,s,q\n" + b"1,2.5,a\n" * 1000)
    (tmp_path / "a.csv.gz").write_bytes(data[: len(data) // 2])
    with pytest.raises(
        ValueError, match=r"a\.csv\.gz must be a complete gzip file, since it starts like one"
    ):
        evaluate_batches(tmp_path / "a.csv.gz", **NAMES)


def test_scores_in_the_place_of_ranks_are_not_taken_for_ranks(tmp_path):
    # As ranks, larger scores would be the worse ones; that two are equal shows that they are no ranks.
    run = tmp_path / "run.tsv"
    run.write_text("q\ta\t7\nq\tb\t7\nq\tc\t1\n")
    with pytest.raises(ValueError, match="line 1: expected rank 1, since lines of three fields"):
        evaluate_run({"q": ["a"]}, run, "mrr")


@pytest.mark.parametrize("labels", [[True, False], ["true", "false"]])
def test_labels_of_judgments_can_be_true_and_false(labels, tmp_path):
    table = pa.table({"query": ["q", "q"], "document": ["a", "b"], "label": labels})
    path = tmp_path / ("q.csv" if isinstance(labels[0], str) else "q.parquet")
    write = pa.csv.write_csv if path.suffix == ".csv" else pq.write_table
    write(table, path)
    assert evaluate_run(path, {"q": ["b", "a"]}, "mrr").mean == {"mrr": 1 / 2}


def test_an_error_names_labels_as_such(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text("query,document,label\nq,a,1\nq,b,high\n")
    with pytest.raises(TypeError, match="label must be a column of numbers"):
        evaluate_run(path, {"q": ["a"]}, "mrr")


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_labels_of_any_type_must_be_finite(kind):
    labels = np.array([1, 0], dtype=kind)
    good = pa.table({"y": labels, "s": [1.0, 2.0], "q": [1, 1]})
    assert evaluate_batches(good, **NAMES).mean == {"mrr": 1 / 2}
    labels = np.array([np.inf, 0], dtype=kind)
    bad = pa.table({"y": labels, "s": [1.0, 2.0], "q": [1, 1]})
    with pytest.raises(ValueError, match=r"column 'y' must hold numbers from 0 .*; got inf"):
        evaluate_batches(bad, **NAMES)


def first_price(y_true, *, price):
    return 2 * price[0]


def test_columns_of_documents_in_a_text_are_numbers_if_they_can_be(tmp_path):
    (tmp_path / "a.csv").write_text("y,s,q,price,topic\n1,1,a,0.5,x\n0,2,a,1e2,7\n")
    names = {"label": "y", "score": "s", "qid": "q", "documents": "price"}
    metric = make_metric(first_price, documents=["price"])
    assert evaluate_batches(tmp_path / "a.csv", metrics=metric, **names).mean == {
        "first_price": 200
    }
    names |= {"documents": "topic"}
    topics = make_metric(
        lambda y, *, topic: float(topic[0] == "7"), name="seven", documents=["topic"]
    )
    assert evaluate_batches(tmp_path / "a.csv", metrics=topics, **names).mean == {"seven": 1}


def test_queries_slices_and_groups_of_a_text_stay_different_if_they_are_columns_of_documents(
    tmp_path,
):
    (tmp_path / "a.csv").write_text("q,y,s,b,g\n7,1,2,1,05\n7,0,3,1,05\n07,1,2,01,5\n")
    further = {"documents": ["q", "b", "g"], "by": "b", "groups": "g"}
    report = evaluate_batches(tmp_path / "a.csv", **NAMES | {"metrics": "mrr"}, **further)
    assert report.qid.tolist() == ["7", "07"]
    assert report.per_query["mrr"].tolist() == [1 / 2, 1]
    assert list(report.slices) == ["01", "1"]
    assert report.groups.tolist() == ["05", "5"]
