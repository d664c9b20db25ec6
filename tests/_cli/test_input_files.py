"""Files of all formats, and options for them."""

import gzip
import io
import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from support.command_line import (
    BOTH,
    OTHER,
    QRELS,
    ROWS,
    RUN,
    as_command,
    as_printed,
    error_of,
    output_of,
    report_of,
    write_table,
)
from support.policies import with_policies

from skrank_metrics import (
    evaluate_run,
)

OPTIONS = {
    "--by kind": {"by": "kind"},
    "--by kind lang": {"by": ["kind", "lang"]},
    "--groups user": {"groups": "user"},
    "--weight w": {"sample_weight": "w"},
    "--retrieved seen": {"retrieved": "seen"},
    "--judged known --condense": {"judged": "known", "condense": True},
    "--convention lightgbm": {"convention": "lightgbm"},
    "--convention xgboost": {"convention": "xgboost", "metrics": "pre@3"},
}


@pytest.mark.parametrize("words", OPTIONS)
def test_options_of_tables_are_those_of_evaluate(words, files, capsys):
    options = {"metrics": "ndcg@5"} | OPTIONS[words]
    columns = {
        name: files[one] for name, one in options.items() if isinstance(one, list) or one in files
    }
    printed = output_of(
        capsys, "evaluate", "rows.parquet", options["metrics"], *ROWS, *words.split()
    )
    assert printed == as_printed(report_of(files, **options | columns))


def test_negative_labels_where_only_order_counts(files, capsys):
    files["y"] -= 1
    files.to_csv("rows.csv", index=False)
    printed = output_of(capsys, "evaluate", "rows.csv", "spearman", "kendall_tau", *ROWS)
    assert printed == as_printed(report_of(files, metrics=["spearman", "kendall_tau"]))
    assert "column 'y' must hold numbers from 0 to" in error_of(
        capsys, "evaluate", "rows.csv", "spearman", "mrr", *ROWS
    )
    message = error_of(capsys, "evaluate", "rows.csv", "spearman", *ROWS, "--judged", "known")
    assert "column 'y' must hold numbers from 0 to" in message


