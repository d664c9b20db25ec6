"""Margins, exit codes and saved reports."""

import json
import re
from pathlib import Path

import pytest
from support.command_line import ROWS, code_of, output_of, report_of, rows_of

from skrank_metrics import (
    RankingReport,
    compare,
    evaluate_run,
)
from skrank_metrics.__main__ import main

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
        "recall@3": True,
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
