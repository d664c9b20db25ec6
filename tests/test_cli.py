"""The command line: what it prints for files, and that bad input ends with exit code 2 and one line."""

import gzip
import io
import json
import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import skrank_metrics
from skrank_metrics import compare, evaluate, evaluate_batches, explain_difference, match_convention
from skrank_metrics.__main__ import main
from skrank_metrics._cli import commands
from skrank_metrics.datasets import make_ranking
from skrank_metrics.metrics.names import bind
from skrank_metrics.sources import progress
from skrank_metrics.trec import evaluate_run

QRELS = "301 0 a 1\n301 0 b 0\n302 0 a 2\n302 0 c 1\n"
RUN = "301 Q0 b 1 2.5 tag\n301 Q0 a 2 1.5 tag\n302 Q0 a 1 3 tag\n302 Q0 b 2 1 tag\n"
OTHER = RUN.replace("301 Q0 b 1 2.5", "301 Q0 b 1 0.5")


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder to work in, with files of TREC and a table of rows in all formats."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("qrels", QRELS), ("run", RUN), ("other", OTHER)):
        (tmp_path / name).write_text(text)
    X, y, qid = make_ranking(8, n_features=2, random_state=0)
    frame = pd.DataFrame({"q": [f"q{i}" for i in qid], "y": y, "a": X[:, 0], "b": X[:, 1], "kind": qid % 2})
    frame.to_csv("rows.csv", index=False)
    frame.to_csv("rows.tsv", index=False, sep="\t")
    frame.to_csv("rows.csv.gz", index=False)
    frame.to_parquet("rows.parquet")
    rows = "".join(f"{label} qid:{i} 1:0.5 # comment\n" for label, i in zip(y, qid, strict=True))
    (tmp_path / "rows.svm").write_text(rows)
    (tmp_path / "scores").write_text("".join(f"{score!r}\n" for score in X[:, 0].tolist()))
    return frame


def output_of(capsys, *words):
    main(list(words))
    done = capsys.readouterr()
    assert done.err == ""
    return done.out


def error_of(capsys, *words):
    with pytest.raises(SystemExit) as raised:
        main(list(words))
    done = capsys.readouterr()
    assert raised.value.code == 2
    assert done.out == ""
    assert "Traceback" not in done.err
    return done.err.splitlines()[-1]


def test_one_run_prints_its_report(files, capsys):
    printed = output_of(capsys, "evaluate", "qrels", "run", "P_5", "map")
    assert printed == f"{evaluate_run('qrels', 'run', ['P_5', 'map'])}\n"
    printed = output_of(capsys, "evaluate", "qrels", "run", "P_1,5", "map")
    assert printed == f"{evaluate_run('qrels', 'run', ['P_1,5', 'map'])}\n"


def test_several_runs_are_printed_side_by_side(files, capsys):
    head, *rows = output_of(capsys, "evaluate", "qrels", "run", "other", "mrr").splitlines()
    assert head.split() == ["ranking", "queries", "mrr"]
    assert [row.split() for row in rows] == [["run", "2", "queries", "0.7500"], ["other", "2", "queries", "1.0000"]]


def test_values_of_queries_in_tsv_and_json(files, capsys):
    words = ["evaluate", "qrels", "run", "mrr", "--by-query", "--output"]
    rows = [line.split("\t") for line in output_of(capsys, *words, "tsv").splitlines()]
    assert rows[0] == ["ranking", "metric", "qid", "value"]
    assert rows[1:] == [["run", "mrr", "301", "0.5"], ["run", "mrr", "302", "1.0"], ["run", "mrr", "all", "0.75"]]
    found = json.loads(output_of(capsys, *words, "json"))
    assert found["run"]["per_query"] == {"mrr": {"301": 0.5, "302": 1.0}}
    assert found["run"]["metrics"]["mrr"]["mean"] == 0.75
    assert "302  1.0000" in output_of(capsys, *words, "table")


def test_json_has_names_as_they_are(files, capsys, tmp_path):
    (tmp_path / "größer").write_text(RUN)
    printed = output_of(capsys, "evaluate", "qrels", "größer", "mrr", "--output", "json")
    assert '"größer"' in printed
    assert list(json.loads(printed)) == ["größer"]


@pytest.mark.parametrize("score", ["9007199254740993", "-9007199254740993"])
def test_integers_that_float64_cannot_hold_are_refused(score, files, capsys, tmp_path):
    (tmp_path / "two.svm").write_text("1 qid:1 1:0\n0 qid:1 1:0\n")
    (tmp_path / "large").write_text(f"9007199254740992\n{score}\n")
    message = error_of(capsys, "evaluate", "two.svm", "mrr", "--scores", "large")
    assert "large, line 2: expected a number, and integers within +-2**53, which float64 holds exactly; got" in message
    (tmp_path / "large").write_text(f"9007199254740992\n{score}.0\n")
    output_of(capsys, "evaluate", "two.svm", "mrr", "--scores", "large")
    (tmp_path / "large.csv").write_text(f"q,y,a\n1,1,9007199254740992\n1,0,{score}\n")
    message = error_of(capsys, "evaluate", "large.csv", "mrr", *ROWS)
    assert f"'a' must hold integers within +-2**53, which float64 holds exactly; got {score} in line 3 of" in message