def test_tables_need_pyarrow(files, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    message = error_of(capsys, "evaluate", "rows.csv", "mrr", *ROWS)
    assert message.endswith("Reading rows.csv needs pyarrow: pip install pyarrow")


@pytest.mark.parametrize("name", ["rows.csv", "rows.TSV.GZ", "rows.PARQUET", "rows.feather"])
def test_tables_and_packed_tables(name, files, capsys):
    write_table(files, name)
    expected = as_printed(report_of(files))
    data = Path(name).read_bytes()
    assert output_of(capsys, "evaluate", name, "mrr", *ROWS) == expected
    if name.endswith(".csv"):
        Path(f"{name}.gz").write_bytes(gzip.compress(data))
        assert output_of(capsys, "evaluate", f"{name}.gz", "mrr", *ROWS) == expected


def test_runs_of_the_standard_input(files, capsys, monkeypatch):
    expected = output_of(capsys, "evaluate", "qrels", "run", "mrr")
    Path("out").write_text("")
    for words, data in (
        ([], gzip.compress(RUN.encode())),
        (["--output-file", "out"], RUN.encode()),
    ):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        printed = output_of(capsys, "evaluate", "qrels", *words, "-", "mrr")
        printed += Path("out").read_text()
        assert "standard input as a TREC run" in printed
        assert printed.replace("standard input", "run") == expected


@pytest.mark.parametrize("words", ["", "--missing skip", "--exclude seen.csv"])
def test_options_of_runs_are_those_of_evaluate_run(words, files, capsys):
    Path("qrels").write_text(QRELS + "303 0 a 1\n")
    Path("run").write_text(RUN.replace("1.5", "2.500000001"))  # a tie in float32
    Path("seen.csv").write_text("query,document\n301,b\n302,a\n")
    given = words.removeprefix("--").replace("-", "_").split()
    options = with_policies(
        ["P_1,5", "mrr"], convention="trec_eval", **dict([given] if given else [])
    )
    _, expected = as_command(evaluate_run, "qrels", "run", **options)
    printed = output_of(capsys, "evaluate", "qrels", "run", "P_1,5", "mrr", *words.split())
    assert printed == expected
    _, condensed = as_command(evaluate_run, "qrels", "run", metrics="mrr", condense=True)
    assert output_of(capsys, "evaluate", "qrels", "run", "mrr", "--condense") == condensed
    assert "no list for 1 quer" in error_of(
        capsys, "evaluate", "qrels", "run", "mrr", "--missing", "error"
    )


def test_topics_left_out_are_named(files, capsys):
    Path("qrels").write_text(QRELS + "303 0 a 1\n")
    Path("run").write_text(RUN + "998 Q0 a 1 3 tag\n999 Q0 a 1 3 tag\n")
    words = ["evaluate", "qrels", "run", "mrr", "--missing", "skip"]
    found, other = (
        as_command(evaluate_run, "qrels", n, "mrr", missing="skip")[0].health.findings[-2:]
        for n in ("run", "other")
    )
    for name, expected in (("run", found), ("other", other)):
        words = ["evaluate", "qrels", name, "mrr", "--missing", "skip", "--output", "json"]
        printed = json.loads(output_of(capsys, *words))
        assert printed["findings"][name][-2:] == [*expected]


@pytest.mark.parametrize(("convention", "value"), [("trec_eval", 0.5), ("sklearn", 1.0)])
def test_the_convention_says_how_scores_of_runs_are_compared(convention, value, files, capsys):
    Path("qrels").write_text("t 0 a 1\nt 0 b 0\n")
    # In float32, the two are equal, and "b" comes first by its id.
    Path("run").write_text("t Q0 a 1 0.5000000001 x\nt Q0 b 2 0.5 x\n")
    command = ["evaluate", "qrels", "run", "mrr", "--convention", convention, "--output", "json"]
    (row,) = json.loads(output_of(capsys, *command))["rows"]
    assert row["mean"] == value


def test_names_of_metrics_are_metrics_even_if_there_is_such_a_file(files, capsys):
    expected = output_of(capsys, "evaluate", "qrels", "run", "map")
    Path("map").write_text(OTHER)
    assert output_of(capsys, "evaluate", "qrels", "run", "map") == expected
    printed = output_of(capsys, "evaluate", "qrels", "./map", "mrr")
    of_other = output_of(capsys, "evaluate", "qrels", "other", "mrr")
    assert printed == of_other.replace("other", "map")
    assert output_of(capsys, "evaluate", "qrels", "mrr", "./map") == printed, "in any order"


@pytest.mark.slow
def test_a_pipe_of_the_shell_is_an_output_file(files):
    command = f"{sys.executable} -m skrank_metrics evaluate qrels run mrr --output-file"
    run = {"capture_output": True, "text": True, "check": True}
    expected = subprocess.run(["bash", "-c", f"{command} /dev/fd/1"], **run)
    assert expected.stdout.startswith("run: 2 queries")
    done = subprocess.run(["bash", "-c", f"{command} >(cat > out) && sleep 0.5; cat out"], **run)
    assert done.stdout == expected.stdout


# --- Judgments and runs in tables, and a table per system


def write_csv(text, name, columns):
    """Some fields of the lines of a TREC file as a table."""
    rows = [line.split() for line in text.splitlines()]
    frame = pd.DataFrame({column: [row[n] for row in rows] for column, n in columns.items()})
    write_table(frame, name)


@pytest.fixture
def by_id(tmp_path, monkeypatch):
    """Judgments and runs as TREC files and as tables."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("qrels", QRELS), ("run", RUN), ("other", OTHER)):
        Path(name).write_text(text)
    write_csv(QRELS, "qrels.csv", {"query": 0, "document": 2, "label": 3})
    for name, text in (("run.csv", RUN), ("other.csv", OTHER)):
        write_csv(text, name, {"topic": 0, "docno": 2, "score": 4})


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_judgments_and_runs_in_tables(command, by_id, capsys):
    words = ["mrr", "--convention", "sklearn"]
    expected = output_of(capsys, command, "qrels", "run", "other", *words)
    tables = output_of(capsys, command, "qrels.csv", "run.csv", "other.csv", *words)
    assert tables.partition("Read:")[0] == expected.partition("Read:")[0]
    mixed = output_of(capsys, command, "qrels", "run.csv", "other.csv", *words)
    assert mixed.partition("Read:")[0] == tables.partition("Read:")[0]


def test_columns_with_names_of_their_own(by_id, capsys):
    write_csv(QRELS, "skus.tsv", {"query": 0, "sku": 2, "label": 3})
    write_csv(RUN, "run.csv", {"query": 0, "sku": 2, "score": 4})
    words = ["evaluate", "skus.tsv", "run.csv", "mrr"]
    assert "name it with --columns document=..." in error_of(capsys, *words)
    assert "0.7500" in output_of(capsys, *words, "--columns", "document=sku"), "ranks 2 and 1"


def test_documents_that_are_twice_in_a_list(by_id, capsys):
    Path("run").write_text(RUN + "302 Q0 a 3 9 tag\n")
    words = ["evaluate", "qrels", "run", "mrr"]
    message = error_of(capsys, *words)
    assert "twice. evaluate_run keeps one with --duplicates first or --duplicates best" in message
    assert "0.7500" in output_of(capsys, *words, "--duplicates", "best")


def test_a_table_per_system(files, capsys):
    for name in "ab":
        write_table(files.rename(columns={name: "score"})[["q", "y", "score"]], f"{name}.csv")
    words = ["mrr", "--label", "y", "--score", "score", "--qid", "q"]
    expected = output_of(capsys, "compare", "rows.csv", "mrr", *BOTH)
    printed = output_of(capsys, "compare", "a.csv", "b.csv", *words)
    assert printed.replace(".csv", "").split() == expected.split()
    output_of(capsys, "evaluate", "a.csv", *words, "--save", "a.json")
    assert "\nscore " in output_of(capsys, "compare", "a.json", "b.csv", *words)


def test_tables_with_several_scores_each(files, capsys):
    files.to_csv("more.csv", index=False)
    words = ["evaluate", "rows.csv", "more.csv", "mrr", *BOTH, "--output", "json"]
    rankings = json.loads(output_of(capsys, *words))["rankings"]
    assert sorted(row["ranking"] for row in rankings) == sorted(
        ["rows.csv: a", "rows.csv: b", "more.csv: a", "more.csv: b"]
    )


def test_a_saved_report_may_be_called_like_a_column(files, capsys):
    output_of(capsys, "evaluate", "rows.csv", "mrr", *ROWS, "--save", "a.json")
    words = ["evaluate", "rows.csv", "a.json", "mrr", *ROWS, "--output", "json"]
    rankings = json.loads(output_of(capsys, *words))["rankings"]
    assert {row["ranking"] for row in rankings} == {"a", "a.json"}


def test_columns_of_one_file(by_id, capsys):
    write_csv(QRELS, "terms.csv", {"Query Text": 0, "document": 2, "label": 3})
    words = ["evaluate", "terms.csv", "run.csv", "mrr"]
    assert "no column 'query'" in error_of(capsys, *words)
    named = output_of(capsys, *words, "--columns", "qrels.query=Query Text")
    assert "0.7500" in named, "ranks 2 and 1"
    message = error_of(capsys, *words, "--columns", "judgments.query=Query Text")
    assert "got 'judgments'" in message


def test_ids_of_both_sides_as_text(by_id, capsys):
    frame = pd.read_csv("run.csv")
    frame.to_parquet("run.parquet")
    words = ["evaluate", "qrels", "run.parquet", "mrr"]
    assert "convert one of the two, or pass --ids text." in error_of(capsys, *words)
    assert "0.7500" in output_of(capsys, *words, "--ids", "text")


@pytest.mark.parametrize("source", ["parts", "parts/*.parquet"])
def test_tables_may_be_folders_and_patterns(source, files, capsys):
    expected = output_of(capsys, "evaluate", "rows.parquet", "mrr", *ROWS)
    Path("parts").mkdir()
    files.iloc[:50].to_parquet("parts/part-0.parquet")
    files.iloc[50:].to_parquet("parts/part-1.parquet")
    Path("parts/_SUCCESS").write_text("")
    assert output_of(capsys, "evaluate", source, "mrr", *ROWS) == expected
