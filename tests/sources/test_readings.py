"""A shape that could mean two things is an error that names both, and how to say which is meant."""

import io

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.command_line import output_of

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


# --- Errors and findings that say what it is


def findings(qrels, run, **options):
    return evaluate_run(qrels, run, "recall@5", **options).health.findings


def test_relevant_documents_that_are_excluded_are_counted():
    run = {"u": ["a", "b", "c"], "v": ["d", "a", "c"]}
    qrels = {"u": ["a", "b"], "v": ["a", "d"]}
    (found,) = findings(qrels, run, exclude={"u": ["b", "c"], "v": ["a"], "w": ["a"]})
    assert found.startswith("Relevant documents excluded: 2 of 4 cannot be returned")
    graded = {"u": {"a": 1, "b": 2, "c": 0}, "v": {"d": 1}}
    found = findings(graded, run, exclude=[("u", "c"), ("v", "d")])
    assert any("excluded: 1 of 3 cannot" in finding for finding in found)
    assert not any("excluded" in finding for finding in findings(graded, run, exclude={"u": ["c"]}))


@pytest.mark.parametrize(
    ("duplicates", "labels", "count"),
    [
        ("first", [1, 1, 1], "1 of 2"),
        ("first", [0, 1, 1], None),
        ("best", [0, 1, 1], "1 of 2"),
    ],
)
def test_of_labels_of_one_document_one_is_excluded(duplicates, labels, count):
    qrels = pd.DataFrame({"query": list("uuv"), "document": list("aaa"), "label": labels})
    run = {"u": ["b", "a"], "v": ["a"]}
    found = findings(qrels, run, duplicates=duplicates, exclude=[("u", "a")])
    excluded = [finding for finding in found if "excluded" in finding]
    assert len(excluded) == (count is not None)
    assert all(f"excluded: {count} cannot" in finding for finding in excluded)


def test_excluded_documents_of_queries_that_are_left_out_are_not_counted():
    qrels, run = {"u": ["a", "b"], "v": ["a"]}, {"u": ["a", "b"]}
    of_both = findings(qrels, run, missing="skip", exclude={"u": ["a"], "v": ["a"]})
    assert any("excluded: 1 of 2 cannot" in finding for finding in of_both)
    of_other = findings(qrels, run, missing="skip", exclude={"v": ["a"]})
    assert not any("excluded" in finding for finding in of_other)


@pytest.mark.parametrize("passage", ["doc-1::0", "doc-1#12", "doc-1_p3"])
def test_ids_of_passages_suggest_parents(passage):
    (found,) = findings({"q": ["doc-1", "doc-2"]}, {"q": [passage]})
    assert found.endswith(f"If {passage!r} is a passage of 'doc-1', pass parents=.")
    (found,) = findings({"q": ["doc-1"]}, {"q": ["other-1"]})
    assert "parents" not in found


@pytest.mark.parametrize("score", [lambda rank: 9 - rank, lambda rank: 1 / (1 + rank)])
def test_judgments_and_runs_in_each_others_place(score):
    judged = {q: {f"d{one}": int(one % 4 == q % 3) for one in range(9)} for q in range(20)}
    run = {}
    for query in judged:
        run[query] = {f"d{(one * 2 + query) % 9}": score(one) for one in range(9)}
    assert any("Swapped?" in found for found in findings(run, judged))
    assert not any("Swapped?" in found for found in findings(judged, run))


def test_purchases_need_no_grade_0():
    bought = {query: ["a", "b", "c"] for query in range(5)}
    # All that was returned was bought.
    assert findings(bought, {query: ["b", "a"] for query in range(5)}) == ()


def test_a_text_is_no_list():
    message = r"run\['c1'\] is the text 'a c d'\. Pass a list: run\['c1'\]\.split\(\)"
    with pytest.raises(TypeError, match=message):
        evaluate_run({"c1": ["a"]}, {"c1": "a c d"})
    with pytest.raises(TypeError, match=r"qrels\[7\] is the text 'a b'"):
        evaluate_run({7: "a b"}, {7: ["a"]})


def test_nothing_was_judged_or_returned():
    with pytest.raises(ValueError, match="qrels is empty: it has no query"):
        evaluate_run({}, {"q": ["a"]})
    with pytest.raises(ValueError, match="run is empty: it has no query"):
        evaluate_run({"q": ["a"]}, {})


