"""What the site changes in pages that are also read in the repository: includes, links, pictures and tables."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

# Files of the repository that are pages here, and those that are not.
ABOVE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
}
WHOLE = {"changelog": "CHANGELOG.md", "contributing": "CONTRIBUTING.md"}
ELSEWHERE = re.compile(r"\[([^\]]+)\]\(\.\./([^)#]+)[^)]*\)")
# Sections that are on other pages here.
MOVED = {
    "which_metric.md#all-metrics": "reference/metrics/index.rst",
    "../skrank_metrics/metrics/conventions.py": "reference/conventions.rst",
    "#try-it": "get_started.md#try-it",
}
EXAMPLE = re.compile(r"\]\(gallery/(\w+)\.py\)")
# Comments, which readers of the repository do not see: directives, and a part of the README between two marks.
ONLY_HERE = re.compile(r"<!-- site\n(.*?)\n-->", re.DOTALL)
PART = re.compile(r"<!-- README: from (.+?) to (.+?) -->")
# The theme of the site can be switched, so the browser's preference does not choose the picture.
PICTURE = re.compile(
    r'<picture>\s*<source[^>]*srcset="(.+?)">\s*<img alt="(.+?)" src="(.+?)">\s*</picture>'
)
TABLE = re.compile(r"<table\b.*?</table>", re.DOTALL)
ROW = re.compile(r"<tr\b.*?</tr>", re.DOTALL)
CELL = re.compile(r"<(td|th)\b[^>]*>(.*?)</\1>", re.DOTALL)


def adapt(app: Any, docname: str, source: list[str]) -> None:
    """Change what a page says to readers of the repository to what the site has."""
    text = (
        _from_above((ROOT / WHOLE[docname]).read_text(encoding="utf-8"))
        if docname in WHOLE
        else source[0]
    )
    if docname == "which_metric":  # all metrics are not listed twice
        lists = "The [reference](reference/metrics/index.rst) lists them by family, with values, ranges and labels."
        text = re.sub(r"<!-- metrics -->.*<!-- /metrics -->", lists, text, flags=re.DOTALL)
    text = ONLY_HERE.sub(r"\1", PART.sub(_part, text))
    for place, here in MOVED.items():
        text = text.replace(f"]({place})", f"]({here})")
    for above, here in ABOVE.items():
        text = text.replace(f"](../{above}", f"]({here}")
    text = EXAMPLE.sub(
        r"](auto_examples/\1.rst)", text.replace("](gallery)", "](auto_examples/index.rst)")
    )
    source[0] = PICTURE.sub(_images, ELSEWHERE.sub(r"\1 (`\2`)", text))


def _from_above(text: str) -> str:
    """Turn links of a file of the repository's root into links of this folder."""
    return re.sub(r"\]\((?!https?:|#|docs/)", "](../", text).replace("](docs/", "](")


def _part(found: re.Match[str]) -> str:
    _, _, after = (ROOT / "README.md").read_text(encoding="utf-8").partition(f"<!-- {found[1]} -->")
    part, end, _ = after.partition(f"<!-- {found[2]} -->")
    if not end:
        raise ValueError(
            f"README.md must have the marks {found[1]!r} and {found[2]!r}, in this order."
        )
    return _from_above(part)


def _images(found: re.Match[str]) -> str:
    """Show the picture of the theme and, on phones, the narrow one if there is one."""
    dark, alt, light = (
        part.removeprefix("docs/") for part in found.groups()
    )  # which those of the README have
    images = []
    for image, theme in ((light, "only-light"), (dark, "only-dark")):
        narrow = image.replace(".png", "_narrow.png")
        has_narrow = (ROOT / "docs" / narrow).exists()
        images += [(image, f"{theme} {'not-on-phone' if has_narrow else ''}")]
        images += [(narrow, f"{theme} only-on-phone")] if has_narrow else []
    return "\n\n".join(
        f"```{{image}} {image}\n:alt: {alt}\n:class: {kind}\n```" for image, kind in images
    )


def label_cells(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Write the heads of columns into the cells of tables of text with some columns: lists on a phone."""
    if "body" in context:
        context["body"] = TABLE.sub(_labelled, context["body"])


# The least mean length of the cells of a table, by its number of columns, that does not fit a phone; and the length
# from which a single first cell takes too much room.
LONG = {3: 20, 4: 10, 5: 10}
LONGEST_NAME = 100


def _labelled(found: re.Match[str]) -> str:
    start, body, rows = found[0].partition("<tbody>")
    heads = [_text(cell) for _, cell in CELL.findall(start)]
    cells = [[_text(cell) for _, cell in CELL.findall(row)] for row in ROW.findall(rows)]
    if len(heads) not in LONG or any(len(row) != len(heads) for row in cells):
        return found[0]
    sizes = [len(cell) for row in cells for cell in row[1:]]
    is_long = sum(sizes) >= LONG[len(heads)] * len(sizes)
    if not is_long and max(len(row[0]) for row in cells) <= LONGEST_NAME:
        return found[0]
    heads_in_order = itertools.cycle(heads)
    labelled = re.sub(
        r"<(td|th)\b", lambda cell: f'{cell[0]} data-head="{next(heads_in_order)}"', rows
    )
    return start.replace('<table class="', '<table class="cards ', 1) + body + labelled


def _text(cell: str) -> str:
    return re.sub("<[^>]*>", "", cell).strip().replace('"', "&quot;")