def test_infinite_scores_of_rows_are_ranked_first_and_last(files, capsys, tmp_path):
    (tmp_path / "two.svm").write_text("1 qid:1 1:0\n0 qid:1 1:0\n1 qid:2 1:0\n0 qid:2 1:0\n")
    (tmp_path / "infinite").write_text("inf\n5\n-inf\n5\n")
    printed = output_of(capsys, "evaluate", "two.svm", "mrr", "--scores", "infinite", "--output", "json")
    assert json.loads(printed)["infinite"]["metrics"]["mrr"]["mean"] == (1 + 1 / 2) / 2


def test_json_has_no_nan(files, capsys, tmp_path):
    (tmp_path / "same").write_text(RUN)
    words = "compare", "qrels", "run", "same", "dcg", "--convention", "sklearn", "--output", "json"
    (found,) = json.loads(output_of(capsys, *words))
    assert (found["difference"], found["p_value"], found["low"]) == (0, 1, None)
    (tmp_path / "first").write_text("301 Q0 a 1 2 tag\n301 Q0 b 2 1 tag\n302 Q0 a 1 2 tag\n302 Q0 b 2 1 tag\n")
    (tmp_path / "second").write_text("301 Q0 b 1 2 tag\n301 Q0 a 2 1 tag\n302 Q0 b 1 2 tag\n302 Q0 a 2 1 tag\n")
    (found,) = json.loads(output_of(capsys, "compare", "qrels", "first", "second", "mrr", "--output", "json"))
    assert (found["difference"], found["effect_size"]) == (1 - 1 / 2, None), "infinite, as all differences are equal"


def test_html(files, capsys):
    printed = output_of(capsys, "evaluate", "qrels", "run", "mrr", "--output", "html")
    assert printed.startswith("<!DOCTYPE html>")
    assert printed.endswith("</body></html>\n")
    assert "<h2>run</h2>" in printed
    assert "0.7500" in printed
    assert "skrank-metrics evaluate qrels run mrr --output html" in printed, "how to make it again"
    assert "302" not in printed
    printed = output_of(capsys, "evaluate", "qrels", "run", "rbp(p=0.9)", "--output", "html")
    assert "skrank-metrics evaluate qrels run &#x27;rbp(p=0.9)&#x27; --output html" in printed, "as a shell takes it"
    by_query = output_of(capsys, "evaluate", "qrels", "run", "mrr", "--by-query", "--output", "html")
    assert "302" in by_query
    printed = output_of(capsys, "compare", "qrels", "run", "other", "mrr", "map", "--output", "html")
    assert [name in printed for name in ("<h2>mrr</h2>", "<h2>map</h2>")] == [True, True]


@pytest.mark.parametrize("name", ["rows.csv", "rows.tsv", "rows.csv.gz", "rows.parquet"])
def test_tables_of_rows(name, files, capsys):
    words = ["ndcg@3", "--label", "y", "--score", "a", "b", "--qid", "q", "--output", "json"]
    found = json.loads(output_of(capsys, "evaluate", name, *words))
    for column in ("a", "b"):
        expected = evaluate(files["y"], files[column], qid=files["q"], metrics="ndcg@3").mean["ndcg@3"]
        assert found[column]["metrics"]["ndcg@3"]["mean"] == pytest.approx(expected, abs=1e-15)


def test_slices_of_several_rankings_are_side_by_side(files, capsys):
    words = ["evaluate", "rows.csv", "mrr", "map", "--label", "y", "--score", "a", "b", "--qid", "q"]
    whole = output_of(capsys, *words)
    printed = output_of(capsys, *words, "--by", "kind")
    assert printed.startswith(whole)
    options = {"qid": files["q"], "metrics": ["mrr", "map"], "by": files["kind"]}
    first, second = (evaluate(files["y"], files[name], **options).slices for name in ("a", "b"))
    expected = []
    for metric in ("mrr", "map"):
        expected += [[], [metric], ["slice", "queries", "a", "b"]]
        for kind in (0, 1):
            means = (f"{part[kind].mean[metric]:.4f}" for part in (first, second))
            expected.append([str(kind), "4", *means])
    assert [line.split() for line in printed[len(whole) :].splitlines()] == expected


def test_many_slices_with_long_names_fit_in_80_columns(files, capsys):
    files["kind"] = [f"{'a long name ' * 8}{query}" for query in files["q"]]
    many = pd.concat([files.assign(**{c: files[c] + f" {i}" for c in ("q", "kind")}) for i in range(4)])
    many.to_csv("many.csv", index=False)
    words = ["evaluate", "many.csv", "mrr", "--label", "y", "--score", "a", "b", "--qid", "q", "--by", "kind"]
    printed = output_of(capsys, *words)
    assert max(map(len, printed.splitlines())) <= 80
    assert "12 others" in printed, "4 x 8 slices, of which 20 are shown"


