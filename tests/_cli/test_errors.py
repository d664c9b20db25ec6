"""Bad input ends with one line and exit code 2; nothing is overwritten."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.command_line import (
    ROWS,
    code_of,
    error_of,
    report_of,
)

from skrank_metrics._cli import commands
from skrank_metrics._cli.options import OPTIONS, in_options

NAMES = ["q", "y", "a", "b", "kind", "lang", "user", "w", "seen", "known"]
ALL = f"Columns: {', '.join(map(repr, NAMES))}."
# Commands, and what their errors say.
WRONG = """\
evaluate qrels runn.txt ngcd@10 -> File not found: runn.txt.
evaluate qrels othr mrr -> othr is not a file. Unknown metric 'othr'.
evaluate qrels no/run mrr -> File not found: no/run.
evaluate qrels run ngcd@10 -> ngcd@10 is not a file. Unknown metric 'ngcd'. Did you mean 'ndcg@10'?
evaluate qrels mrr -> Pass a ranking: runs after the judgments; a table of rows with --label, --score and --qid;
evaluate qrels empty -> empty: There is no such file, or folder of tables, for run
evaluate rows.csv ROWS map_cut_5 -> divides by the number of relevant documents
evaluate mrr map --label y -> Pass files beside the metrics; got mrr, map.
compare saved.json saved.json -> Name each file once; got saved.json again.
evaluate qrels run run -> Name each file once; got run again.
evaluate rows.parquet --qid q -> --qid does not apply to judgments and runs. Tables of rows need --label, too.
evaluate rows.csv --label yy --score a b --qid q ->\
 header of rows.csv, its first line, has no column 'yy' for --label. ALL
evaluate rows.csv ROWS --by b -> rows.csv: by must be constant within a query
evaluate rows.csv ROWS --by knd -> Did you mean 'kind'?
evaluate rows.csv GIVEN c --by Kind -> its first line, has no column 'c' for --score. ALL
evaluate rows.csv --label y --qid q --score a ndcg@5 -> its first line, has no column 'ndcg@5' for --score. ALL
evaluate qrels run --by q -> --by does not apply to judgments and runs.
evaluate rows.csv ROWS --missing zero -> --missing does not apply to tables of rows.
evaluate qrels GIVEN -> qrels must be a file of Parquet, Arrow, CSV or TSV with a header; its first line is '301 0 a 1'.
evaluate rows.csv --label y --qid q --score a a -> --score names a twice.
evaluate rows.csv mrr --label y --score a --qid y -> --label and --qid must name different columns; both name 'y'.
evaluate qrels run --nope -> unrecognized arguments: --nope
evaluate qrels rows.csv -> rows.csv has no column 'document'; name it with --columns document=....
evaluate rows.csv rows.tsv --qid q ->\
 --qid does not apply to judgments and runs. Tables of rows need --label
evaluate rows.csv rows.tsv --label y --qid q -> --label needs --score, the columns with the scores.
evaluate rows.csv rows.csv ROWS -> Name each file once; got rows.csv again.
evaluate qrels run --columns document -> argument --columns: must be ROLE=NAME; got 'document'
evaluate qrels run --columns document=a --columns document=b ->\
 --columns must have different names; got 'document' more than once. Name one column per role.
compare qrels run other --confidence 3 -> error: --confidence must be a number in [0.01, 0.9999]; got 3.0.
compare qrels run mrr -> compare takes two or more rankings; got run. A second run, saved
compare run other mrr -> run looks like a run (6 fields); judgments come first: compare QRELS RUN [RUN ...].
compare rows.csv mrr ROWS -> compare takes two or more rankings; got a.
compare rows.csv mrr --label y --qid q --score a,b -> no column 'a,b' for --score.
compare qrels run saved.json map -> Metric 'map' is missing from saved.json, which has mrr.
compare rows.csv saved.json ROWS --by kind ->\
 --by must be the same for all rankings; saved.json was evaluated without it.
compare rows.csv saved.json ROWS --groups user ->\
 error: reports must have the same groups; 'a' and 'saved' differ.
evaluate qrels run other --save both.json -> --save takes one ranking; got run, other.
compare qrels run other --margin -1 -> error: --margin must be
compare qrels run other --margin 0.1 --baseline othre ->\
 error: --baseline must be one of ['run', 'other']; got 'othre'.
evaluate - - mrr -> Name each file once; got - again.
evaluate qrels run nope --output-file one -> nope is not a file.
evaluate qrels run mrr --output-file run -> --output-file run would overwrite run. Choose another file.
evaluate qrels run mrr --output-file ./qrels -> --output-file ./qrels would overwrite qrels.
evaluate qrels run mrr --output-file link -> --output-file link would overwrite run.
evaluate qrels run mrr --output-file hard -> --output-file hard would overwrite run.
evaluate saved.json mrr --output-file new.txt --save saved.json -> --save saved.json would overwrite saved.json.
evaluate rows.csv mrr ROWS --output-file rows.csv -> --output-file rows.csv would overwrite rows.csv.
evaluate qrels run mrr --save x.json --output-file x.json -> --save x.json would overwrite --output-file.
evaluate qrels run mrr --save x.json --output-file ./x.json -> --save x.json would overwrite --output-file.
evaluate qrels run mrr --save X.json --output-file x.json -> --save X.json would overwrite --output-file.
evaluate qrels run mrr --save out.json --output-file new.json -> --save out.json would overwrite --output-file.
evaluate qrels run mrr --output-file - -> --output-file must name a file; without it, standard output is written.
demo --picture no/picture.png -> --picture must be a file in an existing folder; got no
demo --picture . -> --picture must be a file in an existing folder; got .
compare rows.csv saved.json GIVEN b --qid q --margin 0.1 -> Name the baseline with --baseline
 -> the following arguments are required: command
