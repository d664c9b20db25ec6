"""The content of a file says what it is, whatever it is called, for every door."""

import bz2
import gzip
import io
import itertools
import json
import lzma

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from skrank_metrics import evaluate_run
from skrank_metrics.sources.batches import evaluate_batches

# Of two relevant documents, the list has one at rank 2 (the scores) or at rank 1 (the other order of the lines).
QRELS = {"7": {"a": 1, "b": 1, "c": 0}}
LINES = "7 Q0 c 1 2.5 x\n7 Q0 a 2 1.5 x\n"
ROWS = "query,document,score\n7,c,2.5\n7,a,1.5\n"
FRAME = pd.DataFrame({"query": ["7", "7"], "document": ["c", "a"], "score": [2.5, 1.5]})


def packed_by_pyarrow(data):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


def arrow(opened):
    sink = pa.BufferOutputStream()
    table = pa.Table.from_pandas(FRAME)
    with opened(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def parquet():
    sink = io.BytesIO()
    FRAME.to_parquet(sink)
    return sink.getvalue()


TEXTS = {
    "TREC": LINES,
    "TREC with tabs": LINES.replace(" ", "\t"),
    "TREC after a comment": f"# a run\n\n{LINES}",
    "MS MARCO": "7\tc\t1\n7\ta\t2\n",
    "CSV": ROWS,
    "TSV": ROWS.replace(",", "\t"),
    "CSV with semicolons": ROWS.replace(",", ";"),
    "CSV with a mark": "\ufeff" + ROWS,
    "CSV of pandas with its index": FRAME.to_csv(),
    "TSV of RecBole": "user_id:token\titem_id:token\tscore:float\n7\tc\t2.5\n7\ta\t1.5\n",
    "JSON of scores": json.dumps({"7": {"a": 1.5, "c": 2.5}}),
    "JSON of lists": json.dumps({"7": ["c", "a"]}, indent=2),
}
CONTENTS = {name: text.encode() for name, text in TEXTS.items()} | {
    "Parquet": parquet(),
    "Arrow": arrow(pa.ipc.new_file),
    "Arrow stream": arrow(pa.ipc.new_stream),
}
PACKERS = {
    "as it is": bytes,
    "gzip": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zstd": packed_by_pyarrow,
}


@pytest.mark.parametrize(
    "name", ["run", "run.tsv", "run.csv", "run.parquet", "run.txt", "run.json"]
)
@pytest.mark.parametrize("kind", CONTENTS)
def test_the_name_of_a_file_says_nothing(kind, name, tmp_path):
    (tmp_path / name).write_bytes(CONTENTS[kind])
    found = evaluate_run(QRELS, tmp_path / name, ["mrr", "recall"], convention="sklearn")
    assert found.mean == {"mrr": 1 / 2, "recall": 1 / 2}


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize("kind", TEXTS)
def test_texts_may_be_packed_or_an_open_file(kind, packer, tmp_path, monkeypatch):
    data = PACKERS[packer](CONTENTS[kind])
    (tmp_path / "run").write_bytes(data)
    expected = {"mrr": 1 / 2}
    assert evaluate_run(QRELS, tmp_path / "run", "mrr", convention="sklearn").mean == expected
    assert evaluate_run(QRELS, io.BytesIO(data), "mrr", convention="sklearn").mean == expected
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert evaluate_run(QRELS, "-", "mrr", convention="sklearn").mean == expected


@pytest.mark.parametrize("kind", ["CSV", "TSV", "CSV with semicolons"])
def test_rows_are_read_by_the_same_rule(kind, tmp_path):
    data = CONTENTS[kind].replace(b"c", b"0").replace(b"a", b"1").replace(b"do0ument", b"y")
    (tmp_path / "rows").write_bytes(data.replace(b"s0ore", b"score"))
    names = {"label": "y", "score": "score", "qid": "query", "metrics": "mrr"}
    assert evaluate_batches(tmp_path / "rows", **names).mean == {"mrr": 1 / 2}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            '{"7": {"a": 1, "b": 2, "a": 3}}',
            "must hold one dict in JSON: .* got 'a' more than once",
        ),
        ('{"7": {"a": 1}, "7": {"b": 1}}', "got '7' more than once"),
        ('{"7": {"a": 1}', "must hold one dict in JSON: Expecting"),
        ("7;c\n", "the first line was read as the header: '7', 'c'"),
        ("\n# nothing\n", "must hold at least one line; got none, or only comments"),
        (gzip.compress(LINES.encode())[:-9], "must be a complete gzip file"),
        (bz2.compress(LINES.encode())[:-9], "must be a complete bz2 file"),
        (lzma.compress(LINES.encode())[:-9], "must be a complete xz file"),
    ],
    ids=itertools.count(),
)
def test_what_cannot_be_read_is_named(content, message, tmp_path):
    data = content if isinstance(content, bytes) else content.encode()
    (tmp_path / "run.txt").write_bytes(data)
    with pytest.raises(ValueError, match=f"run.txt.*{message}"):
        evaluate_run(QRELS, tmp_path / "run.txt", "mrr")


