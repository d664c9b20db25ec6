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
from skrank_metrics._cli.options import OPTIONS

ALL = "columns: q, y, a, b, kind, lang, user, w, seen, known."
# Commands, and what their errors say.
WRONG = """\
evaluate qrels runn.txt ngcd@10 -> File not found: runn.txt.
evaluate qrels othr mrr -> File not found: othr. Did you mean 'other'?
evaluate qrels no/run mrr -> File not found: no/run.
evaluate qrels run ngcd@10 -> ngcd@10 is not a file. Unknown metric 'ngcd'. Did you mean 'ndcg@10'?
explain qrels run mrr map --conventions sklearn lightgbm -> explain takes one ranking and one metric; got run and mrr
evaluate qrels mrr -> Pass a ranking: runs after the judgments, --score, or saved reports; got none.
evaluate qrels . -> .: Is a directory
evaluate rows.csv ROWS map_cut_5 -> divides by the number of relevant documents
evaluate mrr map --label y -> Pass files beside the metrics; got mrr, map.
compare saved.json saved.json --format trec -> Rankings must have different names; got saved.json, saved.json.
evaluate qrels run run -> Rankings must have different names; got run, run.
evaluate rows.csv -> no column 'qid'. Pass --label, --score, --qid; ALL
evaluate rows.parquet --qid q -> rows.parquet needs --label, --score; ALL
evaluate rows.csv --label yy --score a b --qid q -> rows.csv has no column 'yy'. Pass --label; ALL
evaluate rows.csv ROWS --by b -> rows.csv: by must be constant within a query
evaluate rows.csv ROWS --by knd -> Did you mean 'kind'?
evaluate rows.csv GIVEN c --by Kind -> rows.csv has no column 'c', 'qid', 'Kind'. Pass --score, --qid, --by; ALL
evaluate rows.csv --label y --qid q --score a ndcg@5 ->\
 rows.csv has no column 'ndcg@5'. Pass --score; ALL Metrics come before --score, or after another option.
evaluate rows.svm --score scores ndcg@5 -> ndcg@5: No such file or directory
evaluate qrels run --by q -> --by does not apply to trec files.
evaluate rows.csv --missing zero -> --missing does not apply to csv files.
evaluate qrels GIVEN -> Pass --format to say what qrels is: parquet, csv, tsv, arrow.
evaluate rows.csv --label y --qid q --score a a -> --score names a twice.
evaluate rows.csv --format parquet ROWS -> rows.csv must be a file of parquet; reading it failed
evaluate qrels run --nope -> unrecognized arguments: --nope
match qrels run ndcg --value 0_1 -> error: --value must be a finite number; got '0_1' (str).
match qrels run -> the following arguments are required: --value
explain qrels run --conventions sklearn -> expected 2 arguments
evaluate qrels rows.csv -> rows.csv has no column 'document'; name it with --columns document=....
evaluate rows.svm rows.csv --score scores -> Pass a single file of rows; got 2: rows.svm, rows.csv.
evaluate rows.csv rows.tsv --qid q -> --qid does not apply to tables of judgments and runs. Tables of rows need --label
evaluate rows.csv rows.tsv --label y --qid q -> rows.csv needs --score; ALL
evaluate rows.csv rows.csv ROWS -> Rankings must have different names; got rows.csv, rows.csv.
evaluate qrels run --columns document -> argument --columns: must be ROLE=NAME; got 'document'
compare qrels run other --confidence 3 -> error: --confidence must be a number in [0.01, 0.9999]; got 3.0.
evaluate rows.svm --score one -> one must hold one score per row of rows.svm; got 1 scores for
evaluate run --format svmlight --score scores -> run, line 1: expected a row as 'label qid:id
evaluate rows.svm -> Pass a ranking: runs after the judgments, --score, or saved reports; got none.
compare qrels run mrr -> Pass two or more rankings: runs after the judgments, --score, or saved reports; got run.
compare rows.csv mrr ROWS -> Pass two or more rankings: runs after the judgments, --score, or saved reports; got a.
compare rows.csv mrr --label y --qid q --score a,b -> got a,b. Separate names by blanks: a b.
evaluate rows.csv --label y --qid q --score a,b -> no column 'a,b'. Pass --score; ALL Separate names by blanks: a b.
compare qrels run saved.json map -> Metric 'map' is missing from saved.json, which has mrr.
evaluate saved.json --replace-undefined-by 0 -> --replace-undefined-by does not apply to saved files.
explain qrels run mrr --conventions sklearn trec_eval --condense -> unrecognized arguments: --condense
explain saved.json mrr --conventions sklearn trec_eval -> Labels and scores are needed, but this report keeps no
compare rows.csv saved.json ROWS --by kind ->\
 --by must be the same for all rankings; saved.json was evaluated without it.
compare rows.csv saved.json ROWS --groups user ->\
 --groups must be the same for all rankings; saved.json was evaluated without it.
evaluate qrels run other --save both.json -> --save takes one ranking; got run, other.
evaluate qrels run --save out.txt -> --save must name a file that ends in .json; got 'out.txt'.
compare qrels run other --margin -1 -> error: --margin must be
compare qrels run other --margin 0.1 --baseline othre -> error: --baseline must be one of ['run', 'other']; got 'othre'.
evaluate - - mrr -> Standard input can be read only once.
evaluate empty.svm mrr --score scores -> empty.svm has only comments, and no rows.
evaluate qrels run nope --output-file one -> nope is not a file.
evaluate qrels run mrr --output-file run -> run is an input, and would be overwritten. Choose another file for the
evaluate qrels run mrr --output-file ./qrels -> qrels is an input, and would be overwritten.
evaluate qrels run mrr --output-file link -> link is an input, and would be overwritten.
evaluate saved.json mrr --output-file new.txt --save saved.json -> saved.json is an input, and would be overwritten.
evaluate rows.svm mrr --score scores --output-file scores -> scores is an input, and would be overwritten.
evaluate rows.csv mrr ROWS --output-file rows.csv -> rows.csv is an input, and would be overwritten.
evaluate qrels run mrr --save x.json --output-file x.json ->\
 --output-file and --save must name different files; both are x.json.
evaluate qrels run mrr --save x.json --output-file ./x.json -> must name different files; both are ./x.json.
evaluate qrels run mrr --save X.json --output-file x.json -> must name different files; both are x.json.
evaluate qrels run mrr --save out.json --output-file new.json -> must name different files; both are new.json.
evaluate qrels run mrr --save hard.json --output-file old.json -> must name different files; both are old.json.
evaluate qrels run mrr --exclude old.json --output-file hard.json -> hard.json is an input, and would be
evaluate qrels run mrr --output-file - -> --output-file must name a file; without it, standard output is written.
demo --picture no/picture.png -> --picture must be a file in an existing folder; got no
demo --picture . -> --picture must be a file in an existing folder; got .
demo --picture ranking.xls -> --picture must end in .png, .svg, .pdf; got ranking.xls.
compare rows.csv saved.json GIVEN b --qid q --margin 0.1 ->\
 Name the baseline with --baseline: the first ranking may be saved.json or one of --score.
compare saved.json rows.svm --score scores --margin 0.1 -> Name the baseline with --baseline
 -> the following arguments are required: command
"""