def test_slices_and_options_of_tables(files, capsys):
    words = ["evaluate", "rows.csv", "mrr", "--label", "y", "--score", "a", "--qid", "q", "--by", "kind"]
    expected = evaluate(files["y"], files["a"], qid=files["q"], metrics="mrr", by=files["kind"], ties="worst")
    assert output_of(capsys, *words, "--ties", "worst") == f"{expected}\n"
    assert "\nslice  metric" in f"{expected}"
    rows = output_of(capsys, *words, "--output", "tsv").splitlines()
    assert [row.split("\t")[2] for row in rows[1:]] == ["all:0", "all:1", "all"]
    plain = evaluate(files["y"], files["b"], qid=files["q"], metrics="ndcg@3", by=files["kind"])
    means = [plain.slices[0].mean["ndcg@3"], plain.slices[1].mean["ndcg@3"], plain.mean["ndcg@3"]]
    words[2], words[6] = "ndcg@3", "b"
    rows = output_of(capsys, *words, "--output", "tsv").splitlines()
    assert [float(row.split("\t")[3]) for row in rows[1:]] == means
    assert len(set(means)) == 3


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_tables_need_pyarrow(name, files, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    message = error_of(capsys, "evaluate", name, "mrr", "--label", "y", "--score", "a", "--qid", "q")
    assert message.endswith(f"Reading {name} needs pyarrow: pip install 'skrank-metrics[arrow]'.")


def test_svmlight_with_scores(files, capsys):
    printed = output_of(capsys, "evaluate", "rows.svm", "mrr", "--scores", "scores", "--convention", "lightgbm")
    assert printed == f"{evaluate(files['y'], files['a'], qid=files['q'], metrics='mrr', convention='lightgbm')}\n"


def test_compare(files, capsys):
    words = ["compare", "rows.csv", "mrr", "--label", "y", "--score", "a", "b", "--qid", "q"]
    reports = {name: evaluate(files["y"], files[name], qid=files["q"], metrics="mrr") for name in ("a", "b")}
    expected = compare(reports, "mrr", random_state=0)
    assert output_of(capsys, *words) == f"{expected}\n"
    names, row = (line.split("\t") for line in output_of(capsys, *words, "--output", "tsv").splitlines())
    assert dict(zip(names, row, strict=True))["p_value"] == str(expected.pairs[0].p_value)


@pytest.mark.parametrize(("test", "correction"), [("t", "bh"), ("wilcoxon", None), ("permutation", "holm")])
def test_test_and_correction_of_compare(test, correction, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X, y, qid = make_ranking(40, n_features=4, random_state=0)
    pd.DataFrame({"qid": qid, "y": y, "a": X[:, 0], "b": X[:, 2], "c": X[:, 3]}).to_csv("many.csv", index=False)
    reports = {name: evaluate(y, X[:, i], qid=qid, metrics="mrr") for name, i in (("a", 0), ("b", 2), ("c", 3))}
    words = ["compare", "many.csv", "mrr", "--label", "y", "--score", "a", "b", "c"]
    printed = output_of(capsys, *words, "--test", test, "--correction", correction or "none")
    seed = {"random_state": 0} if test == "permutation" else {}
    assert printed == f"{compare(reports, 'mrr', test=test, correction=correction, **seed)}\n"


def test_compare_within_slices(files, capsys):
    words = ["compare", "rows.csv", "mrr", "--label", "y", "--score", "a", "b", "--qid", "q", "--by", "kind"]
    reports = {name: evaluate(files["y"], files[name], qid=files["q"], metrics="mrr") for name in ("a", "b")}
    by_query = files.groupby("q", sort=False)["kind"].first()
    expected = compare(reports, "mrr", random_state=0, by=by_query)
    assert output_of(capsys, *words) == f"{expected}\n"
    head, *rows = (line.split("\t") for line in output_of(capsys, *words, "--output", "tsv").splitlines())
    assert [row[head.index("slice")] for row in rows] == ["all", "0", "1"]


def test_runs_of_different_topics_are_compared_on_those_of_both(files, capsys, tmp_path):
    (tmp_path / "qrels").write_text(QRELS + "303 0 a 1\n")
    (tmp_path / "other").write_text(OTHER + "303 Q0 a 1 3 tag\n")
    words = ["compare", "qrels", "run", "other", "mrr"]
    assert "mrr, 3 queries" in output_of(capsys, *words), "the one without a list counts as 0"
    words += ["--missing", "skip"]
    message = error_of(capsys, *words)
    assert message.startswith("skrank-metrics: error: reports must be over the same queries; got 3 in 'other' and 2 in")
    assert "Pass --align intersection to compare on the queries that all" in message
    reports = {name: evaluate_run("qrels", name, "mrr", missing="skip") for name in ("run", "other")}
    expected = compare(reports, "mrr", align="intersection", random_state=0)
    assert output_of(capsys, *words, "--align", "intersection") == f"{expected}\n"
    message = error_of(capsys, "evaluate", "qrels", "run", "mrr", "--missing", "error")
    assert message.endswith("run has no list for 1 query of qrels, such as '303'.")


def test_topics_left_out_are_named_with_the_option(files, capsys, tmp_path):
    (tmp_path / "qrels").write_text(QRELS + "303 0 a 1\n")
    (tmp_path / "run").write_text(RUN + "998 Q0 a 1 3 tag\n999 Q0 a 1 3 tag\n")
    unranked = "Queries without a list: 1, left out; --missing zero counts them as 0."
    unjudged = "Queries without judgments: 2, ignored."
    words = ["evaluate", "qrels", "run", "mrr", "--missing", "skip"]
    for output in ("table", "html"):
        printed = " ".join(output_of(capsys, *words, "--output", output).split())
        assert [finding in printed for finding in (unranked, unjudged)] == [True, True]
    assert json.loads(output_of(capsys, *words, "--output", "json"))["run"]["findings"][-2:] == [unranked, unjudged]
    printed = " ".join(output_of(capsys, *words[:-1], "zero").split())
    unranked = "Queries without a list: 1, counted as empty lists."
    assert [finding in printed for finding in (unranked, unjudged)] == [True, True]


def test_topics_left_out_of_several_runs(files, capsys, tmp_path):
    words = ["evaluate", "qrels", "run", "other", "mrr", "--missing", "skip"]
    whole = output_of(capsys, *words)
    (tmp_path / "qrels").write_text(QRELS + "303 0 a 1\n")
    unranked = "Queries without a list: 1, left out; --missing zero counts them as 0."
    assert " ".join(output_of(capsys, *words)[len(whole) :].split()) == unranked, "once for all"
    (tmp_path / "other").write_text(OTHER + "303 Q0 a 1 3 tag\n999 Q0 a 1 3 tag\n")
    printed = " ".join(output_of(capsys, *words)[len(whole) :].split())
    assert printed == f"run: {unranked} other: Queries without judgments: 1, ignored."


def test_version(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"skrank-metrics {skrank_metrics.__version__}\n"


@pytest.mark.parametrize("command", ["evaluate", "compare", "explain", "match"])
def test_help_says_what_a_command_does_with_an_example_that_is_valid(command, capsys):
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    printed = capsys.readouterr().out
    wide = [line for line in printed.splitlines() if len(line) > 80]
    assert [line.split()[0] for line in wide] in ([], ["--convention"]), "the choices cannot be broken"
    usage, about, *others = printed.split("\n\n")
    assert usage.startswith(f"usage: skrank-metrics {command} FILE")
    assert not about.startswith("Pass TREC files")
    name, first, *words = others[-1].strip().removeprefix("Example:\n").split()
    assert (name, first) == ("skrank-metrics", command)
    chosen = commands._parser().parse_args([command, *words])
    metrics = [word for word in chosen.words if not word.endswith((".txt", ".csv"))]
    assert 0 < len(metrics) < len(chosen.words)
    for metric in metrics:
        assert bind(metric, "trec_eval" if "qrels.txt" in chosen.words else "sklearn")


def test_every_option_has_help():
    (subparsers,) = (action for action in commands._parser()._actions if action.dest == "command")
    for parser in subparsers.choices.values():
        assert parser.description
        assert [action.dest for action in parser._actions if not action.help] == []


def test_a_seed_without_permutations_is_an_error(files, capsys):
    message = error_of(capsys, "compare", "rows.csv", "mrr", *ROWS, "--test", "t", "--random-state", "1")
    assert "--random-state applies only to --test permutation; got --test t." in message


def test_compare_draws_signs_by_the_random_state(files, capsys):
    X, y, qid = make_ranking(40, n_features=4, random_state=0)  # too many queries to try all signs
    pd.DataFrame({"qid": qid, "y": y, "a": X[:, 0], "b": X[:, 3]}).to_csv("many.csv", index=False)
    reports = {name: evaluate(y, X[:, column], qid=qid, metrics="mrr") for name, column in (("a", 0), ("b", 3))}
    words = ["compare", "many.csv", "mrr", "--label", "y", "--score", "a", "b", "--output", "json"]
    found = []
    for seed, given in ((0, []), (0, ["--random-state", "0"]), (7, ["--random-state", "7"])):
        (row,) = json.loads(output_of(capsys, *words, *given))
        assert row["p_value"] == compare(reports, "mrr", random_state=seed).pairs[0].p_value
        found.append(row["p_value"])
    assert found[0] == found[1] != found[2]


def test_standard_input_and_gzip(files, capsys, monkeypatch):
    expected = output_of(capsys, "evaluate", "qrels", "run", "mrr")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(RUN.encode()))))
    assert output_of(capsys, "evaluate", "qrels", "-", "mrr") == expected
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(RUN.encode())))
    assert output_of(capsys, "evaluate", "qrels", "--output", "table", "-", "mrr") == expected, "after an option"
    assert "can be read only once" in error_of(capsys, "evaluate", "-", "-", "mrr")


