"""A shape that could mean two things is an error that names both, and how to say which is meant."""

import io

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skrank_metrics import evaluate_run
from skrank_metrics.trec import read_run

TRUTH = {"7": ["c"], "8": ["b"]}
FRAMES = (pd.DataFrame, pl.DataFrame, pa.table)


def lines(*numbers, documents="abcde"):
    """Lines of a query, a document and a number, for two queries whose lines alternate."""
    rows = [
        f"{query} {d} {n}\n" for d, n in zip(documents, numbers, strict=False) for query in "78"
    ]
    return io.StringIO("".join(rows))


def columns(*numbers, name="rank"):
    rows = [(query, d, n) for d, n in zip("abcde", numbers, strict=False) for query in "78"]
    return dict(zip(("qid", "docno", name), map(list, zip(*rows, strict=True)), strict=True))


def ranks(run, **options):
    """The reciprocal ranks of the relevant documents."""
    return evaluate_run(TRUTH, run, "mrr", **options).per_query["mrr"].tolist()


@pytest.mark.parametrize("numbers", [(1, 2, 3), (0, 1, 2), ("1.0", "2.0", "+3")])
def test_numbers_that_count_from_1_or_0_are_ranks(numbers):
    assert ranks(lines(*numbers)) == [1 / 3, 1 / 2]
    for frame in FRAMES:
        assert ranks(frame(columns(*map(float, numbers)))) == [1 / 3, 1 / 2]


@pytest.mark.parametrize(
    "numbers",
    [
        (40, 20, 10),
        (8, 5, 2),
        (3, 2, 1),
        (1, 3, 4),
        (2, 3, 4),
        (1, 1, 2),
        (-1, 0, 1),
        (0.9, 0.8, 0.7),
        (1, 2, 2.5),
        (97575.5, 95691, 94404),
    ],
)
def test_numbers_that_do_not_count_could_be_scores(numbers):
    with pytest.raises(ValueError, match=r"expected rank .*'query document rank'.*\(scores need"):
        ranks(lines(*numbers))
    both = r"ranks or scores.*columns=\{'rank': 'rank'\}.*columns=\{'score': 'rank'\}"
    for frame in FRAMES:
        with pytest.raises(ValueError, match=both):
            ranks(frame(columns(*map(float, numbers))))


def test_the_way_out_says_which_of_the_two_is_meant():
    run = pd.DataFrame(columns(40, 20, 10))
    assert ranks(run, columns={"score": "rank"}) == [1 / 3, 1 / 2]
    assert ranks(run, columns={"rank": "rank"}) == [1 / 1, 1 / 2]
    shuffled = pd.DataFrame(columns(2, 3, 1)).sample(frac=1, random_state=0)
    assert ranks(shuffled, columns={"run": {"rank": "rank"}}) == [1 / 1, 1 / 3]


def test_duplicates_are_removed_from_ranks_that_count():
    run = "7 a 1\n7 a 2\n7 c 3\n8 b 1\n"
    assert ranks(io.StringIO(run), duplicates="first") == [1 / 2, 1]
    with pytest.raises(ValueError, match="'a' of query '7' twice"):
        ranks(io.StringIO(run))


@pytest.mark.parametrize(
    "line",
    [
        "q Q0 Apollo 11 1 9.5 bm25",
        "q Q0 d 1 9.5 bm25q Q0 e 2 8.5 bm25",
        "q Q0 the 39 steps 1 9.5 run a",
        "q Q0 d 1 9.5 3 4 a",
        "q Q0 d 1 9.5 run of 2026 11 x y",
        "q Q0 a name 1 9.5 bm25",
        "q Q0 Area 51 2 1e-3 run",
        "q Q0 d 1 9.5",
    ],
)
def test_a_line_of_a_run_with_blanks_elsewhere_than_in_the_tag(line):
    with pytest.raises(ValueError, match=r"line 2: expected 6 fields"):
        read_run(io.StringIO(f"q Q0 z 1 10 t\n{line}\n"))


@pytest.mark.parametrize("tag", ["my run", "bm25 k1 0.9", "run 1 of 2 x", "7"])
def test_a_tag_with_blanks(tag):
    run = read_run(io.StringIO(f"q Q0 d 1 9.5 {tag}\nq Q0 e 2 8.5 t"))
    assert run.document.tolist() == ["d", "e"]
    assert run.score.tolist() == [9.5, 8.5]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(end, tmp_path):
    path = tmp_path / "run.txt"
    path.write_bytes(f"7 Q0 a 1 2 t{end}7 Q0 c 2 1 t{end}8 Q0 b 1 5 t{end}".encode())
    assert ranks(path) == [1 / 2, 1]
    with pytest.raises(ValueError, match=r"line 3: expected 6 fields .*; got '8 b 1'"):
        read_run(io.StringIO(f"7 Q0 a 1 2 t{end}7 Q0 c 2 1 t{end}8 b 1{end}"))


def test_a_column_has_one_role():
    run = pd.DataFrame({"user": ["7", "7"], "sku": ["c", "a"], "score": [2.0, 1.0], "rel": [1, 0]})
    judged = run[["user", "sku", "rel"]]
    with pytest.raises(ValueError, match="run has no column 'score'"):
        ranks(run[["user", "sku", "score"]], columns={"document": "score"})
    with pytest.raises(ValueError, match=r"columns .* for query and document; both are 'sku'"):
        evaluate_run(judged, run, columns={"query": "sku", "document": "sku"})
    with pytest.raises(ValueError, match=r"columns .* for document and label; both are 'rel'"):
        evaluate_run(judged, run, columns={"qrels": {"document": "rel", "label": "rel"}})
    with pytest.raises(ValueError, match="qrels has no column 'label'"):
        evaluate_run(
            judged, run, columns={"qrels": {"document": "rel"}, "run": {"document": "sku"}}
        )
    # Other files may have other roles for the same name.
    both = {"qrels": {"document": "sku", "label": "score"}, "run": {"document": "sku"}}
    assert evaluate_run(run, run, "mrr", columns=both).mean == {"mrr": 1.0}


def test_a_first_line_that_is_no_header(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("7,c,3.5\n7,a,2\n8,b,1\n")
    with pytest.raises(
        ValueError, match=r"was read as the header: '7', 'c', '3.5'\. If it has none"
    ):
        ranks(path)
    path.write_text("kunde,artikel,punkte\n7,c,3.5\n7,a,2\n8,b,1\n")
    with pytest.raises(ValueError, match=r"name its columns, as in columns=\{'query': 'kunde'\}"):
        ranks(path)
    named = {"query": "kunde", "document": "artikel", "score": "punkte"}
    assert ranks(path, columns=named) == [1, 1]