def test_ways_out_of_documents_that_are_twice():
    subtopics = "q 1 d 1\nq 2 d 1\n"
    with pytest.raises(ValueError, match="such as the best label of several subtopics"):
        evaluate_run(io.StringIO(subtopics), {"q": ["d"]})
    with pytest.raises(ValueError, match="evaluate_run keeps one with duplicates='first'"):
        read_run(io.StringIO("q Q0 d 1 2 t\nq Q0 d 2 1 t\n"))
    with pytest.raises(ValueError, match="passages of documents, pass parents="):
        evaluate_run({"q": ["d"]}, {"q": ["d", "d"]})
    found = evaluate_run(io.StringIO(subtopics), {"q": ["d"]}, "mrr", duplicates="best")
    assert found.mean == {"mrr": 1.0}


def test_text_that_cannot_be_encoded_names_the_argument():
    with pytest.raises(ValueError, match="run must hold text; got half a character"):
        evaluate_run({"q": ["a"]}, io.StringIO("q Q0 a\ud800 1 2 t\n"))
    # In dicts, such ids are ids.
    assert evaluate_run({"q": ["a\ud800"]}, {"q": ["a\ud800"]}, "mrr").mean == {"mrr": 1.0}


# --- What was taken is said


def test_a_report_says_its_convention_and_how_files_were_read(tmp_path):
    qrels, run, table = tmp_path / "qrels.txt", tmp_path / "prod.txt", tmp_path / "run.csv"
    qrels.write_text("7 0 c 1\n8 0 b 1\n9 0 a 1\n")
    run.write_text("7 Q0 c 1 3 t\n8 Q0 b 1 2 t\n")
    table.write_text("qid,docno,score\n7,c,3\n8,b,2\n9,a,1\n")
    report = evaluate_run(qrels, run, "mrr")
    assert report.origin.convention == "trec_eval"
    names = [(file.name, file.form, file.n_queries) for file in report.origin.files]
    assert names == [(str(qrels), "TREC judgments", 3), (str(run), "a TREC run", 2)]
    text = " ".join(str(report).split())
    assert text.partition(" metric ")[0].endswith(", convention trec_eval")
    assert "Read: qrels.txt as TREC judgments (3 queries), prod.txt as a TREC run (2)." in text
    of_table = evaluate_run(TRUTH, table, "mrr")
    (file,) = of_table.origin.files
    assert file.form == "query 'qid', document 'docno', score"
    # The default is not named, nor are dicts.
    text = str(evaluate_run(TRUTH, {"7": ["c"], "8": ["b"]}, "mrr"))
    assert "convention" not in text
    assert "Read:" not in text


@pytest.mark.parametrize("name", ["run.txt", "run.tsv", "run"])
@pytest.mark.parametrize("judged", ["qrels.txt", "qrels.tsv", "qrels.csv"])
def test_the_content_decides_the_convention_for_every_door(name, judged, tmp_path, capsys):
    lines = "7\t0\tc\t1\n7\t0\td\t1\n8\t0\tb\t1\n"
    if judged.endswith("csv"):
        lines = "query,document,label\n7,c,1\n7,d,1\n8,b,1\n"
    (tmp_path / judged).write_text(lines)
    (tmp_path / name).write_text("7\tQ0\tc\t1\t3\tt\n8\tQ0\ta\t1\t2\tt\n8\tQ0\tb\t1\t2\tt\n")
    paths = [str(tmp_path / judged), str(tmp_path / name)]
    report = evaluate_run(*paths, ["map_cut_2", "P_5"])
    assert report.origin.convention == "trec_eval"
    printed = output_of(capsys, "evaluate", *paths, "map_cut_2", "P_5")
    assert "convention trec_eval" in printed
    assert str(report).startswith(printed.rstrip())


@pytest.mark.parametrize("first", ["", "# a comment\n", "\n \n"])
def test_a_mark_at_the_beginning_is_no_line(first):
    run = io.BytesIO(f"\ufeff{first}7 a 1\n7 c 2\n8 b 1\n".encode())
    assert ranks(run) == [1 / 2, 1]
