"""Sphinx's configuration: python -m sphinx -W --keep-going -b html docs build/site."""

import importlib.util
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import reference_pages  # noqa: E402
import site_sources  # noqa: E402

import skrank_metrics  # noqa: E402

project = "skrank_metrics"
author = "The skrank_metrics developers"
version = release = skrank_metrics.__version__
copyright = f"{author}. Version {version}, BSD-3-Clause licence"

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_nb",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
# The notebooks of the gallery are for download; its pages are made of the same examples.
exclude_patterns = ["playground", "gallery", "auto_examples/*.ipynb", "**.ipynb_checkpoints"]

autosummary_generate = False  # reference_pages writes a page for each name
autodoc_typehints = "none"  # the docstrings say them
numpydoc_show_class_members = False
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"
smartquotes = False  # types such as {"average", "best"} are code

myst_fence_as_directive = ["math"]
myst_heading_anchors = 3
nb_execution_mode = "off"

# Prompts and outputs are not copied.
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_examples",
    "image_scrapers": "gallery_images.light_and_dark",
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
html_favicon = "images/logo.svg"
html_context = {"default_mode": "auto"}
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": True,
    "header_links_before_dropdown": 6,
    "logo": {
        "text": f"skrank_metrics {version}",
        "image_light": "images/logo.svg",
        "image_dark": "images/logo.svg",
        "alt_text": "",
    },
    "secondary_sidebar_items": ["page-toc"],
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
}


def _mathjax() -> str:
    """Find the one file of MathJax that works without a network, fonts included."""
    package = importlib.util.find_spec("sphinx-mathjax-offline")
    return (
        str(Path(package.origin).parent / "static" / "mathjax" / "tex-svg.js")
        if package and package.origin
        else ""
    )


html_static_path = ["site.css", _mathjax()]
html_css_files = ["site.css"]
mathjax_path = "tex-svg.js"


def mend_links(app: Any, doctree: Any) -> None:
    """Open the playground, which MyST would offer as a download, and unlink ndcg@10, which looks like an address."""
    from docutils.nodes import reference
    from sphinx.addnodes import download_reference

    up = "../" * app.env.docname.count("/")
    for node in list(doctree.findall(download_reference)):
        if node["reftarget"].endswith("playground/index.html"):
            target = reference(
                "", "", *node.children, refuri=f"{up}playground/index.html", internal=True
            )
            node.replace_self(target)
    for node in list(doctree.findall(reference)):
        if node.get("refuri", "").startswith("mailto:"):
            node.replace_self(node.children)


def trim_blocks(app: Any, doctree: Any) -> None:
    """Drop the blank line at the end of code, which doctest needs."""
    from docutils.nodes import Text, literal_block

    for block in doctree.findall(literal_block):
        if block.rawsource == block.astext():  # not parsed
            block.rawsource = block.rawsource.rstrip("\n")
            block[:] = [Text(block.rawsource)]


# A name, or a call of it: QueryKFold, QueryKFold(5), RankingReport.inspect(...).
NAME_IN_CODE = re.compile(r"([A-Za-z_][\w.]*)(\(.*\))?")


def link_names_in_code(app: Any, doctree: Any, page: str) -> None:
    """Link public names that are written as code to their reference, but not in headings and links."""
    from docutils.nodes import literal, reference, title
    from sphinx.addnodes import desc_signature

    known = app.env.get_domain("py").objects
    for node in list(doctree.findall(literal)):
        found = NAME_IN_CODE.fullmatch(node.astext())
        entry = known.get(reference_pages.full_name(found[1])) if found else None
        if entry is None or entry.docname == page or entry.objtype == "module":
            continue
        if any(isinstance(above, title | reference | desc_signature) for above in _above(node)):
            continue
        place = f"{app.builder.get_relative_uri(page, entry.docname)}#{entry.node_id}"
        link = reference("", "", internal=True, refuri=place)
        node.replace_self(link)
        link += node


def _above(node: Any) -> Iterator[Any]:
    while node.parent is not None:
        node = node.parent
        yield node


# The theme's switch says light, dark or auto; the last is the system's, which the playground follows by itself.
CHOSEN_COLOURS = """
const mode = localStorage.getItem("mode");
if (mode === "light" || mode === "dark") document.documentElement.style.colorScheme = mode;
"""


def link_types(app: Any, config: Any) -> None:
    """Link the types of this package, but not numpydoc's own words, whose pages are elsewhere."""
    types = {name: place for name, place in reference_pages.PLACES.items() if name[0].isupper()}
    config.numpydoc_xref_aliases_complete = types


def copy_playground(app: Any, error: Exception | None) -> None:
    """Add the playground, which is a page of its own, with a way back and the colours chosen on the site."""
    if error is None:
        folder = Path(app.outdir) / "playground"
        shutil.copytree(HERE / "playground", folder, dirs_exist_ok=True)
        before, header, after = (
            (folder / "index.html").read_text(encoding="utf-8").partition("<header>")
        )
        back = '\n  <p><a href="../index.html">← skrank_metrics</a></p>'
        page = before + f"<script>{CHOSEN_COLOURS}</script>\n" + header + back + after
        (folder / "index.html").write_text(page, encoding="utf-8")


def setup(app: Any) -> None:
    """Write the reference, and take part in the build."""
    reference_pages.write(HERE / "reference")
    app.connect("config-inited", link_types, priority=900)  # after numpydoc
    app.connect("source-read", site_sources.adapt)
    app.connect(
        "autodoc-process-docstring", reference_pages.add_facts, priority=400
    )  # before numpydoc
    app.connect(
        "autodoc-process-docstring", reference_pages.link_names, priority=600
    )  # after numpydoc
    app.connect("autodoc-process-signature", reference_pages.hide_private)
    app.connect("doctree-read", trim_blocks)
    app.connect("doctree-read", mend_links, priority=400)  # before downloads are collected
    app.connect("doctree-resolved", link_names_in_code)
    app.connect("html-page-context", site_sources.label_cells)
    app.connect("build-finished", copy_playground)