def test_missing_and_score_type(files, capsys, tmp_path):
    (tmp_path / "qrels").write_text(QRELS + "303 0 a 1\n")
    # In float32, a and b of topic 301 tie, and the last id comes first; in float64, a does.
    (tmp_path / "run").write_text(RUN.replace("1.5", "2.500000001"))

    def mean(*options):
        words = "evaluate", "qrels", "run", "mrr", "--output", "tsv"
        return float(output_of(capsys, *words, *options).splitlines()[-1].split("\t")[-1])

    assert mean() == mean("--missing", "zero") == (1 / 2 + 1 + 0) / 3
    assert mean("--missing", "skip") == (1 / 2 + 1) / 2
    assert mean("--missing", "skip", "--score-type", "float64") == (1 + 1) / 2


def test_output_files_are_replaced_when_complete(files, capsys, tmp_path):
    (tmp_path / "out.json").write_text("before")
    assert "neither an existing file" in error_of(
        capsys, "evaluate", "qrels", "run", "nope", "--output-file", "out.json"
    )
    assert (tmp_path / "out.json").read_text() == "before"
    words = ["evaluate", "qrels", "run", "mrr", "--output", "json"]
    printed = output_of(capsys, *words)
    assert output_of(capsys, *words, "--output-file", "out.json") == ""
    assert (tmp_path / "out.json").read_text() == printed
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".new")]


