import functools
import io
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.policies import with_policies
from support.tables import METRICS, check, in_memory, make_table
from support.terminal import Terminal

from skrank_metrics import make_metric
from skrank_metrics._output import progress
from skrank_metrics.decisions import Comparison
from skrank_metrics.sources import batches, evaluate_batches

NAMES = {"label": "y", "score": "s", "qid": "q", "metrics": METRICS}
ORDERS = pytest.mark.parametrize("order", ["check", "shuffle"])


@pytest.fixture(autouse=True)
def few_parts(monkeypatch):
    monkeypatch.setattr(batches, "N_FILES", 8)


SIZES = np.random.default_rng(0).integers(1, 20, 80)
TABLE = make_table(SIZES)
SHUFFLED = TABLE.take(np.random.default_rng(1).permutation(len(TABLE)))


def written(write, path, **options):
    write(TABLE, path, **options)
    return path


def write_several(path):
    # The last query of the first file goes on in the second.
    for name, part in (("a", TABLE.slice(0, 203)), ("b", TABLE.slice(203))):
        pq.write_table(part, path / f"{name}.parquet")
    return [path / "a.parquet", str(path / "b.parquet")]


def pieces(table, size):
    return (table.slice(start, size) for start in range(0, len(table), size))


SOURCES = {
    "parquet": lambda folder: written(pq.write_table, folder / "a.parquet", row_group_size=100),
    "csv": lambda folder: str(written(pa.csv.write_csv, folder / "A.CSV")),
    "feather": lambda folder: written(pa.feather.write_feather, folder / "a.feather", chunksize=70),
    "several files": write_several,
    "table": lambda _: TABLE,
    "reader": lambda _: TABLE.to_reader(max_chunksize=33),
    "polars": lambda _: pl.from_arrow(TABLE),
    "pandas": lambda _: TABLE.to_pandas(),
    "dicts": lambda _: (
        {name: part[name].to_numpy() for name in "ysq"} for part in pieces(TABLE, 57)
    ),
    "tables": lambda _: pieces(TABLE, 57),
    "record batches": lambda _: TABLE.to_batches(max_chunksize=57),
    "frames": lambda _: (pl.from_arrow(part) for part in pieces(TABLE, 57)),
}


@pytest.mark.option("evaluate_batches.batch_rows", "evaluate_batches.order")
@ORDERS
@pytest.mark.parametrize("source", SOURCES)
def test_equals_evaluate_on_all_rows(source, order, tmp_path):
    expected = in_memory(
        TABLE.set_column(3, "q", TABLE["q"].cast(pa.string())) if source == "csv" else TABLE
    )
    check(
        evaluate_batches(SOURCES[source](tmp_path), **NAMES, batch_rows=90, order=order), expected
    )


@pytest.mark.slow
@given(st.integers(20, 1000), st.integers(1, 1000))
@pytest.mark.option("evaluate_batches.metrics", "evaluate_batches.label", "evaluate_batches.score")
def test_batches_of_any_size_change_no_bit(size, batch_rows):
    # These are values whose last bits do not depend on other queries.
    metrics = ["mrr", "hit_rate@3"]
    report = evaluate_batches(
        pieces(TABLE, size), **NAMES | {"metrics": metrics}, batch_rows=batch_rows
    )
    assert report.mean == in_memory(TABLE, metrics=metrics).mean
    assert report.qid.tolist() == list(dict.fromkeys(TABLE["q"].to_pylist()))


@pytest.mark.option("evaluate_batches.n_threads", "evaluate_batches.qid")
@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("kind", ["int64", "string", "dictionary", "timestamp"])
def test_rows_in_any_order(kind, n_threads):
    table = make_table(SIZES, kind)
    order = np.random.default_rng(1).permutation(len(table))
    shuffled = table.take(order)
    names = NAMES | {"order": "shuffle", "n_threads": n_threads, "batch_rows": 100}
    report = evaluate_batches(shuffled, **names)
    again = evaluate_batches(table, **names)
    expected = in_memory(TABLE).mean
    assert report.mean == pytest.approx(expected, abs=1e-14)
    assert sorted(report.qid.tolist()) == sorted(again.qid.tolist())
    in_order = evaluate_batches(table, **NAMES, batch_rows=100)
    check(in_order, in_memory(table))


