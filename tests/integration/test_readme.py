"""The first snippet of the README can be copied and run."""

import re
from pathlib import Path

import pytest

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_first_snippet_runs_and_prints_the_best_candidate(capsys):
    snippet = re.search(r"```python\n(.*?)```", README, re.DOTALL)[1]
    assert ">>>" not in snippet
    assert "assert" not in snippet
    names = {}
    exec(compile(snippet, "README.md", "exec"), names)
    search = names["search"]
    assert capsys.readouterr().out == f"{search.best_params_} {search.best_score_:.3f}\n"
    assert search.best_score_ == search.cv_results_["mean_test_ndcg@10"].max() > 0.8


def test_pictures_and_links_inside_the_project_exist():
    places = re.findall(r"\]\(([^)#:]+)\)", README)
    assert len(places) > 5
    assert [place for place in places if not (Path(__file__).parents[2] / place).exists()] == []
