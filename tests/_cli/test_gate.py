"""Margins, exit codes and saved reports."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.command_line import (
    ROWS,
    as_command,
    as_printed,
    code_of,
    error_of,
    output_of,
    report_of,
)

from skrank_metrics import compare, evaluate, evaluate_run
from skrank_metrics.__main__ import main
from skrank_metrics.reports import RankingReport

GATES = {
    "better": ("better", "0.01", 0),
    "not worse": ("nearly", "0.2", 0),
    "equal": ("same", "0.2", 0),
    "equal on too few": ("same", "0.01", 3),
    "worse": ("worse", "0.01", 1),
    "undecided": ("mixed", "0.01", 3),
}


@pytest.mark.parametrize("case", GATES)
def test_a_margin_sets_the_exit_code(case, gate, capsys):
    run, margin, expected = GATES[case]
    words = ["compare", "qrels", "prod", run, "mrr", "--margin", margin]
    reports = {name: evaluate_run("qrels", name, "mrr") for name in ("prod", run)}
    comparison, printed = as_command(compare, reports, baseline="prod", margin=float(margin))
    verdict = f"{comparison.verdict}\n"
    wanted = {
        "": (printed, ""),
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
    assert Path("out.txt").read_text() == printed
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
    assert "Do not ship mixed yet" in capsys.readouterr().out
    code_of("compare", "qrels", "prod", "mixed", "recall@3", *words, "--output", "json")
    found = json.loads(capsys.readouterr().out)
    assert found["decision"] == "undecided", "every metric has to pass"
    assert found["verdict"].startswith("Do not ship mixed yet: by recall@3 it may lose ")
    assert code_of("compare", "qrels", "prod", "mixed", "recall@3", "--margin", "0.2") == 0


def test_saved_reports_are_rankings(gate, capsys):
    expected = output_of(capsys, "compare", "qrels", "prod", "better", "mrr")
    for name in ("prod", "better"):
        main(["evaluate", "qrels", name, "mrr", "ndcg@10", "--save", f"{name}.json"])
    capsys.readouterr()
    assert (
        RankingReport.load("prod.json").mean
        == evaluate_run("qrels", "prod", ["mrr", "ndcg@10"]).mean
    )
    of_saved = output_of(capsys, "compare", "qrels", "prod.json", "better", "mrr")
    rows = [text.partition("  mrr  ")[2].partition("Read:")[0] for text in (of_saved, expected)]
    assert rows[0] == rows[1] != ""
    printed = output_of(capsys, "compare", "qrels", "better", "prod.json")
    assert "ndcg@10\n" in printed, "the metrics that were saved"
    assert "better is better than prod" in output_of(
        capsys, "evaluate", "prod.json", "better.json", "mrr"
    )
    assert "\nmrr " not in output_of(capsys, "evaluate", "prod.json", "ndcg@10")
    assert code_of("compare", "prod.json", "better.json", "mrr", "--margin", "0.1") == 0


def test_saved_reports_of_tables(files, capsys):
    main(["evaluate", "rows.csv", "mrr", *ROWS, "--save", "saved.json"])
    capsys.readouterr()
    printed = output_of(capsys, "compare", "rows.csv", "saved.json", *ROWS)
    expected = compare({"a": report_of(files), "saved": report_of(files)}, baseline="a")
    assert printed == as_printed(expected)


@pytest.fixture
def systems(tmp_path, monkeypatch):
    """A good and a bad system, each as a table and as a saved report."""
    monkeypatch.chdir(tmp_path)
    qid = np.repeat([f"q{number}" for number in range(30)], 2)
    y = np.tile([1, 0], 30)
    for name, scores in {"good": y, "bad": -y}.items():
        pd.DataFrame({"qid": qid, "y": y, "s": scores}).to_csv(f"{name}.csv", index=False)
        evaluate(y, scores, qid=qid, metrics="mrr").save(f"{name}.json")


ORDERS = {
    "good.csv bad.json": "s",
    "bad.json good.csv": "bad",
    "good.json bad.csv": "good",
    "bad.csv good.csv good.json": "bad.csv",
    "good.json bad.csv good.csv": "good.json",
    "bad.json good.json good.csv": "bad",
}


@pytest.mark.parametrize("files", ORDERS)
def test_the_baseline_of_a_gate_is_the_first_ranking_named(files, systems, capsys):
    words = ["compare", *files.split(), "mrr", "--label", "y", "--score", "s", "--margin", "0.01"]
    code = code_of(*words, "--output", "json")
    printed = json.loads(capsys.readouterr().out)
    (baseline,) = (row["ranking"] for row in printed["rankings"] if row["mrr status"] == "baseline")
    assert baseline == ORDERS[files]
    is_good = files.startswith("good")
    assert code == (1 if is_good else 0), "a bad ranking is not shipped in place of a good one"


@pytest.mark.parametrize("score", ["score", "Prediction"])
def test_the_first_of_several_tables_of_rows_is_not_taken_for_judgments(score, systems, capsys):
    for name in ("good", "bad"):
        frame = pd.read_csv(f"{name}.csv").rename(columns={"y": "label", "s": score})
        frame.assign(document=frame.index).to_csv(f"{name}.csv", index=False)
    shutil.copy("bad.csv", "other.csv")
    words = ["compare", "good.csv", "bad.csv", "other.csv", "mrr", "--margin", "0.01"]
    message = error_of(capsys, *words)
    assert f"first file must hold judgments; good.csv also has scores, '{score}'" in message
    assert "pass --label label, --score and --qid" in message
    rows = ["compare", "good.csv", "bad.csv", "mrr", "--margin", "0.01", "--label", "label"]
    assert code_of(*rows, "--score", score) == 1, "bad.csv is compared with good.csv"
    # Whoever names the labels says that these are judgments.
    words = ["evaluate", "good.csv", "bad.csv", "mrr", "--columns", "label=label"]
    assert code_of(*words) == 0


def test_a_gate_of_saved_reports_and_runs_keeps_the_order_of_the_files(gate, capsys):
    main(["evaluate", "qrels", "worse", "mrr", "--save", "worse.json"])
    words = ["mrr", "--margin", "0.01"]
    assert code_of("compare", "qrels", "prod", "worse.json", *words) == 1
    assert code_of("compare", "worse.json", "qrels", "prod", *words) == 0
    assert code_of("compare", "qrels", "worse.json", "prod", *words) == 0


# Recall at 3 is the same in all runs, which 30 queries show up to 1 - .025^(1/30) = .116; by mrr, "worse" loses
# 1/2 - 1/3.
MARGINS = {
    "--margin recall@3=0.12 --margin mrr=0.01": 1,
    "--margin recall@3=0.12 --margin mrr=0.2": 0,
    "--margin mrr=0.2 --margin recall@3=0.11": 3,
    "--margin mrr=0.2": 0,
    "--margin 0.2": 0,
}
# Each exit code stands for a decision.
DECISIONS = {0: "ship", 1: "do not ship", 3: "undecided"}


@pytest.mark.parametrize("margins", MARGINS)
def test_each_metric_has_its_margin(margins, gate, capsys):
    words = ["compare", "qrels", "prod", "worse", "recall@3", "mrr", *margins.split()]
    assert code_of(*words, "--output", "json") == MARGINS[margins]
    assert json.loads(capsys.readouterr().out)["decision"] == DECISIONS[MARGINS[margins]]


def test_margins_may_be_for_metrics_with_parameters(gate):
    words = ["compare", "qrels", "prod", "worse", "rbp(p=0.9)", "--margin", "rbp(p=0.9)=0.05"]
    assert code_of(*words) == 0


WRONG_MARGINS = {
    "--margin 0.1 --margin 0.2": "Pass --margin once, or once for each metric",
    "--margin 0.1 --margin mrr=0.2": "Pass --margin once, or once for each metric",
    "--margin mrr=0.1 --margin mrr=0.2": "Pass --margin once, or once for each metric",
    "--margin mrr=0.1 --margin map=0.1": "error: the metric in margin must be one of ['recall@3', 'mrr']; got 'map'.",
    "--margin mrr=": "argument --margin: must be NUMBER or METRIC=NUMBER; got 'mrr='",
    "--margin 1%": "argument --margin: must be NUMBER or METRIC=NUMBER; got '1%'",
    "--margin =0.1": "argument --margin: must be NUMBER or METRIC=NUMBER; got '=0.1'",
    "--margin mrr=0_1": "argument --margin: must be NUMBER or METRIC=NUMBER; got 'mrr=0_1'",
    "--margin 5": "must be less than 1, the range of recall@3; got 5.",
}


@pytest.mark.parametrize("margins", WRONG_MARGINS)
def test_wrong_margins(margins, gate, capsys):
    words = ["compare", "qrels", "prod", "worse", "recall@3", "mrr", *margins.split()]
    assert WRONG_MARGINS[margins] in error_of(capsys, *words)


@pytest.mark.parametrize("output", ["table", "json", "html"])
def test_nothing_is_printed_before_all_metrics_are_known_to_be_tested(output, gate, capsys):
    words = ["compare", "qrels", "prod", "better", "mrr", "map(average=median)"]
    message = error_of(capsys, *words, "--margin", "0.1", "--output", output)
    assert "metric must be a mean over queries; got 'map(average=median)'" in message
