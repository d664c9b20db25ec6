"""Pages of results in a real browser: nothing is cut, all text is legible, and no script runs."""

import numpy as np
import pytest
from support.browser import NEEDS_CHROMIUM, open_page

from skrank_metrics import compare, evaluate
from skrank_metrics.datasets import make_ranking

pytestmark = [pytest.mark.slow, NEEDS_CHROMIUM]
HOSTILE = "<script>window.ran = 1</script>"
TEXT = "A text of a document that is long enough to need several lines in the window of a telephone, and some more."

# Elements that stick out of the window, unless a box around them scrolls.
WIDER = """
[...document.querySelectorAll('body *')].filter(one => {
    const box = one.getBoundingClientRect();
    if (!box.width || box.right <= innerWidth + 1) return false;
    for (let at = one.parentElement; at; at = at.parentElement)
        if (['auto', 'scroll'].includes(getComputedStyle(at).overflowX)) return false;
    return true;
}).map(one => one.outerHTML.slice(0, 100))
"""
# Text and its contrast with the background, as in WCAG 2, where it is below 4.5.
FAINT = """
(() => {
    const parts = colour => colour.match(/[\\d.]+/g).map(Number);
    const light = colour => parts(colour).slice(0, 3).map(c => c / 255)
        .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const ground = one => {
        for (let at = one; at; at = at.parentElement) {
            const colour = getComputedStyle(at).backgroundColor;
            if (parts(colour)[3] !== 0) return colour;
        }
        return 'rgb(255, 255, 255)';
    };
    return [...document.querySelectorAll('body *:not(style)')]
        .filter(one => [...one.childNodes].some(node => node.nodeType === 3 && node.data.trim()))
        .map(one => {
            const style = getComputedStyle(one), ink = one instanceof SVGElement ? style.fill : style.color;
            const [low, high] = [light(ink), light(ground(one))].sort((a, b) => a - b);
            return [one.textContent.slice(0, 40), (high + 0.05) / (low + 0.05)];
        })
        .filter(([_, contrast]) => contrast < 4.5);
})()
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    X, y, number = make_ranking(30, random_state=0)
    qid = np.array([f"{HOSTILE} {query}" for query in number])
    columns = {"a model with a long name": X[:, 0], HOSTILE: X[:, 1], "third": X[:, 2]}
    by = np.where(number % 2, HOSTILE, "even")
    documents = {"text": [HOSTILE + TEXT] * len(y)}
    given = {"metrics": ["ndcg@10", "mrr"], "by": by, "documents": documents}
    board = evaluate(y, columns, qid=qid, **given)
    one, two, _ = board.reports.values()
    results = {
        "report": one,
        "leaderboard": board,
        "inspection": compare({HOSTILE: one, "other": two}, "ndcg@10").inspect(4),
    }
    folder = tmp_path_factory.mktemp("pages")
    for name, result in results.items():
        result.to_html(folder / f"{name}.html")
    return folder


@pytest.fixture(scope="module")
def browser(pages, tmp_path_factory):
    with open_page((pages / "report.html").as_uri(), tmp_path_factory.mktemp("profile")) as page:
        yield page


def open_in(browser, path, width, theme):
    browser.resize(width, 900)
    browser.send(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}]
    )
    browser.send("Page.navigate", url=path.as_uri())
    while not browser.evaluate(
        f"document.readyState === 'complete' && location.href.endsWith('/{path.name}')"
    ):
        pass
    browser.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")


@pytest.mark.parametrize("name", ["report", "leaderboard", "inspection"])
@pytest.mark.parametrize("width", [400, 1200])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pages_are_legible_and_run_no_script(browser, pages, name, width, theme):
    open_in(browser, pages / f"{name}.html", width, theme)
    assert browser.evaluate("innerWidth") == width
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.evaluate(WIDER) == []
    assert browser.evaluate(FAINT) == []
    assert browser.evaluate("document.body.textContent.includes('<script>')")
    assert browser.evaluate("typeof window.ran") == "undefined"
    is_dark = (
        browser.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    )
    assert is_dark == (theme == "dark")