def test_a_query_that_comes_back_is_an_error():
    for source, batch_rows in (
        (SHUFFLED, 50),
        (SHUFFLED, 10_000),
        (pa.concat_tables([TABLE, TABLE.slice(3, 1)]), 100),
    ):
        with pytest.raises(ValueError, match=r"query .* came back.*order='shuffle'"):
            evaluate_batches(source, **NAMES, batch_rows=batch_rows)
    for ids in ("abcb", "abccb"):
        rows = {"y": [1] * len(ids), "s": list(range(len(ids))), "q": list(ids)}
        with pytest.raises(ValueError, match="query 'b' came back"):
            evaluate_batches([rows], **NAMES)


def test_contiguous_queries_of_one_or_two_rows():
    # The relevant documents of 5, 9, 7 and 8 are at rank 2, 1, 1 and 1.
    rows = {
        "y": [0, 1, 1, 1, 1],
        "s": [2.0, 1.0, 1.0, 1.0, 1.0],
        "q": [5, 5, 9, 7, 8],
    }
    assert evaluate_batches([rows], **NAMES | {"metrics": "mrr"}).mean == {
        "mrr": (1 / 2 + 1 + 1 + 1) / 4
    }


@pytest.mark.option(
    "evaluate_batches.sample_weight", "evaluate_batches.retrieved", "evaluate_batches.judged"
)
@pytest.mark.option("evaluate_batches.by", "evaluate_batches.documents", "evaluate_batches.groups")
@ORDERS
def test_further_columns(order):
    def revenue(labels, price, unranked=()):
        return float(sum(labels[:1] * price[:1]))

    table = TABLE.append_column("price", pa.array(np.arange(len(TABLE)) / 8))
    columns = {"sample_weight": "w", "retrieved": "r", "judged": "j", "by": "b", "groups": "q"}
    names = (
        NAMES
        | columns
        | {"metrics": [*METRICS, make_metric(revenue, documents=["price"])], "documents": "price"}
    )
    arrays = {name: table[column].to_numpy() for name, column in columns.items()}
    report = evaluate_batches(table, **names, batch_rows=100, order=order)
    expected = in_memory(
        table, metrics=names["metrics"], documents={"price": table["price"].to_numpy()}, **arrays
    )
    check(report, expected)
    assert report.intervals()["revenue"] == pytest.approx(
        expected.intervals()["revenue"], abs=1e-12
    )


@ORDERS
def test_negative_labels(order):
    labels = TABLE["y"].to_numpy() - 2
    table = TABLE.set_column(0, "y", pa.array(labels))
    row = np.argmax(labels < 0)
    report = evaluate_batches(table, **NAMES | {"metrics": "spearman"}, order=order)
    assert report.mean == pytest.approx(in_memory(table, metrics="spearman").mean)
    for options in ({"metrics": ["spearman", "mrr"]}, {"metrics": "spearman", "judged": "j"}):
        with pytest.raises(
            ValueError,
            match=rf"'y' must hold numbers from 0 to .* got -\d in row {row} of the source",
        ):
            evaluate_batches(table, **NAMES | options, order=order)


@pytest.mark.option("evaluate_batches.score")
def test_several_scores_make_a_comparison():
    masks = {"retrieved": "r", "judged": "j"}
    arrays = {name: TABLE[column].to_numpy() for name, column in masks.items()}
    for table, order in ((TABLE, "check"), (TABLE, "shuffle"), (SHUFFLED, "shuffle")):
        names = NAMES | masks | {"score": ["other", "s"], "batch_rows": 100, "order": order}
        for condense in (False, True):
            comparison = evaluate_batches(table, **names, condense=condense)
            assert isinstance(comparison, Comparison)
            assert set(comparison.reports) == {"other", "s"}
            for name, report in comparison.reports.items():
                check(report, in_memory(TABLE, name, condense=condense, **arrays))
    # Scores of documents that are not ranked are ignored.
    scores = np.where(arrays["retrieved"], TABLE["s"], np.nan)
    table = TABLE.drop(["s"]).append_column("s", pa.array(scores))
    names = NAMES | masks | {"score": ["other", "s"]}
    comparison = evaluate_batches(table, **names)
    check(comparison.reports["s"], in_memory(TABLE, "s", **arrays))
    only = evaluate_batches(TABLE, **NAMES | {"score": ["s"]})
    assert list(only.reports) == ["s"], "also for a list of one"


