"""The README, pages that the site shows differently from the repository, and the page on pictures.

The first snippet of the README can be copied and run. docs/pictures.md links to each example of the gallery and names
each display. The site runs the examples.
"""

import ast
import re
from pathlib import Path

import pytest
import site_sources

from skrank_metrics import displays

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))


def adapted(page):
    source = [page.read_text(encoding="utf-8")]
    site_sources.adapt(None, page.stem, source)
    return source[0]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_site_shows_directives_that_the_repository_hides_and_links_to_its_own_pages(page):
    shown = re.sub(r"<!--.*?-->", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert re.findall(r"^`{3,}\{(?!math).*", shown, re.MULTILINE) == []
    text = adapted(page)
    assert "<!-- site" not in text
    assert "<!-- README" not in text
    assert re.findall(r"\]\((?:\.\.|docs)/[^)]*", text) == []
    assert text.count("{toctree}") == page.read_text(encoding="utf-8").count("{toctree}")


def test_files_above_are_pages():
    assert "## [0.1.0]" in adapted(DOCS / "changelog.md")
    assert "## How to add a metric" in adapted(DOCS / "contributing.md")
    assert "from lightgbm import LGBMRanker" in adapted(DOCS / "index.md")
    assert "python -m skrank_metrics demo" in adapted(DOCS / "get_started.md")


def test_a_part_that_is_missing_raises_an_error():
    with pytest.raises(ValueError, match="must have the marks '/home' and 'home', in this order"):
        site_sources.PART.sub(site_sources._part, "<!-- README: from /home to home -->")


def test_the_page_on_pictures_names_each_display_and_links_each_example_by_its_title():
    page = (DOCS / "pictures.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == set(displays.__all__)
    found = {place: title for title, place in re.findall(r"\[([^]]+)\]\(gallery/(\w+\.py)\)", page)}
    sources = {
        example.name: example.read_text("utf-8") for example in (DOCS / "gallery").glob("plot_*.py")
    }
    assert found == {
        name: ast.get_docstring(ast.parse(source)).split("\n")[1]
        for name, source in sources.items()
    }
    assert [
        name
        for name, source in sources.items()
        if not re.search(r"\.plot\(\)|Display\.from_", source)
    ] == []


@pytest.mark.slow
def test_first_snippets_run_and_find_the_same_candidate(capsys):
    snippet, with_routing = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[:2]
    assert ">>>" not in snippet
    assert "assert" not in snippet
    names = {}
    exec(compile(snippet, "README.md", "exec"), names)
    search = names["search"]
    assert capsys.readouterr().out == f"{search.best_params_} {search.best_score_:.3f}\n"
    best = search.best_score_
    assert best == search.cv_results_["mean_test_score"].max() > 0.8
    exec(compile(with_routing, "README.md", "exec"), names)
    assert search.best_score_ == best


def anchors(page):
    """Headings as GitHub and the site turn them into anchors."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_pictures_and_links_inside_the_project_lead_somewhere():
    places = re.findall(r"\]\(([^)#:]+)", README) + re.findall(r'src(?:set)?="([^"]+)"', README)
    assert len(places) > 20
    assert [place for place in places if not (ROOT / place).exists()] == []
    links = re.findall(r"\]\(([^):#]+)#([^)]+)\)", README)
    assert links
    assert [(place, anchor) for place, anchor in links if anchor not in anchors(ROOT / place)] == []


def test_the_parts_that_the_site_includes_are_there():
    marks = ["<!-- home -->", "<!-- /home -->", "<!-- /get started -->"]
    assert [README.count(mark) for mark in marks] == [1] * len(marks)
    assert sorted(marks, key=README.index) == marks
