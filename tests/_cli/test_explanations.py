"""What explain and match print."""

import json
from pathlib import Path

import pytest
from support.command_line import ROWS, output_of, report_of, rows_of

from skrank_metrics import (
    evaluate,
    explain_difference,
    match_convention,
)


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
    report = evaluate(files["y"], files["a"], qid=files["q"], **masks)
    expected = explain_difference(report, metric="bpref")
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
        == f"{match_convention(files['y'], files['a'], value=float(value), **at)}\n"
    )
    found = json.loads(output_of(capsys, *words, value, "--output", "json"))
    assert any("lightgbm" in row["peers"] and abs(row["distance"]) < 1e-5 for row in found["rows"])
    near = output_of(capsys, *words, "0.7", "--tolerance", "0.2")
    assert near == f"{match_convention(files['y'], files['a'], tolerance=0.2, value=0.7, **at)}\n"
    assert near != f"{match_convention(files['y'], files['a'], value=0.7, **at)}\n"