@pytest.mark.option("evaluate_batches.metrics", "evaluate_batches.convention")
@pytest.mark.option("evaluate_batches.condense")
@pytest.mark.parametrize(
    "options",
    [
        {"ties": "worst"},
        {"convention": "lightgbm"},
        {"replace_undefined_by": np.nan},
        {"condense": True, "judged": "j"},
    ],
)
def test_options_are_those_of_evaluate(options):
    table = TABLE.set_column(1, "s", pa.array(TABLE["s"].to_numpy().round()))
    given = with_policies("ndcg", **options)
    report = evaluate_batches(table, **NAMES | given, batch_rows=100)
    arrays = {"judged": table["j"].to_numpy()} if "judged" in options else {}
    assert report.mean == pytest.approx(in_memory(table, **given | arrays).mean, abs=1e-14)
    assert report.mean != pytest.approx(in_memory(table, metrics="ndcg", **arrays).mean)


def test_a_shuffle_keeps_the_order_of_the_rows_of_a_query():
    rows = {"y": [1, 0, 0, 1], "s": [1.0] * 4, "q": [1, 2, 1, 2]}
    report = evaluate_batches(
        [rows], **NAMES | {"metrics": {"mrr": "mrr(ties=stable)"}}, order="shuffle"
    )
    assert dict(zip(report.qid.tolist(), report.per_query["mrr"].tolist(), strict=True)) == {
        1: 1,
        2: 1 / 2,
    }
    # Only sorts of many rows may change the order of equal ones.
    numbers = np.arange(9_000)
    rows = {"y": numbers // 10 == 0, "s": np.ones(9_000), "q": numbers % 10}
    report = evaluate_batches(
        [rows], **NAMES | {"metrics": {"mrr": "mrr(ties=stable)"}}, order="shuffle"
    )
    assert report.mean == {"mrr": 1.0}


def test_frames_of_versions_without_arrow_streams(monkeypatch):
    for frame in (TABLE.to_pandas(), pl.from_arrow(TABLE)):
        monkeypatch.delattr(type(frame), "__arrow_c_stream__", raising=False)
        for source in (frame, [frame]):
            check(evaluate_batches(source, **NAMES), in_memory(TABLE))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"label": "label"},
            ValueError,
            "the source has no column 'label' for label. Columns: 'y', 's'",
        ),
        (
            {"score": ["s", "other_"]},
            ValueError,
            "no column 'other_' for score.* Did you mean 'other'",
        ),
        ({"score": []}, ValueError, "score must name at least one column"),
        ({"score": ["s", "s"]}, ValueError, "score must name different columns"),
        ({"documents": ["w", "w"]}, ValueError, "documents must name different columns"),
        ({"score": "r"}, TypeError, "score must be a column of numbers; 'r' is of type bool"),
        (
            {"score": "text"},
            TypeError,
            "score must be a column of numbers; 'text' is of type string",
        ),
        (
            {"retrieved": "nan"},
            TypeError,
            "retrieved must be a column of True and False; 'nan' is of type double",
        ),
        (
            {"qid": "lists"},
            TypeError,
            "qid must hold hashable values",
        ),
        (
            {"documents": 7},
            TypeError,
            "documents must be the name of a column or a list of names; got 7",
        ),
        (
            {"score": ["s", 7]},
            TypeError,
            r"score must be the name of a column or a list of names; got \['s', 7\]",
        ),
        ({"qid": None}, TypeError, "qid must be the name of a column; got None"),
        ({"groups": ["q"]}, TypeError, r"groups must be the name of a column; got \['q'\]"),
        ({"qid": "y"}, ValueError, "label and qid must name different columns; both name 'y'"),
        ({"order": "sort"}, ValueError, "order must be one of"),
        ({"batch_rows": 0}, ValueError, "batch_rows must be an int >= 1; got 0"),
        ({"by": "s"}, ValueError, "by must be constant within a query"),
        (
            {"score": "nan"},
            ValueError,
            "column 'nan' must hold numbers from .*; got nan in row 7 of the source",
        ),
        (
            {"label": "nan"},
            ValueError,
            "column 'nan' must hold numbers from .*; got nan in row 7 of the source",
        ),
        (
            {"sample_weight": "negative"},
            ValueError,
            "'negative' must hold numbers from 0 .* got -1 in row 9 of",
        ),
        (
            {"score": "large"},
            ValueError,
            r"'large' must hold numbers from -9007199254740992 .* in row 11 of",
        ),
        ({"n_threads": 0}, ValueError, "n_threads must be an int >= 1; got 0"),
        ({"label": "inf"}, ValueError, "'inf' must hold numbers from 0 .*; got inf in row 13"),
        (
            {"label": "inf", "metrics": "spearman"},
            ValueError,
            "'inf' must hold numbers from -1.*; got inf in row 13",
        ),
        (
            {"sample_weight": "inf"},
            ValueError,
            "'inf' must hold numbers from 0 .*; got inf in row 13",
        ),
        ({"condense": True}, ValueError, "condense=True requires judged="),
        ({"condense": "yes"}, TypeError, "condense must be"),
        (
            {"label": "null"},
            ValueError,
            "column 'null' must not hold nulls; got one in row 205 of the source",
        ),
        (
            {"qid": "null"},
            ValueError,
            "column 'null' must not hold nulls; got one in row 205 of the source",
        ),
    ],
)
def test_bad_columns(options, error, message):
    n = len(TABLE)
    further = {
        "text": ["a"] * n,
        "lists": [[1]] * n,
        "nan": np.where(np.arange(n) == 7, np.nan, 1),
        "inf": np.where(np.arange(n) == 13, np.inf, 1),
        "negative": np.where(np.arange(n) == 9, -1, 1),
        "large": np.where(np.arange(n) == 11, 2**53 + 1, 1),
        "null": pa.array([None if row == 205 else 1 for row in range(n)]),
    }
    table = pa.table({name: TABLE[name] for name in TABLE.column_names} | further)
    with pytest.raises(error, match=message):  # which counts rows from the first batch on
        evaluate_batches(table.to_reader(max_chunksize=100), **NAMES | options)


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        (5, TypeError, "source must be a path, a list of paths.* got int"),
        ([5], TypeError, "source must yield dicts or tables; got int"),
        (["a.csv", TABLE], TypeError, "source must yield dicts or tables; got str"),
        (TABLE.slice(0, 0), ValueError, "source must hold at least one document; got none"),
        ([], ValueError, "source must hold at least one document; got none"),
        (
            {"y": [1], "s": [1], "q": [1]},
            TypeError,
            "source must be a path.* or an iterator of batches; got dict",
        ),
        ([([1], [1], [1])], TypeError, "source must yield dicts or tables; got tuple"),
        (pa.table([[1]] * 4, names=list("ysqs")), ValueError, "the source has 2 columns 's'"),
        ([{"y": [1], "s": [1]}], ValueError, "the source has no column 'q' for qid"),
        ([{"y": [1], "s": [1, 2], "q": [1]}], ValueError, "source must be readable"),
    ],
)
def test_bad_sources(source, error, message):
    with pytest.raises(error, match=message):
        evaluate_batches(source, **NAMES)


