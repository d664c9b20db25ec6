"""Every display has an example in the gallery, and docs/pictures.md links to it. The site runs the examples."""

import ast
import re
from pathlib import Path

import skrank_metrics

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLES = sorted((DOCS / "gallery").glob("plot_*.py"))
DISPLAYS = {name for name in skrank_metrics.__all__ if name.endswith("Display")}


def drawn(example):
    """Names of the classes whose methods draw in an example, such as SplitDisplay.from_splitter."""
    calls = (
        node.func for node in ast.walk(ast.parse(example.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)
    )
    attributes = (call for call in calls if isinstance(call, ast.Attribute) and call.attr.startswith("from_"))
    return {call.value.id for call in attributes if isinstance(call.value, ast.Name)}


def test_every_display_has_an_example():
    assert len(DISPLAYS) >= 8
    assert set().union(*map(drawn, EXAMPLES)) == DISPLAYS


def test_the_page_on_pictures_links_each_display_to_an_example_of_it():
    page = (DOCS / "pictures.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+Display)` \|.*\| \[(.+?)\]\(gallery/(\w+\.py)\) \|$", page, re.MULTILINE)
    assert {display for display, _, _ in rows} == DISPLAYS
    assert sorted(place for _, _, place in rows) == [example.name for example in EXAMPLES]
    for display, title, place in rows:
        text = (DOCS / "gallery" / place).read_text(encoding="utf-8")
        assert display in drawn(DOCS / "gallery" / place)
        assert ast.get_docstring(ast.parse(text)).split("\n")[1] == title
