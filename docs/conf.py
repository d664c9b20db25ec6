"""Sphinx's configuration: python -m sphinx -W --keep-going -b html docs build/site."""

import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import reference_pages  # noqa: E402

import skrank_metrics  # noqa: E402

project = "skrank_metrics"
author = copyright = "The skrank_metrics developers"
version = release = skrank_metrics.__version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.mathjax", "numpydoc", "myst_nb"]
exclude_patterns = ["playground", "**.ipynb_checkpoints"]

autosummary_generate = False  # reference_pages writes a page for each name
autodoc_typehints = "none"  # the docstrings say them
numpydoc_show_class_members = False
smartquotes = False  # types such as {"average", "best"} are code

myst_enable_extensions = ["html_image"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 3
nb_execution_mode = "off"

html_theme = "pydata_sphinx_theme"
html_title = "skrank_metrics"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
}


def _mathjax() -> str:
    """Find the one file of MathJax that works without a network, fonts included."""
    package = importlib.util.find_spec("sphinx-mathjax-offline")
    return str(Path(package.origin).parent / "static" / "mathjax" / "tex-svg.js") if package and package.origin else ""


html_static_path = ["site.css", _mathjax()]
html_css_files = ["site.css"]
mathjax_path = "tex-svg.js"


def link_metrics(app: Any, docname: str, source: list[str]) -> None:
    """Send readers of the long page to the pages of the metrics, instead of showing all of them twice."""
    if docname == "metrics":
        pages = "The [reference](reference/metrics/index.rst) has a page on each metric."
        source[0] = re.sub(r"<!-- metrics -->.*<!-- /metrics -->", pages, source[0], flags=re.DOTALL)


def setup(app: Any) -> None:
    """Write the reference, and take part in reading it."""
    reference_pages.write(HERE / "reference")
    app.connect("autodoc-process-docstring", reference_pages.add_facts, priority=400)  # before numpydoc
    app.connect("source-read", link_metrics)