@pytest.mark.parametrize("kind", ["parquet", "csv", "feather"])
def test_bad_files(kind, tmp_path):
    file = tmp_path / f"a.{kind}"
    (tmp_path / "good").mkdir()
    with pytest.raises(FileNotFoundError, match=f"There is no such file, or folder .*a.{kind}"):
        evaluate_batches(file, **NAMES)
    data = Path(SOURCES[kind](tmp_path)).read_bytes()
    for content in (
        b"",
        data[: data.index(b"\n", len(data) // 2) + 3],
    ):  # the second was cut in a line
        file.write_bytes(content)
        for order in ("check", "shuffle"):
            with pytest.raises(
                ValueError, match=rf"a\.{kind} must (be a file of|hold at least one line)"
            ):
                evaluate_batches(
                    [SOURCES["parquet"](tmp_path / "good"), file], **NAMES, order=order
                )
    (tmp_path / "a.txt").write_text("301 0 a 1\n")
    with pytest.raises(ValueError, match=r"a\.txt must be a file of Parquet, .* '301 0 a 1'"):
        evaluate_batches(tmp_path / "a.txt", **NAMES)


def test_batches_without_rows_are_passed_over(tmp_path):
    none = pa.RecordBatch.from_pylist([], schema=TABLE.schema)
    some = TABLE.slice(0, 300).to_batches()
    others = TABLE.slice(300).to_batches()
    reader = pa.RecordBatchReader.from_batches(TABLE.schema, [none, *some, none, *others])
    check(evaluate_batches(reader, **NAMES), in_memory(TABLE))
    (tmp_path / "a.csv").write_text("y,s,q\n")
    pq.write_table(
        pa.table({"y": [], "s": [], "q": []}), tmp_path / "a.parquet"
    )  # columns of type null
    for name in ("a.csv", "a.parquet"):
        with pytest.raises(ValueError, match="source must hold at least one document; got none"):
            evaluate_batches(tmp_path / name, **NAMES)


@pytest.mark.option("evaluate_batches.verbose")
@ORDERS
def test_progress_is_shown_on_terminals_only_unless_asked_for(order, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(progress, "ON_A_TERMINAL", 0)
    path = SOURCES["parquet"](tmp_path)

    n = len(TABLE)
    batch_rows = n // 2 + 1

    def printed(stream, **options):
        monkeypatch.setattr(sys, "stderr", stream)
        evaluate_batches(path, **NAMES, order=order, batch_rows=batch_rows, **options)
        return stream.getvalue()

    lines = printed(Terminal()).split(progress.REPLACE)
    assert lines[0] == lines[-1] == "", "in the end, nothing is left"
    assert lines[1].startswith(f"{batch_rows:,} rows, ")
    assert lines[2].startswith(f"{n:,} rows, ")
    parts = [line.partition(" (")[0] for line in lines[3:-1]]
    expected = [f"{number} of 8 parts evaluated" for number in range(1, 9)]
    assert parts == (expected if order == "shuffle" else [])
    assert printed(Terminal(), verbose=False) == ""
    assert printed(io.StringIO()) == ""
    last = printed(io.StringIO(), verbose=True).splitlines()
    done = ["8 of 8 parts evaluated (100%), 0 s left"]
    assert last == (done if order == "shuffle" else [])
    rows = pd.DataFrame({"y": [1, 0], "s": [1, 2], "q": ["a", "a"]})
    rows.to_parquet(tmp_path / "first.parquet")
    rows.assign(q="b").to_csv(tmp_path / "last.csv")
    path = [tmp_path / "first.parquet", tmp_path / "last.csv"]
    batch_rows = 2
    lines = printed(Terminal()).split(progress.REPLACE)
    assert lines[1:3] == ["2 rows, 0 s", "4 rows, 0 s"]
    monkeypatch.setattr(sys, "stderr", None)  # as in a program without a console
    report = evaluate_batches(TABLE, **NAMES, order=order, verbose=True)
    assert report.n_documents == n
    assert capsys.readouterr().out == ""


def test_only_an_empty_cell_of_a_text_is_a_null(tmp_path):
    (tmp_path / "a.tsv").write_text("q\ty\ts\nNA\t1\t2.5\nNA\t0\t3.5\nnull\t1\t2.5\n")
    report = evaluate_batches(tmp_path / "a.tsv", **NAMES | {"metrics": "mrr"})
    assert report.qid.tolist() == ["NA", "null"]
    assert report.mean == {"mrr": (1 / 2 + 1) / 2}


LARGE = ["9007199254740993", "-9007199254740993", "18446744073709551617", "9" * 5000]


@pytest.mark.parametrize(
    ("score", "n_rows"), [*((score, 0) for score in LARGE), (LARGE[0], 200_000)]
)
def test_integers_in_a_text_that_float64_cannot_hold_are_refused(score, n_rows, tmp_path):
    other = "1e300" if n_rows else "-3"
    # 200,000 rows are three blocks, the first of which decides on types in pyarrow: it has whole numbers only.
    rows = [f"{row % 2},{row % 7},{row // 2}\n" for row in range(n_rows)]
    last_query = f"1,{other},a\n0,{score},a\n"
    lines = ["y,s,q\n", *rows, last_query]
    (tmp_path / "a.csv").write_text("".join(lines))
    with pytest.raises(
        ValueError, match=rf"'s' of .*a\.csv must hold integers within .*got {score}\."
    ):
        evaluate_batches(tmp_path / "a.csv", **NAMES | {"metrics": "mrr"})
    (tmp_path / "a.csv").write_text(
        "".join(["y,s,q\n", *rows, "1,1e300,a\n0,9007199254740992,a\n0,inf,a\n"])
    )
    assert (
        evaluate_batches(tmp_path / "a.csv", **NAMES | {"metrics": "mrr"}).n_documents == n_rows + 3
    )


def test_no_file_is_left_behind(tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))  # as TMPDIR does

    def spoiled():
        yield TABLE
        assert not list(folder.iterdir())  # as the files have no names, not even while it works
        yield TABLE.set_column(1, "s", pa.array([np.nan] * len(TABLE)))

    names = NAMES | {"order": "shuffle"}
    with pytest.raises(ValueError, match=r"column 's' must hold numbers .*; got nan"):
        evaluate_batches(spoiled(), **names)
    assert not list(folder.iterdir())

    if os.path.exists("/dev/full"):
        full = functools.partial(open, "/dev/full", "r+b", buffering=0)
        monkeypatch.setattr(tempfile, "TemporaryFile", full)
        with pytest.raises(OSError, match="No space left on device"):
            evaluate_batches(TABLE, **names)
    assert not list(folder.iterdir())


def test_without_pyarrow(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match="evaluate_batches needs pyarrow: pip install pyarrow"):
        evaluate_batches("a", **NAMES)


@ORDERS
def test_batches_whose_memory_is_used_again_are_copied(order):
    arrays = {
        "y": np.zeros(2),
        "s": np.zeros(2),
        "q": np.zeros(2, dtype=np.int64),
    }
    frame = pd.DataFrame(arrays)

    def again(batch):
        for query in range(5):
            for name, values in (("y", [1, 0]), ("s", [query % 2, 0.5]), ("q", query)):
                arrays[name][:] = values
            yield batch()

    ways = [
        lambda: arrays,
        lambda: pa.table(arrays),
        lambda: frame.assign(**arrays),
    ]
    record = functools.partial(pa.RecordBatch.from_pydict, arrays)
    reader = pa.RecordBatchReader.from_batches(record().schema, again(record))
    for source in (*map(again, [*ways, record]), reader):
        found = evaluate_batches(source, **NAMES | {"metrics": "mrr"}, order=order)
        assert found.mean == {"mrr": pytest.approx((3 * 1 / 2 + 2) / 5)}


@ORDERS
def test_rows_that_come_twice_are_an_error(order, tmp_path):
    path = SOURCES["parquet"](tmp_path)
    (tmp_path / "linked.parquet").symlink_to(path)
    os.link(path, tmp_path / "hard.parquet")
    links = tmp_path / "linked.parquet", tmp_path / "hard.parquet"
    for again in (path, str(path), tmp_path / "." / "a.parquet", *links):
        with pytest.raises(ValueError, match=r"source must name each file once; got"):
            evaluate_batches([path, again], **NAMES, order=order)
    with pytest.raises(ValueError, match="source must hold each batch once"):
        evaluate_batches([TABLE, TABLE], **NAMES, order=order)


@ORDERS
@pytest.mark.parametrize(
    "kind", [pl.Categorical, pl.Enum(["b", "x", "a"])], ids=["categories", "enum"]
)
def test_frames_of_polars_with_categories(kind, order):
    rows = {
        "y": [1, 0, 0, 1],
        "s": [2.0, 1.0, 2.0, 1.0],
        "q": ["a", "a", "b", "b"],
        "kind": ["x", "x", None, None],
    }
    frame = pl.DataFrame(rows).with_columns(pl.col("q", "kind").cast(kind))
    for source in ([frame[:1], frame[1:]], frame, frame.to_arrow()):
        report = evaluate_batches(source, **NAMES | {"metrics": "mrr"}, order=order)
        assert set(zip(report.qid.tolist(), report.per_query["mrr"].tolist(), strict=True)) == {
            ("a", 1),
            ("b", 1 / 2),
        }
    with pytest.raises(
        ValueError, match="column 'kind' must not hold nulls; got one in row 2 of the source"
    ):
        evaluate_batches(frame, **NAMES, by="kind", order=order)


def test_pages_of_parquet_are_checked(tmp_path):
    plain = {"use_dictionary": False, "compression": "none", "write_page_checksum": True}
    pq.write_table(TABLE, tmp_path / "a.parquet", **plain)
    data = bytearray((tmp_path / "a.parquet").read_bytes())
    scores = TABLE["s"].to_numpy()[100:110]
    sought = np.ascontiguousarray(scores).tobytes()
    place = bytes(data).index(sought)
    data[place] ^= 1  # another score, a little different
    (tmp_path / "a.parquet").write_bytes(data)
    with pytest.raises(
        ValueError, match=r"a\.parquet must be a file of parquet; reading it failed: .*CRC"
    ):
        evaluate_batches(tmp_path / "a.parquet", **NAMES)


INTERRUPTED = """
import sys, time, numpy as np
from skrank_metrics.sources import evaluate_batches
def batches():
    for start in range(0, 400):
        yield {"y": [1, 0], "s": np.arange(2.0), "q": [str(start), str(start)]}
print("ready", flush=True)
end = time.monotonic() + 3
while time.monotonic() < end:
    evaluate_batches(batches(), label="y", score="s", qid="q", order="shuffle", n_threads=2)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for other processes")
def test_a_process_that_is_interrupted_early_ends():
    # While a thread waited for a module that the main thread was importing, Ctrl-C hung Python.
    codes = []
    for delay in (0, 0.1, 0.2, 0.4):
        with subprocess.Popen(
            [sys.executable, "-c", INTERRUPTED], stdout=-1, stderr=-1, text=True
        ) as process:
            try:
                assert process.stdout.readline() == "ready\n"
                time.sleep(delay)
                process.send_signal(signal.SIGINT)
                process.communicate(timeout=30)
            finally:
                process.kill()
        codes.append(process.returncode)
    # Some compiled modules ignore an interrupt while they are imported, so that the process goes on to its end.
    assert sum(code != 0 for code in codes) >= 2, codes


def test_pandas_is_loaded_where_an_interrupt_is_noticed():
    # Where pyarrow imports it, Ctrl-C is lost.
    code = (
        "import sys; from skrank_metrics.sources import evaluate_batches\n"
        "def batches():\n"
        "    print('pandas' in sys.modules)\n"
        "    yield {'y': [1], 's': [1.0], 'q': ['a']}\n"
        "evaluate_batches(batches(), label='y', score='s', qid='q')"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        == "True\n"
    )


def test_too_little_memory_names_what_must_fit():
    def batches():
        yield {"y": [1], "s": [1.0], "q": ["a"]}
        raise MemoryError

    with pytest.raises(MemoryError, match="All rows of a query must fit into memory"):
        evaluate_batches(batches(), label="y", score="s", qid="q")
