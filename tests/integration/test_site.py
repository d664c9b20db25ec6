"""The built site: links lead somewhere, and pages need no network. SKRANK_SITE names its folder, as .ci/run does."""

import os
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import skrank_metrics
from skrank_metrics.metrics._registry import REGISTRY

SITE = os.environ.get("SKRANK_SITE")
pytestmark = pytest.mark.skipif(
    SITE is None, reason="SKRANK_SITE does not name the folder of a built site"
)


class Page(HTMLParser):
    """The addresses that a page links to or loads, and its anchors."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loads, self.anchors = [], [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.anchors |= {found[name] for name in ("id", "name") if found.get(name)}
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        self.loads += [
            found[name] for name in ("src", "href") if tag not in ("a", "use") and found.get(name)
        ]


@pytest.fixture(scope="module")
def pages():
    site = Path(SITE).resolve()
    return {
        path: Page(path)
        for path in sorted(site.rglob("*.html"))
        if site / "_static" not in path.parents
    }


def broken(path, address, pages):
    """What an address inside the site lacks, if anything."""
    parts = urlsplit(address)
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if parts.scheme or parts.netloc:
        return None
    if not target.is_file():
        return "no such file"
    anchor = unquote(parts.fragment)
    return (
        "no such anchor"
        if anchor and target in pages and anchor not in pages[target].anchors
        else None
    )


def test_links_inside_the_site_lead_somewhere(pages):
    addresses = [
        (path, address) for path, page in pages.items() for address in [*page.links, *page.loads]
    ]
    wrong = [
        (path.name, address, why)
        for path, address in addresses
        if (why := broken(path, address, pages))
    ]
    assert wrong == []
    assert sum(len(page.links) for page in pages.values()) > 1000


def test_nothing_is_loaded_from_elsewhere(pages):
    assert [
        address for page in pages.values() for address in page.loads if urlsplit(address).netloc
    ] == []
    # Names such as ndcg@10 are no addresses.
    assert [
        link for page in pages.values() for link in page.links if link.startswith("mailto:")
    ] == []
    assert "../index.html" in pages[Path(SITE).resolve() / "playground" / "index.html"].links


def test_every_public_name_has_a_page(pages):
    anchors = set().union(*(page.anchors for page in pages.values()))
    names = [
        *skrank_metrics.__all__,
        "conventions.explain_difference",
        "model_selection.RacingSearchCV",
        "datasets.make_ranking",
        "trec.evaluate_run",
        "dask.evaluate",
        "spark.evaluate",
    ]
    assert [name for name in names if f"skrank_metrics.{name}" not in anchors] == []


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_the_page_of_a_metric_shows_its_formula_and_one_case(name):
    text = Path(SITE, "reference", "metrics", f"{name.removeprefix('neg_')}.html").read_text(
        encoding="utf-8"
    )
    formula = REGISTRY[name].record.formula
    assert formula
    assert "".join(formula.split()) in "".join(unescape(text).split())
    section = text.partition('<section id="one-case-by-hand">')[2].partition("</section>")[0]
    assert "<figcaption>" in section


class Code(HTMLParser):
    """Text written as code inside sentences, and whether it is a link."""

    def __init__(self, path):
        super().__init__()
        self.around, self.found = [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        if tag in ("a", "code", "pre", "dt", "h1", "h2", "h3"):
            self.around.append(tag)
        if tag == "code":
            self.found.append(("", "a" in self.around))

    def handle_endtag(self, tag):
        if self.around and tag == self.around[-1]:
            self.around.pop()

    def handle_data(self, text):
        if "code" in self.around and not {"pre", "dt", "h1", "h2", "h3"} & set(self.around):
            before, is_link = self.found[-1]
            self.found[-1] = (before + text, is_link)


@pytest.mark.parametrize("name", ["get_started", "splitting", "consumers"])
def test_public_names_in_code_link_to_their_reference(name):
    found = Code(Path(SITE, f"{name}.html")).found
    public = [link for text, link in found if text.partition("(")[0] in skrank_metrics.__all__]
    assert len(public) > 5
    assert all(public)
