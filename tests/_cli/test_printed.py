"""What is printed, in all formats."""

import io
import json
import sys
from pathlib import Path

import pytest
from support.command_line import BOTH, ROWS, RUN, as_command, error_of, output_of, report_of

from skrank_metrics import (
    compare,
    evaluate_run,
)
from skrank_metrics.__main__ import main


@pytest.mark.parametrize("by", [None, "kind"])
def test_several_rankings_are_compared(by, files, capsys):
    options = ["--by", by] if by else []
    printed = output_of(capsys, "evaluate", "rows.csv", "mrr", "map", *BOTH, *options)
    reports = {
        name: report_of(files, name, ["mrr", "map"], by=by and files[by]) for name in ("a", "b")
    }
    _, expected = as_command(compare, reports)
    assert printed == expected


def test_values_of_queries(files, capsys):
    words = ["evaluate", "qrels", "run", "mrr", "--by-query", "--output"]
    rows = [
        {"ranking": "run", "qid": "301", "mrr": 1 / 2},
        {"ranking": "run", "qid": "302", "mrr": 1.0},
    ]
    assert json.loads(output_of(capsys, *words, "json"))["rows"] == rows
    assert "302  1.0000" in output_of(capsys, *words, "table")


def test_means_in_json(files, capsys):
    words = ["evaluate", "rows.csv", "mrr", *ROWS, "--output", "json", "--by"]
    rows = json.loads(output_of(capsys, *words, "kind"))["rows"]
    assert [row["slice"] for row in rows] == ["all", "0", "1"]
    report = report_of(files, by=files["kind"])
    assert [row["mean"] for row in rows] == [
        r.mean["mrr"] for r in (report, *report.slices.values())
    ]
    rows = json.loads(output_of(capsys, *words, "kind", "lang"))["rows"]
    assert [row["slice"] for row in rows] == ["all", "0, de", "0, en", "1, de", "1, en"]


def test_no_control_characters(files, capsys):
    topics = ["3\u202e01", "-5"]
    Path("qrels").write_text("".join(f"{topic} 0 a 1\n" for topic in topics))
    for name in ("run", "r\x1b[2J"):
        Path(name).write_text("".join(f"{topic} Q0 a 1 2 tag\n" for topic in topics))
    for output in ("table", "json", "html"):
        printed = output_of(
            capsys, "evaluate", "qrels", "r\x1b[2J", "mrr", "--by-query", "--output", output
        )
        assert printed.replace("\n", "").isprintable()
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
    assert pair["difference"] == 0
    assert pair["p_value"] == 1
    assert pair["low"] is None
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    main(["evaluate", "qrels", "größer", "same", "mrr"])
    assert rb"gr\xf6\xdfer" in sys.stdout.buffer.getvalue()


def test_html(files, capsys):
    printed = output_of(capsys, "evaluate", "qrels", "run", "mrr", "--output", "html")
    assert printed.startswith("<!DOCTYPE html>")
    assert printed.endswith("</body></html>\n")
    assert "<h1>mrr is 0.7500 over 2 queries</h1>" in printed
    assert ">302</td>" not in printed
    printed = output_of(capsys, "evaluate", "qrels", "run", "mrr", "--by-query", "--output", "html")
    assert ">302</td>" in printed
    assert "<h1>mrr is 0.7500 over 2 queries</h1>" in printed
    printed = output_of(capsys, "compare", "qrels", "run", "other", "--output", "html")
    reports = {name: evaluate_run("qrels", name) for name in ("run", "other")}
    assert f"<h1>{compare(reports, baseline='run').verdict}</h1>" in printed