def contents():
    return {path: path.read_bytes() for path in Path().iterdir() if path.exists()}


@pytest.mark.parametrize("case", WRONG.splitlines())
def test_bad_input_is_one_line_with_exit_code_2_and_changes_no_file(case, files, capsys):
    Path("one").write_text("1.5\n")
    Path("empty.svm").write_text("# nothing\n")
    Path("link").symlink_to("run")
    Path("out.json").symlink_to("new.json")  # which is not there yet
    Path("old.json").write_text("")
    Path("hard.json").hardlink_to("old.json")
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
    "words", [["", "mrr"], ["qrels", "run", ""], ["--output", "tsv", "run", ""]]
)
def test_empty_files_and_metrics_are_refused(words, files, capsys):
    message = error_of(capsys, "evaluate", "qrels", *words)
    assert message == "skrank-metrics: error: a file or metric is empty."


SVMLIGHT = {
    "1 qid:1 1:2 # a\n# a comment\n-1 qid:1 1:2\n": "line 3: expected a finite label >= 0; got '-1 qid:1 1:2'.",
    "# a comment\n\n0 id:1 1:2\n": "line 3: expected a row as 'label qid:id feature:value ...'; got '0 id:1 1:2'.",
    "0 qid: 1:1\n": "line 1: expected a row as",
    "0\n": "line 1: expected a row as",
    "inf qid:1 1:1\n": "line 1: expected a finite label >= 0; got 'inf qid:1 1:1'.",
}


@pytest.mark.parametrize("text", SVMLIGHT)
def test_wrong_rows_of_svmlight_are_shown(text, files, capsys):
    Path("w.svm").write_text(text)
    message = error_of(capsys, "evaluate", "w.svm", "--score", "scores")
    assert message.startswith(f"skrank-metrics: error: w.svm, {SVMLIGHT[text]}")


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
        assert (code, process.stdout.read(), process.stderr.read()) == (130, b"", b"")


@pytest.mark.slow
def test_a_broken_pipe_is_quiet(files):
    command = f"{sys.executable} -m skrank_metrics evaluate qrels run --output tsv | head -c 0; echo ${{PIPESTATUS[0]}}"
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
        "seen.csv is an input, and would be overwritten. Choose another file for the output."
    )


@pytest.mark.parametrize("words", ["evaluate qrels NAME", "evaluate qrels run NAME.txt"])
def test_long_names_are_cut(words, files, capsys):
    message = error_of(capsys, *words.replace("NAME", "x" * 200_000).split())
    assert "xxx..." in message
    assert len(message) < 2000