ROWS = ["--label", "y", "--score", "a", "--qid", "q"]
WRONG = {
    "a file that is not there": (["evaluate", "qrels", "runn.txt", "mrr"], "'runn.txt' is neither an existing file"),
    "a metric that is not known": (["evaluate", "qrels", "run", "ncdg@10"], "Did you mean 'ndcg'"),
    "no run": (["evaluate", "qrels", "mrr"], "one or more runs: QRELS RUN"),
    "a folder": (["evaluate", "qrels", "."], ".: Is a directory"),
    "a run twice": (["evaluate", "qrels", "run", "run"], "Rankings must have different names; got run, run."),
    "a run for judgments": (["evaluate", "run", "run"], "run, line 1: expected 4 fields (topic iteration document"),
    "a missing column": (
        ["evaluate", "rows.csv", "--label", "yy", *ROWS[2:]],
        "label must be a column of rows.csv; 'yy' is not: it has 'q', 'y'",
    ),
    "a column of strings": (
        ["evaluate", "rows.csv", "--label", "q", *ROWS[2:]],
        "label must be a column of numbers; 'q' has 'q0' in line 2 of rows.csv.",
    ),
    "no label": (["evaluate", "rows.csv", "--score", "a"], "--label is required for csv files."),
    "an option without meaning": (["evaluate", "qrels", "run", "--by", "q"], "--by does not apply to trec files."),
    "rows of no known format": (
        ["evaluate", "qrels", *ROWS],
        "--format must say what qrels is: parquet, csv, tsv, arrow.",
    ),
    "a column twice": (
        ["evaluate", "rows.csv", *ROWS[:3], "a", "a"],
        "score must name different columns; got ['a', 'a']",
    ),
    "an empty table": (["evaluate", "empty.csv", *ROWS], "empty.csv must hold at least one line; got an empty file."),
    "a table of a header": (["evaluate", "head.csv", *ROWS], "head.csv must hold at least one document; got none."),
    "a table in another encoding": (
        ["evaluate", "latin.csv", *ROWS],
        "latin.csv, line 3: expected text in UTF-8; got 'caf\\\\xe9,1,0.5",
    ),
    "a row with a cell too few": (
        ["evaluate", "short.csv", *ROWS],
        "short.csv must be a file of csv; reading it failed",
    ),
    "a cut table": (["evaluate", "cut.parquet", *ROWS], "cut.parquet must be a file of parquet; reading it failed:"),
    "an unknown option": (["evaluate", "qrels", "run", "--nope"], "unrecognized arguments: --nope"),
    "no number to match": (["match", "qrels", "run"], "the following arguments are required: --value"),
    "a number out of range": (
        ["match", "qrels", "run", "mrr", "--value", "7"],
        "value must be in the range of mrr, from",
    ),
    "no pair of libraries": (["explain", "qrels", "run", "--conventions", "sklearn"], "expected 2 arguments"),
    "two tables": (["evaluate", "rows.csv", "rows.tsv", *ROWS], "Pass a single file of rows; got 2: rows.csv, rows"),
    "no parquet": (
        ["evaluate", "rows.csv", "--format", "parquet", *ROWS],
        "rows.csv must be a file of parquet; reading it fai",
    ),
    "scores of other rows": (
        ["evaluate", "rows.svm", "--scores", "one"],
        "one must hold one score per row of rows.svm",
    ),
    "no svmlight": (["evaluate", "run", "--scores", "scores"], "run, line 1: expected a row as 'label qid:id feat"),
    "no scores": (["evaluate", "rows.svm", "--scores", "words"], "words, line 2: expected a number; got 'x'."),
    "one ranking to compare": (["compare", "qrels", "run", "mrr"], "two or more runs to compare: QRELS RUN RUN [RUN"),
    "one column to compare": (
        ["compare", "rows.csv", "mrr", *ROWS],
        "--score must name two or more columns to compare; got a.",
    ),
    "one file of scores to compare": (
        ["compare", "rows.svm", "mrr", "--scores", "scores"],
        "--scores must name two or more files to compare; got scores.",
    ),
    "topics of rows": (
        ["compare", "rows.csv", *ROWS, "--align", "intersection"],
        "--align does not apply to csv files.",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_bad_input_is_one_line_and_exit_code_2(case, files, capsys, tmp_path):
    (tmp_path / "one").write_text("1.5\n")
    (tmp_path / "words").write_text("1.5\nx\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "head.csv").write_text("q,y,a\n")
    (tmp_path / "latin.csv").write_bytes("q,y,a\nok,1,0.5\ncafé,1,0.5\n".encode("latin-1"))
    (tmp_path / "short.csv").write_text("q,y,a\none,1,0.5\none,1\n")
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "rows.parquet").read_bytes()[:-30])
    words, expected = WRONG[case]
    message = error_of(capsys, *words)
    assert re.match("skrank-metrics( explain| match)?: error: ", message)
    assert expected in message


LINES = {
    "301 Q0 c 3 1.5": "expected 6 fields (topic Q0 document rank score tag); got '301 Q0 c 3 1.5'.",
    "301 Q0 c 3 high tag": "expected a number as score; got '301 Q0 c 3 high tag'.",
    "301 Q0 a 3 1.5 tag": "expected each document once per topic, and line 2 has this one; got '301 Q0 a 3 1.5 tag'.",
    "301 Q0 é 3 1.5 tag": "expected text in UTF-8; got '301 Q0 \\\\xe9 3 1.5 tag'.",
}


@pytest.mark.parametrize("line", LINES)
def test_wrong_lines_of_runs_are_shown(line, files, capsys, tmp_path):
    (tmp_path / "run").write_bytes((RUN + line).encode("latin-1"))
    assert error_of(capsys, "evaluate", "qrels", "run") == f"skrank-metrics: error: run, line 5: {LINES[line]}"


def test_runs_that_are_empty_or_of_other_topics(files, capsys, tmp_path):
    (tmp_path / "run").write_text("")
    expected = "skrank-metrics: error: run must hold at least one line; got an empty file."
    assert error_of(capsys, "evaluate", "qrels", "run") == expected
    (tmp_path / "run").write_text("999 Q0 a 1 3 tag")
    message = error_of(capsys, "compare", "qrels", "other", "run")
    assert message.endswith("run and qrels share no query: '999' ... against '301' ...")


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
@pytest.mark.parametrize("column", ["y", "a", "q", "kind"])
def test_nulls(name, column, files, capsys):
    files[column] = files[column].astype(object)
    files.loc[4, column] = None
    files.to_csv("rows.csv", index=False)
    files.to_parquet("rows.parquet")
    message = error_of(capsys, "evaluate", name, *ROWS, "--by", "kind")
    place = "line 6 of rows.csv" if name == "rows.csv" else "row 4 of rows.parquet"
    assert message.endswith(f"column '{column}' must not hold nulls; got one in {place}.")


def test_labels_that_metrics_refuse_name_the_file(files, capsys):
    files.loc[0, "y"] = -1
    files.to_csv("rows.csv", index=False)
    message = error_of(capsys, "evaluate", "rows.csv", *ROWS)
    assert message.endswith("column 'y' must hold finite numbers >= 0; got -1.0 in line 2 of rows.csv.")
    files.to_parquet("rows.parquet")
    message = error_of(capsys, "evaluate", "rows.parquet", *ROWS)
    assert "column 'y' must hold numbers >= 0" in message
    assert message.endswith("got -1 in row 0 of rows.parquet.")


CELLS = {
    "a score that is NaN": ("q,y,a\nx,1,2\nx,0,nan\n", "'a' must hold numbers, not NaN; got nan in line 3"),
    "blank lines": ("q,y,a\n\nx,1,2\n\n\nx,0,nan\n", "'a' must hold numbers, not NaN; got nan in line 6"),
    "line ends of Windows": ("q,y,a\r\nx,1,2\r\nx,0,nan\r\n", "'a' must hold numbers, not NaN; got nan in line 3"),
    "an infinite label": ("q,y,a\nx,inf,2\n", "'y' must hold finite numbers >= 0; got inf in line 2"),
}


def test_blank_lines_count_in_the_line_of_a_null(files, capsys, tmp_path):
    (tmp_path / "w.csv").write_text("q,y,a\n\nx,1,2\n\nx,,3\n")
    message = error_of(capsys, "evaluate", "w.csv", *ROWS)
    assert message.endswith("column 'y' must not hold nulls; got one in line 5 of w.csv.")


@pytest.mark.parametrize("case", CELLS)
def test_cells_that_metrics_refuse_are_shown(case, files, capsys, tmp_path):
    text, expected = CELLS[case]
    (tmp_path / "w.csv").write_bytes(text.encode())
    assert error_of(capsys, "evaluate", "w.csv", *ROWS) == f"skrank-metrics: error: column {expected} of w.csv."


SVMLIGHT = {
    "1 qid:1 1:2 # a\n# a comment\n-1 qid:1 1:2\n": "line 3: expected a finite label >= 0; got '-1 qid:1 1:2'.",
    "# a comment\n\n0 id:1 1:2\n": "line 3: expected a row as 'label qid:id feature:value ...'; got '0 id:1 1:2'.",
    "0 1:2 3:4\n": "line 1: expected a row as 'label qid:id feature:value ...'; got '0 1:2 3:4'.",
    "0 qid: 1:1\n": "line 1: expected a row as",
    "0\n": "line 1: expected a row as",
}


@pytest.mark.parametrize("text", SVMLIGHT)
def test_wrong_rows_of_svmlight_are_shown(text, files, capsys, tmp_path):
    (tmp_path / "w.svm").write_text(text)
    message = error_of(capsys, "evaluate", "w.svm", "--scores", "scores")
    assert message.startswith(f"skrank-metrics: error: w.svm, {SVMLIGHT[text]}")


def test_features_of_svmlight_may_be_any_numbers(files, capsys, tmp_path):
    (tmp_path / "f.svm").write_text("1 qid:1 1:-2e-3 2:+.5 7:NaN 8:3. # 9:x\n0 qid:1# 2\n0 qid:1 \n# end\n")
    (tmp_path / "s").write_text("1\n3\n2\n")
    printed = output_of(capsys, "evaluate", "f.svm", "mrr", "--scores", "s", "--output", "tsv")
    assert float(printed.split()[-1]) == 1 / 3
    (tmp_path / "f.svm").write_text(f"1 qid:{'x' * 20_000} 1:1\n1 qid:1 1:1\n0 qid:1\0 1:1\n")
    printed = output_of(capsys, "evaluate", "f.svm", "mrr", "--scores", "s", "--output", "tsv", "--by-query")
    assert [line.split("\t")[-1] for line in printed.splitlines()[1:4]] == ["1.0", "1.0", "0.0"], "three queries"
    (tmp_path / "f.svm").write_text("# nothing\n")
    assert error_of(capsys, "evaluate", "f.svm", "--scores", "s").endswith("at least one row; got only comments.")


def test_metrics_after_scores_get_a_hint(files, capsys):
    message = error_of(capsys, "evaluate", "rows.csv", "--label", "y", "--qid", "q", "--score", "a", "b", "mrr")
    assert message.endswith("it has 'q', 'y', 'a', 'b', 'kind'. Metrics come before --score, or after another option.")
    message = error_of(capsys, "evaluate", "rows.svm", "--scores", "scores", "ndcg@5")
    assert message.endswith("got 'ndcg@5'. Metrics come before --scores, or after another option.")
    message = error_of(capsys, "evaluate", "rows.svm", "--scores", "scoers")
    assert message.endswith("--scores must be existing files; got 'scoers'.")


def test_names_of_metrics_are_metrics_even_if_there_is_such_a_file(files, capsys, tmp_path):
    expected = output_of(capsys, "evaluate", "qrels", "run", "map")
    (tmp_path / "map").write_text(OTHER)
    assert output_of(capsys, "evaluate", "qrels", "run", "map") == expected
    assert output_of(capsys, "evaluate", "qrels", "./map", "mrr") == output_of(
        capsys, "evaluate", "qrels", "other", "mrr"
    )
    message = error_of(capsys, "evaluate", "qrels", "map")
    assert message.endswith("runs: QRELS RUN [RUN ...]. 'map' is taken as a metric; write ./map for the file.")


NAMES = [
    "rows.pq",
    "rows.PARQUET",
    "rows.CSV",
    "rows.Tsv",
    "rows.csv.gz",
    "rows.TSV.GZ",
    "rows.arrow",
    "rows.feather",
    "rows.ipc",
]


@pytest.mark.parametrize("name", NAMES)
def test_formats_are_the_same_here_and_in_batches(name, files, capsys):
    write_table(files, name)
    words = ["ndcg@3", "--label", "y", "--score", "a", "--qid", "q", "--output", "tsv"]
    expected = evaluate(files["y"], files["a"], qid=files["q"], metrics="ndcg@3").mean["ndcg@3"]
    assert float(output_of(capsys, "evaluate", name, *words).split()[-1]) == pytest.approx(expected, abs=1e-15)
    report = evaluate_batches(name, label="y", score="a", qid="q", metrics=["ndcg@3"])
    assert report.mean["ndcg@3"] == pytest.approx(expected, abs=1e-15)


def write_table(frame, name):
    form = name.lower().split(".")[1]
    if form in ("csv", "tsv"):
        packed = "gzip" if name.lower().endswith(".gz") else None
        frame.to_csv(name, index=False, sep="\t" if form == "tsv" else ",", compression=packed)
    elif form in ("pq", "parquet"):
        frame.to_parquet(name)
    else:
        frame.to_feather(name, compression="uncompressed")


@pytest.mark.parametrize("name", ["rows.parquet", "rows.arrow"])
def test_packed_tables_and_those_of_the_standard_input(name, files, capsys, monkeypatch, tmp_path):
    write_table(files, name)
    words = ["mrr", "--label", "y", "--score", "a", "--qid", "q"]
    expected = output_of(capsys, "evaluate", name, *words)
    data = (tmp_path / name).read_bytes()
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress(data))
    assert output_of(capsys, "evaluate", f"{name}.gz", *words) == expected
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert output_of(capsys, "evaluate", "-", *words, "--format", name.split(".")[1]) == expected


