"""What is printed, in all formats."""

import io
import json
import sys
from pathlib import Path

import pytest
from support.command_line import BOTH, RUN, error_of, output_of, report_of, rows_of

from skrank_metrics import (
    compare,
    evaluate_run,
)
from skrank_metrics.__main__ import main


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
    assert ">302</td>" not in printed
    printed = output_of(
        capsys, "evaluate", "qrels", "run", "other", "mrr", "--by-query", "--output", "html"
    )
    assert all(f">{name}, 2 queries</div>" in printed for name in ("run", "other"))
    assert ">302</td>" in printed
    printed = output_of(capsys, "compare", "qrels", "run", "other", "--output", "html")
    assert (
        f"<h1>{compare({name: evaluate_run('qrels', name) for name in ('run', 'other')}).verdict}</h1>"
        in printed
    )
