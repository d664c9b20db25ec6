"""Help, progress and the workflow of the documentation."""

import re
import shlex
from pathlib import Path

import pytest
from support.command_line import code_of

import skrank_metrics
from skrank_metrics.__main__ import main
from skrank_metrics._cli import options
from skrank_metrics.metrics.names import bind


def test_version(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"skrank-metrics {skrank_metrics.__version__}\n"


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_help_says_what_a_command_does_with_an_example_that_is_valid(command, capsys):
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    printed = capsys.readouterr().out
    assert [line for line in printed.splitlines() if len(line) > 80] == []
    usage, about, *others = printed.split("\n\n")
    assert usage.startswith(f"usage: skrank-metrics {command} FILE")
    assert not about.startswith("Pass TREC files")
    name, first, *words = others[-1].strip().removeprefix("Example:\n").split()
    assert name == "skrank-metrics"
    assert first == command
    chosen = options.parse_command([command, *words])
    metrics = [word for word in chosen.words if not word.endswith((".txt", ".csv"))]
    assert 0 < len(metrics) < len(chosen.words)
    for metric in metrics:
        assert bind(metric, "trec_eval" if "qrels.txt" in chosen.words else "sklearn")


def test_the_workflow_of_the_documentation_runs(gate):
    yaml = pytest.importorskip("yaml")
    page = Path(__file__).parents[2] / "docs" / "command_line.md"
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
    for run, expected in (("better", 0), ("mixed", 3)):
        Path("run.txt").write_text(Path(run).read_text())
        assert code_of(*compared) == expected