def test_tables_of_parquet_are_not_read_whole(files, capsys, monkeypatch):
    monkeypatch.setattr("skrank_metrics._cli.sources.read_bytes", None)
    output_of(capsys, "evaluate", "rows.parquet", "mrr", *ROWS)


def test_explain(files, capsys):
    words = [
        "explain",
        "rows.csv",
        "--label",
        "y",
        "--score",
        "a",
        "--qid",
        "q",
        "--conventions",
        "sklearn",
        "lightgbm",
    ]
    expected = explain_difference(files["y"], files["a"], qid=files["q"])
    assert output_of(capsys, *words) == f"{expected}\n"
    found = json.loads(output_of(capsys, *words, "--output", "json"))["a"]["ndcg@10"]
    assert found["conventions"] == ["sklearn", "lightgbm"]
    assert found["end"] - found["start"] == pytest.approx(sum(row["effect"] for row in found["rows"]), abs=1e-12)
    head, *rows = output_of(capsys, *words, "--output", "tsv").splitlines()
    assert head.split("\t") == ["ranking", "metric", "cause", "change", "effect", "n_queries"]
    assert [row.split("\t")[2] for row in rows] == [cause.cause for cause in expected.causes]
    assert "gain: linear" in output_of(capsys, *words, "--output", "html")


