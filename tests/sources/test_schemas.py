"""Batches and files that disagree on types, and ids of texts."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from skrank_metrics import evaluate, evaluate_batches

NAMES = {"label": "y", "score": "s", "qid": "q", "metrics": "mrr"}
ORDERS = pytest.mark.parametrize("order", ["check", "shuffle"])


def batch(ids, labels, scores, kind=None):
    return pa.table({"y": labels, "s": pa.array(scores, kind), "q": ids})


def two_files(folder, first, second):
    paths = []
    for name, content in (("a", first), ("b", second)):
        if isinstance(content, pa.Table):
            paths.append(folder / f"{name}.parquet")
            pq.write_table(content, paths[-1])
        else:
            paths.append(folder / f"{name}.csv")
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
        {"y": np.array([0, 0.5]), "s": np.array([1.5, 0.5]), "q": ["a", "b"]},
        {"y": [False], "s": [0], "q": ["b"]},
    ]
    assert evaluate_batches(source, **NAMES, order=order).mean == {"mrr": (1 / 2 + 1) / 2}


def test_integers_that_floats_cannot_hold_are_an_error():
    source = [{"y": [1], "s": [2**53 + 1], "q": ["a"]}, {"y": [1], "s": [0.5], "q": ["a"]}]
    with pytest.raises(ValueError, match=r"column 's' must have values that double can hold.*9007199254740993"):
        evaluate_batches(source, **NAMES)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (([7], ["07"]), "of type string in the source from row 1 on, but int64 before. Convert the column"),
        ((["7"], [7]), "of type int64 in the source from row 1 on, but string before"),
        (([7], [7.0]), "of type double .* but int64 before"),
        (([b"7"], ["7"]), "of type string .* but binary before"),
        ((np.array(["2001-01-01"], "M8[s]"), ["2001-01-01"]), "of type string .* but timestamp"),
    ],
)
def test_ids_of_different_kinds_are_an_error(ids, message):
    source = [{"y": [1], "s": [1.0], "q": one} for one in ids]
    with pytest.raises(ValueError, match=f"column 'q' must have one type in all batches and files; it is {message}"):
        evaluate_batches(source, **NAMES)


@ORDERS
@pytest.mark.parametrize(
    "ids",
    [
        (np.array([7], np.int8), np.array([7], np.uint64)),
        (np.array([7], np.uint32), np.array([7], np.int64)),
        (pa.array(["7"]), pa.array(["7"], pa.large_string())),
        (np.array(["2001-01-01"], "M8[s]"), np.array(["2001-01-01"], "M8[us]")),
    ],
)
def test_ids_of_one_kind_are_one_query(ids, order):
    source = [{"y": [label], "s": [1.0 - label], "q": one} for label, one in enumerate(ids)]
    report = evaluate_batches(source, **NAMES, order=order)
    assert (report.n_queries, report.mean) == (1, {"mrr": 1 / 2})


@pytest.mark.parametrize(
    "ids",
    [
        ("001", "1"),
        ("1", "001"),
        ("1.10", "1.1"),
        ("9007199254740993.0", "9007199254740992.0"),
        ("1", "+1"),
        ("0", "-0"),
    ],
)
def test_ids_of_a_text_that_look_like_equal_numbers_differ(ids, tmp_path):
    (tmp_path / "a.csv").write_text("y,s,q,b\n" + "".join(f"1,2.5,{one},{one}\n" for one in ids))
    report = evaluate_batches(tmp_path / "a.csv", **NAMES, by="b")
    assert report.qid.tolist() == list(ids)
    assert set(report.slices) == set(ids)


@pytest.mark.parametrize("ids", [("x", "1", "2"), ("1", "x", "2"), ("1", "2", "x")])
@ORDERS
def test_ids_of_several_texts_are_strings_if_one_of_them_has_others(ids, order, tmp_path):
    for number, one in enumerate(ids):
        (tmp_path / f"{number}.csv").write_text(f"y,s,q\n{number % 2},2.5,{one}\n")
    report = evaluate_batches([tmp_path / f"{n}.csv" for n in range(3)], **NAMES, order=order)
    assert sorted(report.qid.tolist()) == sorted(ids)
    assert report.mean == {"mrr": 1 / 3}


def test_integers_of_a_text_are_those_of_evaluate(tmp_path):
    ids = [-7, -7, 0, 2**63 - 1, 9007199254740993, 9007199254740992]
    (tmp_path / "a.csv").write_text("y,s,q,b\n" + "".join(f"1,2.5,{one},{one % 2}\n" for one in ids))
    report = evaluate_batches(tmp_path / "a.csv", **NAMES, by="b")
    expected = evaluate([1] * 6, [2.5] * 6, qid=ids, by=[one % 2 for one in ids], metrics="mrr")
    assert report.qid.tolist() == expected.qid.tolist()
    assert list(report.slices) == list(expected.slices)
    (tmp_path / "a.csv").write_text(f"y,s,q\n1,2.5,{2**63}\n")
    assert evaluate_batches(tmp_path / "a.csv", **NAMES).qid.tolist() == [str(2**63)]


@pytest.mark.slow
def test_one_string_makes_strings_of_all_ids_of_a_text(tmp_path):
    # pyarrow decides on types by the first block, of one megabyte.
    rows = "".join(f"{row % 2},{row % 7},{row // 100}\n" for row in range(150_000))
    (tmp_path / "a.csv").write_text(f"y,s,q\n{rows}1,2,x\n")
    report = evaluate_batches(tmp_path / "a.csv", **NAMES)
    assert report.qid.tolist() == [*map(str, range(1500)), "x"]
    paths = two_files(tmp_path, "y,s,q\n1,2.5,1\n", "y,s,q\n0,3.5,1\n1,2.5,01\n")
    report = evaluate_batches(paths, **NAMES)
    assert report.qid.tolist() == ["1", "01"]
    assert report.mean == {"mrr": (1 / 2 + 1) / 2}


def test_files_of_ids_of_different_kinds_are_named(tmp_path):
    paths = two_files(tmp_path, batch([1], [1], [1.0]), "y,s,q\n1,2.5,01\n")
    with pytest.raises(ValueError, match=r"column 'q' must.* is of type string in .*b\.csv from line 2 on, but int64"):
        evaluate_batches(paths, **NAMES)


def test_texts_are_in_utf_8(tmp_path):
    text = "y,s,q\n1,2.5,é\n"
    for content in (text.encode("latin-1"), "y,s,q,é\n1,2.5,a,b\n".encode("latin-1"), b"y,s,q\n1,2.5,7\n1,2.5,\xe9\n"):
        paths = two_files(tmp_path, text, content)
        with pytest.raises(ValueError, match=r"b\.csv must be a text file in UTF-8; .*Save it as UTF-8"):
            evaluate_batches(paths, **NAMES)
    assert evaluate_batches(paths[0], **NAMES).qid.tolist() == ["é"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("y,s,q\n1,2.5,a\n\n\n1,,a\n", 5),
        ('y,s,q\r\n1,2.5,"a\r\nb"\r\n1,,a\r\n', 4),
        ("\ny,s,q\n1,,a", 3),
    ],
)
def test_blank_lines_and_cells_of_several_lines_are_counted(text, line, tmp_path):
    (tmp_path / "a.csv").write_bytes(text.encode())
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(text.encode()))
    for name in ("a.csv", "a.csv.gz"):
        with pytest.raises(ValueError, match=rf"column 's' must not hold nulls; got one in line {line} of .*{name}"):
            evaluate_batches(tmp_path / name, **NAMES)


def test_a_null_names_the_file(tmp_path):
    rows = batch(["a", "b"], [1, 1], [1.0, 2.0])
    paths = two_files(tmp_path, rows, batch(["c", None], [1, 1], [1.0, 2.0]))
    with pytest.raises(ValueError, match=r"column 'q' must not hold nulls; got one in row 1 of .*b\.parquet"):
        evaluate_batches(paths, **NAMES)
    paths = two_files(tmp_path, rows, "y,s,q\n1,2.5,c\n1,,c\n")
    with pytest.raises(ValueError, match=r"column 's' must not hold nulls; got one in line 3 of .*b\.csv"):
        evaluate_batches(paths, **NAMES)