def test_a_list_in_json_is_no_dict(tmp_path):
    (tmp_path / "run.json").write_text('[{"query": "7", "document": "a", "score": 1}]')
    with pytest.raises(
        TypeError, match=r"must hold one dict in JSON; got a list\. .*docs/files\.md"
    ):
        evaluate_run(QRELS, tmp_path / "run.json", "mrr")


def test_an_error_about_columns_names_the_page(tmp_path):
    for frame in (FRAME.rename(columns={"document": "sku"}), FRAME.assign(item=["c", "a"])):
        with pytest.raises(ValueError, match=r"docs/files\.md"):
            evaluate_run(QRELS, frame, "mrr")
    with pytest.raises(TypeError, match=r"docs/files\.md"):
        evaluate_run(QRELS, 7, "mrr")
    FRAME.to_csv(tmp_path / "a", index=False)
    with pytest.raises(ValueError, match=r"docs/files\.md"):
        evaluate_batches(tmp_path / "a", label="y", score="score", qid="query")


# --- Folders and patterns


@pytest.fixture
def folder(tmp_path):
    """What Spark writes: a folder of parts, with marks and checksums beside them."""
    whole = tmp_path / "rows.parquet"
    rows = pd.DataFrame({"q": ["a", "a", "b", "b"], "y": [1, 0, 0, 1], "s": [2.0, 1.0, 2.0, 1.0]})
    for number, q in enumerate("ab"):
        part = whole / f"date={number}"
        part.mkdir(parents=True)
        pq.write_table(pa.Table.from_pandas(rows[rows.q == q]), part / f"part-{number}.parquet")
        (part / f".part-{number}.parquet.crc").write_bytes(b"crc")
    (whole / "_SUCCESS").write_text("")
    (whole / "dataset_info.json").write_text("{}")
    return whole


NAMES = {"label": "y", "score": "s", "qid": "q", "metrics": "mrr"}


@pytest.mark.parametrize("order", ["check", "shuffle"])
def test_a_folder_and_a_pattern_are_all_of_their_files(folder, order):
    expected = {"mrr": (1 + 1 / 2) / 2}
    for source in (folder, f"{folder}/*/*.parquet", [f"{folder}/date=0", f"{folder}/date=1"]):
        assert evaluate_batches(source, **NAMES, order=order).mean == expected
    with pytest.raises(ValueError, match="source must name each file once"):
        evaluate_batches([folder, f"{folder}/date=0"], **NAMES)
    with pytest.raises(FileNotFoundError, match="or folder of tables, for source"):
        evaluate_batches(f"{folder}/nothing*", **NAMES)


def test_runs_may_be_folders(tmp_path):
    (tmp_path / "run").mkdir()
    for row in range(2):
        FRAME.iloc[[row]].to_parquet(tmp_path / "run" / f"{row}.parquet")
    assert evaluate_run(QRELS, tmp_path / "run", "mrr").mean == {"mrr": 1 / 2}


# --- Ids as text


@pytest.mark.option("evaluate_run.ids")
def test_ids_of_two_types_match_as_text():
    numbers = pd.DataFrame({"query": [7.0, 7.0], "document": [3, 1], "score": [2.5, 1.5]})
    qrels = {"7": {"1": 1, b"2": 1}}
    with pytest.raises(ValueError, match="share no query"):
        evaluate_run(qrels, numbers, "mrr")
    found = evaluate_run(qrels, numbers, ["mrr", "recall"], ids="text", exclude={7: [b"9"]})
    assert found.mean == {"mrr": 1 / 2, "recall": 1 / 2}
    assert found.qid.tolist() == ["7"]
    with pytest.raises(ValueError, match="ids must be one of"):
        evaluate_run(qrels, numbers, "mrr", ids="string")


def test_an_error_of_unlike_ids_says_how_they_match(tmp_path):
    (tmp_path / "qrels").write_text("7 0 1 1\n")
    pd.DataFrame({"qid": [7], "item": [1], "score": [2.5]}).to_parquet(tmp_path / "run")
    paths = tmp_path / "qrels", tmp_path / "run"
    with pytest.raises(ValueError, match=r"convert one of the two, or pass ids='text'\.$"):
        evaluate_run(*paths, "mrr")
    assert evaluate_run(*paths, "mrr", ids="text").mean == {"mrr": 1}


def test_ids_that_are_equal_as_text_are_refused():
    with pytest.raises(ValueError, match="run has different query ids that are '7' as text"):
        evaluate_run({"7": ["a"]}, {b"7": ["a"], (): [], "7": ["b"]}, "mrr", ids="text")


