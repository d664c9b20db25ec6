"""Sphinx's configuration: python -m sphinx -W --keep-going -b html docs build/site."""

import importlib.util
import re
import shutil
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

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_nb",
    "sphinx_gallery.gen_gallery",
]
# The notebooks of the gallery are for download; its pages are made of the same examples.
exclude_patterns = ["playground", "gallery", "auto_examples/*.ipynb", "**.ipynb_checkpoints"]

autosummary_generate = False  # reference_pages writes a page for each name
autodoc_typehints = "none"  # the docstrings say them
numpydoc_show_class_members = False
smartquotes = False  # types such as {"average", "best"} are code

myst_fence_as_directive = ["math"]
myst_heading_anchors = 3
nb_execution_mode = "off"

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_examples",
    "within_subsection_order": "reference_pages.place_in_gallery",
    # Classes link to their examples, and the code of examples to the reference.
    "backreferences_dir": "auto_examples/backreferences",
    "doc_module": "skrank_metrics",
    "abort_on_example_error": True,
    "download_all_examples": False,
    # Times differ from build to build.
    "write_computation_times": False,
    "min_reported_time": float("inf"),
    "show_signature": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "skrank_metrics"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": False,
    "header_links_before_dropdown": 6,
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


def adapt(app: Any, docname: str, source: list[str]) -> None:
    """Change what a page says to readers of the repository to what the site has."""
    if docname == "metrics":  # each has a page here, so that they are not shown twice
        pages = "The [reference](reference/metrics/index.rst) has a page on each metric."
        source[0] = re.sub(r"<!-- metrics -->.*<!-- /metrics -->", pages, source[0], flags=re.DOTALL)
        lists = "The [reference](reference/metrics/index.rst) lists them by family, with values, ranges and labels."
        source[0] = re.sub(r"<!-- table -->.*<!-- /table -->", lists, source[0], flags=re.DOTALL)
    for above, here in ABOVE.items():
        source[0] = source[0].replace(f"](../{above}", f"]({here}")
    source[0] = EXAMPLE.sub(r"](auto_examples/\1.rst)", source[0].replace("](gallery)", "](auto_examples/index.rst)"))
    source[0] = ELSEWHERE.sub(r"\1 (`\2`)", source[0])
    source[0] = PICTURE.sub(_two_images, source[0])


# Files of the repository that are pages here, and those that are not.
ABOVE = {"README.md": "index.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
EXAMPLE = re.compile(r"\]\(gallery/(\w+)\.py\)")
ELSEWHERE = re.compile(r"\[([^\]]+)\]\(\.\./([^)#]+)[^)]*\)")
# The theme of the site can be switched, so the browser's preference does not choose the picture.
PICTURE = re.compile(r'<picture>\s*<source[^>]*srcset="(.+?)">\s*<img alt="(.+?)" src="(.+?)">\s*</picture>')


def _two_images(found: re.Match[str]) -> str:
    dark, text, light = found.groups()
    images = ((light, "only-light"), (dark, "only-dark"))
    return "\n\n".join(f"```{{image}} {image}\n:alt: {text}\n:class: {kind}\n```" for image, kind in images)


def mend_links(app: Any, doctree: Any) -> None:
    """Open the playground, which MyST would offer as a download, and unlink ndcg@10, which looks like an address."""
    from docutils.nodes import reference
    from sphinx.addnodes import download_reference

    up = "../" * app.env.docname.count("/")
    for node in list(doctree.findall(download_reference)):
        if node["reftarget"].endswith("playground/index.html"):
            target = reference("", "", *node.children, refuri=f"{up}playground/index.html", internal=True)
            node.replace_self(target)
    for node in list(doctree.findall(reference)):
        if node.get("refuri", "").startswith("mailto:"):
            node.replace_self(node.children)


def copy_playground(app: Any, error: Exception | None) -> None:
    """Add the playground, which is a page of its own."""
    if error is None:
        shutil.copytree(HERE / "playground", Path(app.outdir) / "playground", dirs_exist_ok=True)


def setup(app: Any) -> None:
    """Write the reference, and take part in the build."""
    reference_pages.write(HERE / "reference")
    app.connect("source-read", adapt)
    app.connect("autodoc-process-docstring", reference_pages.add_facts, priority=400)  # before numpydoc
    app.connect("doctree-read", mend_links, priority=400)  # before downloads are collected
    app.connect("build-finished", copy_playground)
