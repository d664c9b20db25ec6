"""Rankings are named by what differs in the paths of their files."""

import itertools
import json
from pathlib import Path

import pytest
from support.command_line import OTHER, QRELS, RUN, output_of

from skrank_metrics._cli.output import short_names


@pytest.mark.parametrize(
    ("paths", "expected"),
    {
        "folders": (["runs/a/model.txt", "runs/b/model.txt"], ["a", "b"]),
        "files": (["/x/runs/a.txt", "/x/runs/b.parquet"], ["a", "b"]),
        "both differ": (["runs/a/old.txt.gz", "runs/b/new.csv"], ["old", "new"]),
        "other depths": (["runs/a/model.txt", "runs/model.txt"], ["a/model.txt", "model.txt"]),
        "one in the other": (["a/a", "a/a/a"], ["a", "a/a"]),
        "one stem": (["x/a.txt", "x/a.csv"], ["a.txt", "a.csv"]),
        "versions": (["m.v1", "n.2026.11", "input.BM25"], ["m.v1", "n.2026.11", "input.BM25"]),
        "a single one": (["runs/a/model.txt"], ["model"]),
        "columns of tables": (
            ["r/a.csv: x", "r/a.csv: y", "r/b.csv: x"],
            ["a.csv: x", "a.csv: y", "b.csv: x"],
        ),
    }.values(),
)
def test_what_differs(paths, expected):
    assert short_names(paths) == dict(zip(paths, expected, strict=True))


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text(QRELS)
    for name, run in {"a": RUN, "b": OTHER}.items():
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "model.txt").write_text(run)
    return ["runs/a/model.txt", "runs/b/model.txt"]


def test_rankings_are_named_by_what_differs(runs, capsys):
    command = ["mrr", "qrels.txt", *runs]
    shown = output_of(capsys, "evaluate", *command, "--output", "json")
    assert {row["ranking"] for row in json.loads(shown)["rankings"]} == {"a", "b"}
    assert "runs/" not in output_of(capsys, "compare", *command)


def test_the_baseline_is_a_path_or_its_short_name(runs, capsys):
    command = ["compare", "mrr", "qrels.txt", *runs, "--output", "json", "--baseline"]
    by_path = output_of(capsys, *command, runs[0])
    assert by_path == output_of(capsys, *command, "a")
    assert {row["second"] for row in json.loads(by_path)["rows"]} == {"a"}


def test_each_of_several_baselines_is_a_path_or_a_short_name(runs, capsys):
    third = Path("runs/c/model.txt")
    third.parent.mkdir()
    third.write_text(RUN)
    command = ["compare", "mrr", "qrels.txt", *runs, str(third), "--output", "json"]
    printed = set()
    for first, second in itertools.product((runs[0], "a"), (str(third), "c")):
        printed.add(output_of(capsys, *command, "--baseline", first, "--baseline", second))
    (shown,) = printed
    assert {row["second"] for row in json.loads(shown)["rows"]} == {"a", "c"}