evaluate qrels run other --by-query -> --by-query takes one ranking; got run, other.
"""


def contents():
    return {path: path.read_bytes() for path in Path().iterdir() if path.is_file()}


@pytest.mark.parametrize("case", WRONG.splitlines())
def test_bad_input_is_one_line_with_exit_code_2_and_changes_no_file(case, files, capsys):
    Path("link").symlink_to("run")
    Path("hard").hardlink_to("run")
    Path("out.json").symlink_to("new.json")  # which is not there yet
    Path("old.json").write_text("")
    Path("empty").mkdir()
    report_of(files).save("saved.json")
    before = contents()
    case = (
        case.replace("ROWS", " ".join(ROWS))
        .replace("GIVEN", "--label y --score a")
        .replace("ALL", ALL)
    )
    words, expected = case.split(" -> ")
    message = error_of(capsys, *words.split())
    assert re.match(r"skrank-metrics( \w+)?: error: ", message)
    assert expected in message
    assert contents() == before


FREE_TEXT = [one for one in OPTIONS if one.read is str and not one.is_flag and not one.choices]


@pytest.mark.parametrize("option", FREE_TEXT, ids=lambda one: one.name)
def test_empty_words_are_refused(option, files, capsys):
    message = error_of(capsys, option.commands[0], "qrels", "run", "mrr", f"--{option.name}", "")
    assert f"--{option.name} is empty. Name something, or leave the option out." in message


@pytest.mark.parametrize(
    "words", [["", "mrr"], ["qrels", "run", ""], ["--output", "json", "run", ""]]
)
def test_empty_files_and_metrics_are_refused(words, files, capsys):
    message = error_of(capsys, "evaluate", "qrels", *words)
    assert message == "skrank-metrics: error: a file or metric is empty."


@pytest.mark.slow
def test_a_full_disk_is_one_line(files):
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "skrank_metrics", "evaluate", "qrels", "run"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "skrank-metrics: error: standard output: No space left on device\n"


@pytest.mark.slow
def test_ctrl_c_is_quiet(files):
    code = (
        "import os, signal, threading; from skrank_metrics.__main__ import main; "
        "threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start(); main(['evaluate', 'qrels', '-'])"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=-1, stdout=-1, stderr=-1) as process:
        code = process.wait(timeout=60)  # for input, which never comes
        assert code == 130
        assert process.stdout.read() == b""
        assert process.stderr.read() == b""


@pytest.mark.slow
def test_a_broken_pipe_is_quiet(files):
    words = f"{sys.executable} -m skrank_metrics evaluate qrels run --output json"
    command = f"{words} | head -c 0; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout in ("141\n", "0\n"), "not 1, which means worse"
    assert done.stderr == ""


def test_a_defect_is_no_verdict(files, capsys, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("a defect")

    monkeypatch.setattr(commands, "read_reports", fail)
    assert code_of("compare", "qrels", "run", "other", "--margin", "0.1") == 2
    assert "RuntimeError: a defect" in capsys.readouterr().err


def test_the_file_of_pairs_to_exclude_is_not_overwritten(files, capsys, tmp_path):
    (tmp_path / "seen.csv").write_text("query,document\n301,a\n")
    message = error_of(
        capsys,
        "evaluate",
        "qrels",
        "run",
        "mrr",
        "--exclude",
        "seen.csv",
        "--output-file",
        "./seen.csv",
    )
    assert message.endswith(
        "--output-file ./seen.csv would overwrite seen.csv. Choose another file."
    )


def test_a_file_whose_name_differs_in_case_is_another_file(files):
    Path("RUN").write_text("old")
    if Path("run").read_text() == "old":
        pytest.skip("This file system ignores case.")
    before = Path("run").read_text()
    assert code_of("evaluate", "qrels", "run", "mrr", "--output-file", "RUN") == 0
    assert Path("run").read_text() == before
    assert "mrr" in Path("RUN").read_text()


@pytest.mark.parametrize("words", ["evaluate qrels NAME", "evaluate qrels run NAME.txt"])
def test_long_names_are_cut(words, files, capsys):
    message = error_of(capsys, *words.replace("NAME", "x" * 200_000).split())
    assert "xxx..." in message
    assert len(message) < 2000


TRANSLATED = {
    "margin must be a number": "--margin must be a number",
    "qid and sample_weight must name different columns": "--qid and --weight must name different columns",
    "rows.csv has no column 'c' for score.": "rows.csv has no column 'c' for --score.",
    "pass missing='zero' or columns={'score': 'a b'}": "pass --missing zero or --columns score=a b",
    "reports must have the same groups": "reports must have the same groups",
    "the score of a query by margin": "the score of a query by margin",
}


@pytest.mark.parametrize("message", TRANSLATED)
def test_messages_name_options_where_they_name_arguments(message):
    assert in_options(message) == TRANSLATED[message]
