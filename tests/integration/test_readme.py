"""The first snippet of the README can be copied and run, and links lead somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_first_snippet_runs_and_prints_the_best_candidate(capsys):
    snippet = re.search(r"```python\n(.*?)```", README, re.DOTALL)[1]
    assert ">>>" not in snippet
    assert "assert" not in snippet
    names = {}
    exec(compile(snippet, "README.md", "exec"), names)
    search = names["search"]
    assert capsys.readouterr().out == f"{search.best_params_} {search.best_score_:.3f}\n"
    assert search.best_score_ == search.cv_results_["mean_test_score"].max() > 0.8


def test_pictures_and_links_inside_the_project_exist():
    places = re.findall(r"\]\(([^)#:]+)", README) + re.findall(r'src(?:set)?="([^"]+)"', README)
    assert len(places) > 20
    assert [place for place in places if not (ROOT / place).exists()] == []


def test_anchors_are_headings_of_the_pages_that_they_are_on():
    links = re.findall(r"\]\(([^):#]+)#([^)]+)\)", README)
    assert links
    assert [(place, anchor) for place, anchor in links if anchor not in anchors(ROOT / place)] == []


def anchors(page):
    """Headings as GitHub and the site turn them into anchors."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_parts_that_the_site_includes_are_there():
    marks = ["<!-- home -->", "<!-- /home -->", "<!-- /get started -->"]
    assert [README.count(mark) for mark in marks] == [1] * len(marks)
    assert sorted(marks, key=README.index) == marks
