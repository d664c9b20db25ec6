"""docs/pictures.md links to each example of the gallery and names each display. The site runs the examples."""

import ast
import re
from pathlib import Path

from skrank_metrics import displays

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLES = sorted((DOCS / "gallery").glob("plot_*.py"))
PAGE = (DOCS / "pictures.md").read_text(encoding="utf-8")


def test_the_page_on_pictures_names_each_display():
    assert set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)) == set(displays.__all__)


def test_the_page_on_pictures_links_each_example_by_its_title():
    found = {place: title for title, place in re.findall(r"\[([^]]+)\]\(gallery/(\w+\.py)\)", PAGE)}
    sources = {example.name: example.read_text("utf-8") for example in EXAMPLES}
    assert found == {name: ast.get_docstring(ast.parse(source)).split("\n")[1] for name, source in sources.items()}
    assert [name for name, source in sources.items() if not re.search(r"\.plot\(\)|Display\.from_", source)] == []