def test_explain_counts_ties_and_documents_of_runs_as_trec_eval_does(files, capsys, tmp_path):
    # Of two documents with one score, the last id comes first, and a relevant one was not retrieved.
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 c 1\n")
    (tmp_path / "run").write_text("1 Q0 a 1 7.5 mine\n1 Q0 b 2 7.5 mine\n")
    words = ["explain", "qrels", "run", "map", "mrr", "--conventions", "trec_eval", "sklearn", "--output", "json"]
    found = json.loads(output_of(capsys, *words))
    assert found["run"]["map"]["start"] == 1 / 2 / 2
    assert found["run"]["mrr"]["start"] == 1 / 2
    assert found["run"]["mrr"]["end"] == (1 + 1 / 2) / 2, "the mean of both orders"


def test_explain_takes_names_of_trec_eval_and_several_runs(files, capsys):
    words = ["explain", "qrels", "run", "other", "P_1", "--conventions", "trec_eval", "catboost"]
    first, second = output_of(capsys, *words).split("\n\n")
    assert first.splitlines()[:2] == ["run", "precision@1: 0.5000 by trec_eval, 0.5000 by catboost"]
    assert second.splitlines()[:2] == ["other", "precision@1: 1.0000 by trec_eval, 1.0000 by catboost"]
    rows = output_of(capsys, *words, "--output", "tsv").splitlines()
    assert rows[1].startswith("run\tP_1\t")


