"""The command line: what it prints for files, its exit codes, and that bad input ends with one line."""

import gzip
import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.policies import with_policies

import skrank_metrics
from skrank_metrics import (
    RankingReport,
    compare,
    evaluate,
    evaluate_run,
    explain_difference,
    match_convention,
)
from skrank_metrics.__main__ import main
from skrank_metrics._cli import commands, options
from skrank_metrics.datasets import make_ranking
from skrank_metrics.metrics.names import bind
from skrank_metrics.sources import batches

QRELS = "301 0 a 1\n301 0 b 0\n302 0 a 2\n302 0 c 1\n"
RUN = "301 Q0 b 1 2.5 tag\n301 Q0 a 2 1.5 tag\n302 Q0 a 1 3 tag\n302 Q0 b 2 1 tag\n"
OTHER = RUN.replace("301 Q0 b 1 2.5", "301 Q0 b 1 0.5")
ROWS = ["--label", "y", "--score", "a", "--qid", "q"]
BOTH = ["--label", "y", "--score", "a", "b", "--qid", "q"]


def write_table(frame, name):
    form = name.lower().split(".")[1]
    if form in ("csv", "tsv"):
        frame.to_csv(name, index=False, sep="\t" if form == "tsv" else ",")
    elif form == "parquet":
        frame.to_parquet(name)
    else:
        frame.to_feather(name, compression="uncompressed")


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder to work in, with files of TREC and a table of rows in all formats."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("qrels", QRELS), ("run", RUN), ("other", OTHER)):
        Path(name).write_text(text)
    X, y, qid = make_ranking(8, n_features=2, random_state=0)
    frame = pd.DataFrame(
        {"q": [f"q{i}" for i in qid], "y": y, "a": X[:, 0], "b": X[:, 1], "kind": qid % 2}
    )
    frame = frame.assign(lang=np.where(qid < 4, "de", "en"), user=qid // 2, w=1.0 + qid % 3)
    frame = frame.assign(seen=np.arange(len(y)) % 5 > 0, known=np.arange(len(y)) % 7 > 0)
    for name in ("rows.csv", "rows.tsv", "rows.parquet"):
        write_table(frame, name)
    rows = "".join(f"{label} qid:{i} 1:0.5 # comment\n" for label, i in zip(y, qid, strict=True))
    Path("rows.svm").write_text(rows)
    Path("scores").write_text("".join(f"{score!r}\n" for score in X[:, 0].tolist()))
    return frame


@pytest.fixture
def many(tmp_path, monkeypatch):
    """A table of 40 queries: too many to try all signs."""
    monkeypatch.chdir(tmp_path)
    X, y, qid = make_ranking(40, n_features=4, random_state=0)
    qid = np.array([f"q{i}" for i in qid])
    frame = pd.DataFrame({"q": qid, "y": y, "a": X[:, 0], "b": X[:, 3], "c": X[:, 2]})
    frame.to_csv("many.csv", index=False)
    return {name: evaluate(y, frame[name], qid=qid, metrics="mrr") for name in ("a", "b", "c")}


def report_of(files, score="a", metrics="mrr", **options):
    given = with_policies(metrics, **options)
    return evaluate(files["y"], files[score], qid=files["q"], **given)


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


def code_of(*words):
    try:
        main(list(words))
    except SystemExit as done:
        return done.code
    return 0


def rows_of(tsv):
    """The lines of TSV as dicts."""
    head, *rows = (line.split("\t") for line in tsv.splitlines())
    return [dict(zip(head, row, strict=True)) for row in rows]


# --- What is printed


@pytest.mark.parametrize("by", [None, "kind"])
def test_several_rankings_and_their_slices_are_side_by_side(by, files, capsys):
    options = ["--by", by] if by else []
    printed = output_of(capsys, "evaluate", "rows.csv", "mrr", "map", *BOTH, *options)
    reports = {
        name: report_of(files, name, ["mrr", "map"], by=by and files[by]) for name in ("a", "b")
    }
    parts = [
        (value, name, reports[name].slices.get(value, reports[name]))
        for value in ("all", 0, 1)
        for name in "ab"
    ]
    expected = [
        [f"{s}", name, f"{p.n_queries}", *(f"{p.mean[m]:.4f}" for m in p.mean)]
        for s, name, p in parts
    ]
    _, head, *rows = [line.split() for line in printed.splitlines()]
    assert head == ["slice", "ranking", "queries", "mrr", "map"][0 if by else 1 :]
    assert rows == (expected if by else [row[1:] for row in expected[:2]])


def test_values_of_queries(files, capsys):
    words = ["evaluate", "qrels", "run", "mrr", "--by-query", "--output"]
    rows = [
        {"ranking": "run", "qid": "301", "mrr": 1 / 2},
        {"ranking": "run", "qid": "302", "mrr": 1.0},
    ]
    assert json.loads(output_of(capsys, *words, "json"))["rows"] == rows
    assert rows_of(output_of(capsys, *words, "tsv")) == [
        row | {"mrr": f"{row['mrr']}"} for row in rows
    ]
    assert "302  1.0000" in output_of(capsys, *words, "table")


def test_means_in_tsv(files, capsys):
    words = ["evaluate", "rows.csv", "mrr", *BOTH, "--output", "tsv", "--by"]
    rows = rows_of(output_of(capsys, *words, "kind"))
    assert [(row["ranking"], row["slice"]) for row in rows] == [
        (n, s) for n in "ab" for s in ("all", "0", "1")
    ]
    report = report_of(files, by=files["kind"])
    assert [float(row["mean"]) for row in rows[:3]] == [
        r.mean["mrr"] for r in (report, *report.slices.values())
    ]
    rows = rows_of(output_of(capsys, *words, "kind", "lang"))
    assert [row["slice"] for row in rows[:5]] == ["all", "0, de", "0, en", "1, de", "1, en"]


def test_no_control_characters_and_formulas(files, capsys):
    formulas = [f"{sign}A1" for sign in "=+-@"]
    topics = ["3\u202e01", "-5", *formulas]
    Path("qrels").write_text("".join(f"{topic} 0 a 1\n" for topic in topics))
    for name in ("run", "r\x1b[2J"):
        Path(name).write_text("".join(f"{topic} Q0 a 1 2 tag\n" for topic in topics))
    for output in ("table", "tsv", "json", "html"):
        printed = output_of(
            capsys, "evaluate", "qrels", "run", "r\x1b[2J", "mrr", "--by-query", "--output", output
        )
        assert printed.replace("\n", "").replace("\t", "").isprintable()
        assert [f"'{one}\t" in printed for one in formulas] == [output == "tsv"] * 4
        assert ("\t-5\t" in printed) == (output == "tsv"), "a number is no formula"
    message = error_of(capsys, "evaluate", "qrels", "no\x1b[2Jsuch.txt")
    assert message.endswith(r"File not found: no\x1b[2Jsuch.txt.")


def test_json_is_ascii_without_nan(files, capsys, monkeypatch):
    for name in ("größer", "same"):
        Path(name).write_text(RUN)
    printed = output_of(capsys, "evaluate", "qrels", "größer", "mrr", "--output", "json")
    assert printed.isascii()
    assert [row["ranking"] for row in json.loads(printed)["rows"]] == ["größer"]
    words = "compare", "qrels", "run", "same", "dcg", "--convention", "sklearn", "--output", "json"
    (pair,) = json.loads(output_of(capsys, *words))["rows"]
    assert (pair["difference"], pair["p_value"], pair["low"]) == (0, 1, None)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    main(["evaluate", "qrels", "größer", "same", "mrr"])
    assert rb"gr\xf6\xdfer" in sys.stdout.buffer.getvalue()


def test_html(files, capsys):
    printed = output_of(capsys, "evaluate", "qrels", "run", "mrr", "--output", "html")
    assert printed.startswith("<!DOCTYPE html>")
    assert printed.endswith("</body></html>\n")
    assert "<h1>mrr is 0.7500 over 2 queries</h1>" in printed
    assert "<td>302</td>" not in printed
    printed = output_of(
        capsys, "evaluate", "qrels", "run", "other", "mrr", "--by-query", "--output", "html"
    )
    assert all(f"<p>{name}, 2 queries</p>" in printed for name in ("run", "other"))
    assert "<td>302</td>" in printed
    printed = output_of(capsys, "compare", "qrels", "run", "other", "--output", "html")
    assert (
        f"<h1>{compare({name: evaluate_run('qrels', name) for name in ('run', 'other')}).verdict}</h1>"
        in printed
    )


# --- Files


OPTIONS = {
    "--by kind": {"by": "kind"},
    "--by kind lang": {"by": ["kind", "lang"]},
    "--groups user": {"groups": "user"},
    "--weight w": {"sample_weight": "w"},
    "--retrieved seen": {"retrieved": "seen"},
    "--judged known --condense": {"judged": "known", "condense": True},
    "--ties worst": {"ties": "worst"},
    "--convention lightgbm": {"convention": "lightgbm"},
    "--convention xgboost": {"convention": "xgboost", "metrics": "pre@3"},
    "--replace-undefined-by nan": {"replace_undefined_by": np.nan},
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
    assert printed == f"{report_of(files, **options | columns)}\n"


def test_negative_labels_where_only_order_counts(files, capsys):
    files["y"] -= 1
    files.to_csv("rows.csv", index=False)
    printed = output_of(capsys, "evaluate", "rows.csv", "spearman", "kendall_tau", *ROWS)
    assert printed == f"{report_of(files, metrics=['spearman', 'kendall_tau'])}\n"
    assert "must hold finite numbers >= 0" in error_of(
        capsys, "evaluate", "rows.csv", "spearman", "mrr", *ROWS
    )
    message = error_of(capsys, "evaluate", "rows.csv", "spearman", *ROWS, "--judged", "known")
    assert "column 'y' must hold finite numbers >= 0; got -1" in message


def test_svmlight_with_scores(files, capsys):
    printed = output_of(
        capsys, "evaluate", "rows.svm", "mrr", "--score", "scores", "--convention", "lightgbm"
    )
    assert printed == f"{report_of(files, convention='lightgbm')}\n"


def test_features_of_svmlight_may_be_any_numbers(files, capsys):
    Path("f.svm").write_text(
        "1 qid:1 1:-2e-3 2:+.5 7:NaN 8:3. # 9:x\n0 qid:1# 2\n0 qid:1 \n# end\n"
    )
    Path("s").write_text("-inf\ninf\n2\n")
    words = ["evaluate", "f.svm", "mrr", "--score", "s", "--output", "tsv", "--by-query"]
    assert [float(row["mrr"]) for row in rows_of(output_of(capsys, *words))] == [1 / 3]
    Path("f.svm").write_text(f"1 qid:{'x' * 20_000} 1:1\n1 qid:1 1:1\n0 qid:1\0 1:1\n")
    assert [float(row["mrr"]) for row in rows_of(output_of(capsys, *words))] == [1, 1, 0], (
        "three queries"
    )


@pytest.mark.parametrize("score", ["9007199254740993", "-9007199254740993"])
def test_integers_that_float64_cannot_hold_are_refused(score, files, capsys):
    Path("two.svm").write_text("1 qid:1 1:0\n0 qid:1 1:0\n")
    Path("large").write_text(f"9007199254740992\n{score}\n")
    message = error_of(capsys, "evaluate", "two.svm", "mrr", "--score", "large")
    assert (
        "large, line 2: expected a number, and integers within +-2**53, which float64 holds exactly; got"
        in message
    )
    Path("large").write_text(f"9007199254740992\n{score}.0\n")
    output_of(capsys, "evaluate", "two.svm", "mrr", "--score", "large")


def test_tables_need_pyarrow(files, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    message = error_of(capsys, "evaluate", "rows.csv", "mrr", *ROWS)
    assert message.endswith("Reading rows.csv needs pyarrow: pip install pyarrow")


@pytest.mark.parametrize("name", ["rows.csv", "rows.TSV.GZ", "rows.PARQUET", "rows.feather"])
def test_tables_packed_tables_and_those_of_the_standard_input(name, files, capsys, monkeypatch):
    write_table(files, name)
    expected, data, form = (
        f"{report_of(files)}\n",
        Path(name).read_bytes(),
        name.lower().split(".")[1],
    )
    assert output_of(capsys, "evaluate", name, "mrr", *ROWS) == expected
    if not name.endswith(".GZ"):
        Path(f"{name}.gz").write_bytes(gzip.compress(data))
        assert output_of(capsys, "evaluate", f"{name}.gz", "mrr", *ROWS) == expected
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    form = "arrow" if form == "feather" else form
    assert output_of(capsys, "evaluate", "-", "mrr", *ROWS, "--format", form) == expected


def test_runs_of_the_standard_input(files, capsys, monkeypatch):
    expected = output_of(capsys, "evaluate", "qrels", "run", "mrr")
    Path("out").write_text("")
    for words, data in (
        ([], gzip.compress(RUN.encode())),
        (["--output-file", "out"], RUN.encode()),
    ):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert (
            output_of(capsys, "evaluate", "qrels", *words, "-", "mrr") + Path("out").read_text()
            == expected
        )


@pytest.mark.parametrize(
    "words", ["", "--missing skip", "--score-type float64", "--ties best", "--exclude seen.csv"]
)
def test_options_of_runs_are_those_of_evaluate_run(words, files, capsys):
    Path("qrels").write_text(QRELS + "303 0 a 1\n")
    Path("run").write_text(RUN.replace("1.5", "2.500000001"))  # a tie in float32
    Path("seen.csv").write_text("query,document\n301,b\n302,a\n")
    given = words.removeprefix("--").replace("-", "_").split()
    options = with_policies(
        ["P_1,5", "mrr"], convention="trec_eval", **dict([given] if given else [])
    )
    expected = evaluate_run("qrels", "run", **options)
    assert (
        output_of(capsys, "evaluate", "qrels", "run", "P_1,5", "mrr", *words.split())
        == f"{expected}\n"
    )
    condensed = evaluate_run("qrels", "run", "mrr", condense=True)
    assert output_of(capsys, "evaluate", "qrels", "run", "mrr", "--condense") == f"{condensed}\n"
    assert "no list for 1 quer" in error_of(
        capsys, "evaluate", "qrels", "run", "mrr", "--missing", "error"
    )


def test_topics_left_out_are_named(files, capsys):
    Path("qrels").write_text(QRELS + "303 0 a 1\n")
    Path("run").write_text(RUN + "998 Q0 a 1 3 tag\n999 Q0 a 1 3 tag\n")
    words = ["evaluate", "qrels", "run", "mrr", "--missing", "skip"]
    found, other = (
        evaluate_run("qrels", n, "mrr", missing="skip").health.findings[-2:]
        for n in ("run", "other")
    )
    findings = json.loads(output_of(capsys, *words[:3], "other", *words[3:], "--output", "json"))[
        "findings"
    ]
    assert (findings["run"][-2:], findings["other"][-2:]) == ([*found], [*other])
    printed = " ".join(output_of(capsys, *words[:3], "other", *words[3:]).split())
    assert printed.endswith(f"run, other: {found[0]} run: {found[1]}"), "each once"


def test_names_of_metrics_are_metrics_even_if_there_is_such_a_file(files, capsys):
    expected = output_of(capsys, "evaluate", "qrels", "run", "map")
    Path("map").write_text(OTHER)
    assert output_of(capsys, "evaluate", "qrels", "run", "map") == expected
    printed = output_of(capsys, "evaluate", "qrels", "./map", "mrr")
    assert printed == output_of(capsys, "evaluate", "qrels", "other", "mrr")
    assert output_of(capsys, "evaluate", "qrels", "mrr", "./map") == printed, "in any order"


# --- Comparisons


def test_compare(many, capsys):
    words = ["compare", "many.csv", *BOTH, "mrr"]  # metrics may follow the options
    expected = compare({name: many[name] for name in "ab"})
    assert output_of(capsys, *words) == f"{expected}\n"
    (row,) = rows_of(output_of(capsys, *words, "--output", "tsv"))
    assert (row["first"], float(row["p_value"])) == (expected.pair().first, expected.pair().p_value)
    found = json.loads(output_of(capsys, *words, "--output", "json"))
    assert found["verdicts"] == {"mrr": expected.verdict}
    assert [one["ranking"] for one in found["rankings"]] == [*expected.names]


CHOICES = {
    "--test t --correction bh": {"test": "t", "correction": "bh"},
    "--correction holm": {"correction": "holm"},
    "--correction none": {"correction": None},
    "--confidence 0.9": {"confidence": 0.9},
    "--random-state 7": {"random_state": 7},
    "--baseline b": {"baseline": "b"},
    "--margin 0.5 --baseline a": {"margin": 0.5, "baseline": "a"},
}


@pytest.mark.parametrize("words", CHOICES)
def test_options_of_compare(words, many, capsys):
    command = [
        "compare",
        "many.csv",
        "mrr",
        "--label",
        "y",
        "--score",
        "a",
        "b",
        "c",
        "--qid",
        "q",
        "--output",
        "tsv",
    ]
    code_of(*command, *words.split())
    rows = rows_of(capsys.readouterr().out)
    expected = compare(many, **CHOICES[words]).pairs()
    assert [(row["first"], row["second"]) for row in rows] == [
        (pair.first, pair.second) for pair in expected
    ]
    for row, pair in zip(rows, expected, strict=True):
        assert [float(row[name]) for name in ("p_value", "p_adjusted")] == [
            pair.p_value,
            pair.p_adjusted,
        ]
        assert (float(row["low"]), float(row["high"])) == pair.interval


def test_compare_within_slices(files, capsys):
    words = [
        "compare",
        "rows.csv",
        "mrr",
        *BOTH,
        "--by",
        "kind",
        "--weight",
        "w",
        "--groups",
        "user",
    ]
    options = {"by": files["kind"], "sample_weight": files["w"], "groups": files["user"]}
    expected = compare({name: report_of(files, name, **options) for name in ("a", "b")})
    assert output_of(capsys, *words) == f"{expected}\n"
    rows = rows_of(output_of(capsys, *words, "--output", "tsv"))
    parts = expected, *expected.slices.values()
    differences = [
        (name, part.pair().difference) for name, part in zip(("all", "0", "1"), parts, strict=True)
    ]
    assert [(row["slice"], float(row["difference"])) for row in rows] == differences


@pytest.fixture
def gate(tmp_path, monkeypatch):
    """Runs of 30 topics, whose only relevant document is at rank 1, 2 or 3, and one with ranks that vary."""
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text("".join(f"{topic} 0 a 1\n" for topic in range(30)))
    runs = {"prod": [2] * 30, "same": [2] * 30, "better": [1] * 30, "worse": [3] * 30}
    for name, ranks in (runs | {"nearly": [3] + [2] * 29, "mixed": [1, 3, 3] * 10}).items():
        places = ["bc"[: rank - 1] + "a" for rank in ranks]
        lines = [
            f"{t} Q0 {one} 1 {-n} x\n"
            for t, found in enumerate(places)
            for n, one in enumerate(found)
        ]
        Path(name).write_text("".join(lines))


GATES = {
    "better": ("better", "0.01", 0),
    "not worse": ("nearly", "0.2", 0),
    "equal": ("same", "0", 0),
    "worse": ("worse", "0.01", 1),
    "undecided": ("mixed", "0.01", 3),
}


@pytest.mark.parametrize("case", GATES)
def test_a_margin_sets_the_exit_code(case, gate, capsys):
    run, margin, expected = GATES[case]
    words = ["compare", "qrels", "prod", run, "mrr", "--margin", margin]
    reports = {name: evaluate_run("qrels", name, "mrr") for name in ("prod", run)}
    comparison = compare(reports, baseline="prod", margin=float(margin))
    verdict = f"mrr: {comparison.verdict}\n"
    wanted = {
        "": (f"{comparison}\n", ""),
        "--output json": ("{", verdict),
        "--output-file out.txt": ("", verdict),
    }
    Path("out.txt").write_text("before")
    for further, (start, error) in wanted.items():
        assert code_of(*words, *further.split()) == expected
        done = capsys.readouterr()
        assert (done.out[: len(start) or None], done.err) == (start, error), (
            "the verdict is shown once"
        )
    assert Path("out.txt").read_text() == f"{comparison}\n"
    assert (
        code_of("compare", "qrels", run, "prod", "mrr", "--margin", margin, "--baseline", "prod")
        == expected
    )
    assert code_of(*words[:-2]) == 0, "without a margin"


def test_the_worst_ranking_and_metric_decide(gate, capsys):
    words = ["mrr", "--margin", "0.01"]
    assert code_of("compare", "qrels", "prod", "better", "mixed", *words) == 3
    assert code_of("compare", "qrels", "prod", "better", "mixed", "worse", *words) == 1
    capsys.readouterr()
    assert code_of("compare", "qrels", "prod", "mixed", "recall@3", *words) == 3
    assert re.search("^mrr: Do not ship", capsys.readouterr().err, re.M), (
        "the table has the verdict of recall alone"
    )
    code_of("compare", "qrels", "prod", "mixed", "recall@3", *words, "--output", "json")
    verdicts = json.loads(capsys.readouterr().out)["verdicts"]
    assert {name: verdict.startswith("Do not") for name, verdict in verdicts.items()} == {
        "recall@3": False,
        "mrr": True,
    }
    assert code_of("compare", "qrels", "prod", "mixed", "recall@3", *words[1:]) == 0


def test_saved_reports_are_rankings(gate, capsys):
    expected = output_of(capsys, "compare", "qrels", "prod", "better", "mrr").replace(
        "prod", "prod.json"
    )
    for name in ("prod", "better"):
        main(["evaluate", "qrels", name, "mrr", "ndcg@10", "--save", f"{name}.json"])
    capsys.readouterr()
    assert (
        RankingReport.load("prod.json").mean
        == evaluate_run("qrels", "prod", ["mrr", "ndcg@10"]).mean
    )
    assert (
        output_of(capsys, "compare", "qrels", "prod.json", "better", "mrr").split()
        == expected.split()
    )
    printed = output_of(capsys, "compare", "qrels", "better", "prod.json")
    assert "by mrr, ndcg@10, 30 queries" in printed, "the metrics that were saved"
    assert "better.json is best" in output_of(capsys, "compare", "prod.json", "better.json", "mrr")
    assert "mrr" not in output_of(capsys, "evaluate", "prod.json", "ndcg@10")
    rows = rows_of(
        output_of(capsys, "evaluate", "qrels", "better", "prod.json", "mrr", "--output", "tsv")
    )
    assert [row["ranking"] for row in rows] == ["better", "prod.json"], (
        "in the order of the command"
    )
    assert code_of("compare", "prod.json", "better.json", "mrr", "--margin", "0.1") == 0


def test_saved_reports_of_tables(files, capsys):
    main(["evaluate", "rows.csv", "mrr", *ROWS, "--save", "saved.json"])
    capsys.readouterr()
    printed = output_of(capsys, "compare", "rows.csv", "saved.json", *ROWS)
    expected = compare({"saved.json": report_of(files), "a": report_of(files)})
    assert printed == f"{expected}\n"
    main(
        [
            "evaluate",
            "rows.csv",
            "mrr",
            *ROWS,
            "--weight",
            "w",
            "--save",
            "more.json",
            "--output-file",
            "out",
        ]
    )
    rows = rows_of(
        output_of(capsys, "evaluate", "saved.json", "more.json", "--by-query", "--output", "tsv")
    )
    assert [bool(row["weight"]) for row in rows] == [row["ranking"] == "more.json" for row in rows]


# --- Explanations


def test_explain(files, capsys):
    words = ["explain", "rows.csv", *ROWS, "--conventions", "sklearn", "lightgbm"]
    expected = explain_difference(files["y"], files["a"], qid=files["q"])
    assert output_of(capsys, *words) == f"{expected}\n"
    found = json.loads(output_of(capsys, *words, "--output", "json"))
    facts = expected.metric, [*expected.conventions], expected.start, expected.end
    assert tuple(found[name] for name in ("metric", "conventions", "start", "end")) == facts
    rows = rows_of(output_of(capsys, *words, "--output", "tsv"))
    assert [row["cause"] for row in rows] == [row["cause"] for row in found["rows"]]
    assert [row["effect"] for row in found["rows"]] == [cause.effect for cause in expected.causes]
    masks = {"judged": files["known"], "retrieved": files["seen"]}
    expected = explain_difference(files["y"], files["a"], qid=files["q"], metric="bpref", **masks)
    assert (
        output_of(capsys, *words, "bpref", "--judged", "known", "--retrieved", "seen")
        == f"{expected}\n"
    )


def test_explain_counts_ties_and_documents_of_runs_as_trec_eval_does(files, capsys):
    # Of two documents with one score, the last id comes first, and a relevant one was not retrieved.
    Path("qrels").write_text("1 0 a 1\n1 0 c 1\n")
    Path("run").write_text("1 Q0 a 1 7.5 mine\n1 Q0 b 2 7.5 mine\n")
    words = ["--conventions", "trec_eval", "sklearn", "--output", "json"]
    printed = [
        output_of(capsys, "explain", "qrels", "run", name, *words) for name in ("map", "recip_rank")
    ]
    precision, rank = map(json.loads, printed)
    assert precision["start"] == 1 / 2 / 2
    assert (rank["start"], rank["end"]) == (1 / 2, (1 + 1 / 2) / 2), "the mean of both orders"


@pytest.mark.slow
def test_match(files, capsys):
    at = {"qid": files["q"], "metric": "ndcg@5"}
    value = f"{report_of(files, convention='lightgbm', metrics='ndcg@5').mean['ndcg@5']:.5f}"
    words = ["match", "rows.csv", "ndcg@5", *ROWS, "--value"]
    assert (
        output_of(capsys, *words, value)
        == f"{match_convention(files['y'], files['a'], value=value, **at)}\n"
    )
    found = json.loads(output_of(capsys, *words, value, "--output", "json"))
    assert any("lightgbm" in row["peers"] and abs(row["distance"]) < 1e-5 for row in found["rows"])
    near = output_of(capsys, *words, "0.7", "--tolerance", "0.2")
    assert near == f"{match_convention(files['y'], files['a'], tolerance=0.2, value='0.7', **at)}\n"
    assert near != f"{match_convention(files['y'], files['a'], value='0.7', **at)}\n"


# --- Errors

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
evaluate rows.csv ROWS P_5 -> Did you mean 'precision@5'
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
evaluate rows.csv --label y --qid q --score a a -> Rankings must have different names; got a, a.
evaluate rows.csv --format parquet ROWS -> rows.csv must be a file of parquet; reading it failed
evaluate qrels run --nope -> unrecognized arguments: --nope
match qrels run -> the following arguments are required: --value
explain qrels run --conventions sklearn -> expected 2 arguments
evaluate qrels rows.csv -> rows.csv has no column 'query'
evaluate rows.csv rows.tsv ROWS -> Pass a single file of rows; got 2: rows.csv, rows.tsv.
evaluate rows.svm --score one -> one must hold one score per row of rows.svm; got 1 scores for
evaluate run --format svmlight --score scores -> run, line 1: expected a row as 'label qid:id
evaluate rows.svm -> Pass a ranking: runs after the judgments, --score, or saved reports; got none.
compare qrels run mrr -> Pass two or more rankings: runs after the judgments, --score, or saved reports; got run.
compare rows.csv mrr ROWS -> Pass two or more rankings: runs after the judgments, --score, or saved reports; got a.
compare qrels run saved.json map -> Metric 'map' is missing from saved.json, which has mrr.
evaluate saved.json --replace-undefined-by 0 -> --replace-undefined-by does not apply to saved files.
explain qrels run mrr --conventions sklearn trec_eval --condense -> unrecognized arguments: --condense
explain saved.json mrr --conventions sklearn trec_eval -> Labels and scores are needed, but this report keeps no
compare rows.csv saved.json ROWS --by kind ->\
 --by must be the same for all rankings; saved.json was evaluated without it.
compare rows.csv saved.json ROWS --groups user ->\
 --groups must be the same for all rankings; saved.json was evaluated without it.
evaluate qrels run other --save both.json -> --save takes one ranking; got run, other.
evaluate qrels run --save out.txt -> --save must name a file that ends in .json; got out.txt.
compare qrels run other --margin -1 -> margin must be
compare qrels run other --margin 1 --baseline none -> baseline must be
evaluate - - mrr -> Standard input can be read only once.
evaluate empty.svm mrr --score scores -> empty.svm has only comments, and no rows.
evaluate qrels run nope --output-file one -> nope is not a file.
evaluate qrels run mrr --output-file run -> run is an input, and would be overwritten. Choose another file for the
evaluate qrels run mrr --output-file ./qrels -> qrels is an input, and would be overwritten.
evaluate qrels run mrr --output-file link -> link is an input, and would be overwritten.
evaluate saved.json mrr --output-file new.txt --save saved.json -> saved.json is an input, and would be overwritten.
evaluate rows.svm mrr --score scores --output-file scores -> scores is an input, and would be overwritten.
evaluate rows.csv mrr ROWS --output-file rows.csv -> rows.csv is an input, and would be overwritten.
demo --picture no/picture.png -> --picture must be in an existing folder; got no
 -> the following arguments are required: command
"""


@pytest.mark.parametrize("case", WRONG.splitlines())
def test_bad_input_is_one_line_with_exit_code_2_and_changes_no_file(case, files, capsys):
    Path("one").write_text("1.5\n")
    Path("empty.svm").write_text("# nothing\n")
    Path("link").symlink_to("run")
    report_of(files).save("saved.json")
    before = {path: path.read_bytes() for path in Path().iterdir()}
    case = (
        case.replace("ROWS", " ".join(ROWS))
        .replace("GIVEN", "--label y --score a")
        .replace("ALL", ALL)
    )
    words, expected = case.split(" -> ")
    message = error_of(capsys, *words.split())
    assert re.match("skrank-metrics( explain| match)?: error: ", message)
    assert expected in message
    assert {path: path.read_bytes() for path in Path().iterdir()} == before


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


# --- Help and progress


def test_version(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"skrank-metrics {skrank_metrics.__version__}\n"


@pytest.mark.parametrize("command", ["evaluate", "compare", "explain", "match"])
def test_help_says_what_a_command_does_with_an_example_that_is_valid(command, capsys):
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    printed = capsys.readouterr().out
    assert [line for line in printed.splitlines() if len(line) > 80] == []
    usage, about, *others = printed.split("\n\n")
    assert usage.startswith(f"usage: skrank-metrics {command} FILE")
    assert not about.startswith("Pass TREC files")
    name, first, *words = others[-1].strip().removeprefix("Example:\n").split()
    assert (name, first) == ("skrank-metrics", command)
    chosen = options.parse_command([command, *words])
    metrics = [word for word in chosen.words if not word.endswith((".txt", ".csv"))]
    assert 0 < len(metrics) < len(chosen.words)
    for metric in metrics:
        assert bind(metric, "trec_eval" if "qrels.txt" in chosen.words else "sklearn")


def test_the_workflow_of_the_documentation_runs(gate):
    yaml = pytest.importorskip("yaml")
    page = Path(__file__).parents[1] / "docs" / "command_line.md"
    (text,) = re.findall(r"```yaml\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    workflow = yaml.safe_load(text)
    assert "pull_request" in workflow[True], "YAML 1.1 reads the key on as a boolean"
    runs = {
        job: [step["run"] for step in body["steps"] if "run" in step]
        for job, body in workflow["jobs"].items()
    }
    found = [
        shlex.split(line) for lines in runs.values() for run in lines for line in run.splitlines()
    ]
    save, compared = [[*words[1:]] for words in found if words[0] == "skrank-metrics"]
    Path("run.txt").write_text(Path("prod").read_text())
    Path("qrels.txt").write_text(Path("qrels").read_text())
    assert code_of(*save) == 0
    for run, expected in (("prod", 0), ("mixed", 3)):
        Path("run.txt").write_text(Path(run).read_text())
        assert code_of(*compared) == expected


def test_progress_on_a_terminal(files, capsys, monkeypatch):
    monkeypatch.setattr(batches, "ON_A_TERMINAL", 0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    main(["evaluate", "rows.csv", "mrr", *ROWS])
    shown = capsys.readouterr().err
    assert f"{len(files):,} rows, " in shown
    assert shown.endswith(batches.REPLACE)


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