# --- Shapes


def hit(document, score):
    return {"id": document, "score": score, "text": "more"}


LISTS = {"7": ["c", "a"], "8": ["b"]}
SCORES = {"7": [1.5, 2.5], "8": [3.0]}
TWO = {"7": {"a": 1, "b": 1, "c": 0}, "8": {"d": 1}}


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_column_of_lists_is_a_list_per_query(kind):
    documents = list(LISTS.values())
    ranked = kind({"topic": list(LISTS), "item_id": documents})
    expected = evaluate_run(TWO, LISTS, "mrr").per_query
    assert evaluate_run(TWO, ranked, "mrr").per_query["mrr"].tolist() == expected["mrr"].tolist()
    scored = kind({"user": list(LISTS), "doc_id": documents, "score": list(SCORES.values())})
    # With these scores, "a" is before "c".
    assert evaluate_run(TWO, scored, "mrr").per_query["mrr"].tolist() == [1, 0]
    relevant = kind({"user": ["7", "8"], "doc_id": [["a", "b"], ["d"]]})
    assert evaluate_run(relevant, LISTS, "mrr").per_query["mrr"].tolist() == [1 / 2, 0]
    with pytest.raises(ValueError, match="could hold ranks or scores"):
        evaluate_run(TWO, kind({"user": ["7", "7"], "item": documents}), "mrr")
    uneven = kind({"user": ["7", "8"], "item": documents, "score": [[1.0], [2.0, 3.0]]})
    with pytest.raises(ValueError, match="equal lengths in each row of 'score' and 'item'"):
        evaluate_run(TWO, uneven, "mrr")
    with pytest.raises(ValueError, match="no column 'query'"):
        evaluate_run(TWO, kind({"other": ["7", "8"], "item": documents}), "mrr")


def test_hits_are_ordered_by_their_scores(tmp_path):
    hits = {"7": [hit("c", 1.5), hit("a", 2.5)], "8": []}
    found = evaluate_run(TWO, hits, "mrr")
    assert found.per_query["mrr"].tolist() == [1, 0]
    assert evaluate_run(TWO, hits, "mrr", missing="skip").n_queries == 2, "8 has an empty list"
    (tmp_path / "hits").write_text(json.dumps(hits))
    assert evaluate_run(TWO, tmp_path / "hits", "mrr").mean == found.mean
    for wrong in ({"7": [{"_id": "a", "_score": 1}]}, {"7": [hit("a", 1), "c"]}):
        with pytest.raises(TypeError, match="dicts with 'id' and 'score' in its lists"):
            evaluate_run(TWO, wrong, "mrr")
    with pytest.raises(ValueError, match="twice"):
        evaluate_run(TWO, {"7": [hit("a", 1), hit("a", 2)]}, "mrr")


def test_the_index_that_pandas_writes_is_no_column(tmp_path):
    pairs = pd.DataFrame({"user_id": ["7", "7"], "item_id": ["a", "b"]}, index=[5, 9])
    pairs.to_parquet(tmp_path / "pairs")
    for source in (tmp_path / "pairs", pl.read_parquet(tmp_path / "pairs")):
        assert evaluate_run(source, LISTS, "mrr").mean == {"mrr": 1 / 2}
    pairs.to_csv(tmp_path / "pairs")
    assert evaluate_run(tmp_path / "pairs", LISTS, "mrr").mean == {"mrr": 1 / 2}


def test_ratings_with_times_are_no_judgments(tmp_path):
    # MovieLens has user, item, rating, and seconds since 1970.
    (tmp_path / "u.data").write_text("196\t242\t3\t881250949\n186\t302\t3\t891717742\n")
    with pytest.raises(
        ValueError, match=r"has the label 891717742\. Are its lines .user item rating"
    ):
        evaluate_run(tmp_path / "u.data", {"196": ["3"]}, "mrr")


def test_rows_in_place_of_batches_are_refused():
    for rows in ([{"y": 1, "s": 2.0, "q": "a"}], iter([{"y": [1], "s": [2.0], "q": "a"}])):
        with pytest.raises(TypeError, match=r"dataset\.iter\(batch_size=100_000\)"):
            evaluate_batches(rows, **NAMES)


def test_judgments_of_subtopics_are_named(tmp_path):
    (tmp_path / "qrels").write_text("7 1 a 0\n7 2 a 2\n7 1 b 1\n")
    with pytest.raises(ValueError, match="'best', such as the best label of several subtopics"):
        evaluate_run(tmp_path / "qrels", LISTS, "mrr")
    found = evaluate_run(tmp_path / "qrels", LISTS, "cg", duplicates="best")
    assert found.mean == {"cg": 2}