@pytest.mark.slow
def test_match(files, capsys):
    words = ["match", "rows.csv", "ndcg@5", "--label", "y", "--score", "a", "--qid", "q"]
    value = evaluate(files["y"], files["a"], qid=files["q"], metrics="ndcg@5", convention="lightgbm").mean["ndcg@5"]
    words += ["--value", f"{value:.5f}"]
    expected = match_convention(files["y"], files["a"], qid=files["q"], metric="ndcg@5", value=float(f"{value:.5f}"))
    assert output_of(capsys, *words) == f"{expected}\n"
    found = json.loads(output_of(capsys, *words, "--output", "json"))["a"]["ndcg@5"]
    assert "lightgbm" in found["rows"][0]["peers"]
    none = output_of(capsys, *words[:-1], "0.123456", "--tolerance", "1e-9")
    assert "none of" in none
    near = output_of(capsys, *words[:-1], "0.7", "--tolerance", "0.2")
    at = {"qid": files["q"], "metric": "ndcg@5", "value": "0.7"}
    assert near == f"{match_convention(files['y'], files['a'], tolerance=0.2, **at)}\n"
    assert near != f"{match_convention(files['y'], files['a'], **at)}\n"


def test_metrics_may_follow_the_options(files, capsys):
    expected = output_of(capsys, "evaluate", "rows.csv", "mrr", "map", *ROWS)
    assert output_of(capsys, "evaluate", "rows.csv", *ROWS, "mrr", "map") == expected


def test_tables_from_the_standard_input(files, capsys, monkeypatch, tmp_path):
    expected = output_of(capsys, "evaluate", "rows.csv", "mrr", *ROWS)
    for name, form in (("rows.csv", "csv"), ("rows.csv.gz", "csv"), ("rows.parquet", "parquet")):
        data = (tmp_path / name).read_bytes()
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert output_of(capsys, "evaluate", "-", "mrr", *ROWS, "--format", form) == expected
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"y,a\n1,2\n")))
    message = error_of(capsys, "evaluate", "-", "mrr", *ROWS, "--format", "csv")
    assert message.endswith("qid must be a column of standard input; 'q' is not: it has 'y', 'a'.")


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
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        code = process.wait(timeout=60)  # for input, which never comes
        assert (code, process.stdout.read(), process.stderr.read()) == (130, b"", b"")


def test_progress_on_a_terminal(files, capsys, monkeypatch):
    monkeypatch.setattr(progress, "ON_A_TERMINAL", 0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    main(["evaluate", "rows.csv", "mrr", *ROWS])
    shown = capsys.readouterr().err
    assert f"{len(files):,} rows, " in shown
    assert shown.endswith(progress.REPLACE)
    main(["evaluate", "qrels", "run", "other", "mrr"])
    assert capsys.readouterr().err.split(progress.REPLACE) == ["", "run, 1 of 2", "other, 2 of 2", ""]


def test_interruptions_are_quiet(files, capsys, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("skrank_metrics._cli.commands.read_reports", interrupt)
    with pytest.raises(SystemExit, match="130"):
        main(["evaluate", "qrels", "run"])
    assert capsys.readouterr() == ("", "")


@pytest.mark.slow
def test_a_broken_pipe_is_quiet(files):
    command = f"{sys.executable} -m skrank_metrics evaluate qrels run --output tsv | head -c 0"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_scores_of_columns_are_not_rounded(files, capsys):
    printed = output_of(capsys, "evaluate", "rows.csv", "mrr", *ROWS, "--output", "tsv")
    expected = evaluate(files["y"], files["a"], qid=files["q"], metrics="mrr").mean["mrr"]
    assert np.float64(printed.split()[-1]) == expected
