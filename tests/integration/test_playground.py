"""The playground in docs computes what the package computes, in a real browser, and follows keys, mouse and finger."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from support.browser import NEEDS_CHROMIUM, open_page

import skrank_metrics as package
from skrank_metrics import ndcg_score

FOLDER = Path(__file__).parents[2] / "docs" / "playground"
METRICS = {
    "ndcg": (ndcg_score, ["gain", "discount", "k"]),
    "dcg": (package.dcg_score, ["gain", "discount", "k"]),
    "map": (package.map_score, ["k"]),
    "mrr": (package.mrr_score, ["k"]),
    "err": (package.err_score, ["k"]),
    "rbp": (package.rbp_score, ["k", "p"]),
    "precision": (package.precision_at_k_score, ["k"]),
    "recall": (package.recall_at_k_score, ["k"]),
    "kendall": (package.kendall_tau_distance, []),
}
# The example of the page, but with a tie.
TIED = {"A": (3, 0.9), "B": (2, 0.8), "C": (3, 0.7), "D": (0, 0.5), "E": (1, 0.5), "F": (2, 0.3)}
pytestmark = [pytest.mark.slow, NEEDS_CHROMIUM]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with open_page((FOLDER / "index.html").as_uri(), tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture
def page(browser):
    browser.resize(900, 1300)
    click(browser, "[value=ndcg]")
    follow(
        browser,
        "#documents="
        + "*".join(f"{name}_{label}_{score}" for name, (label, score) in TIED.items()),
    )
    yield browser
    assert browser.errors == []


def click(page, place):
    page.evaluate(f"document.querySelector('{place}').click()")


def follow(page, link):
    page.evaluate("location.hash = ''")
    page.evaluate(
        f"new Promise(done => {{ onhashchange = done; location.hash = {json.dumps(link)}; }}).then(() => 0)"
    )


def in_python(name, lists, options):
    """Values of a metric for several pairs of labels and scores."""
    function, own = METRICS[name]
    given = {option: options[option] for option in [*own, "ties"]}
    given |= {} if name == "kendall" else {"replace_undefined_by": np.nan}
    return np.concatenate(
        [function([labels], [scores], average=None, **given) for labels, scores in lists]
    )


def random_options(rng):
    choices = {
        "gain": ["linear", "exp2"], "discount": ["log2", "reciprocal"],
        "ties": ["average", "average", "best", "worst", "stable"], "k": [None, *range(1, 15)],
    }  # fmt: skip
    return {name: values[rng.integers(len(values))] for name, values in choices.items()} | {
        "p": rng.uniform(0.05, 0.95)
    }


def random_list(rng):
    n = rng.integers(1, 13)
    # Few scores for many documents, so that most lists have ties.
    return rng.integers(0, rng.integers(1, 6), n).tolist(), (
        rng.integers(0, rng.integers(1, 9), n) / 4
    ).tolist()


def test_metrics_are_those_of_python(page, rng):
    n_tied = n_undefined = 0
    for _ in range(20):
        options, lists = random_options(rng), [random_list(rng) for _ in range(10)]
        rows = [[{"label": a, "score": b} for a, b in zip(*pair, strict=True)] for pair in lists]
        call = f"list => rankingMetrics.evaluate(list, {json.dumps(options)})"
        results = page.evaluate(f"{json.dumps(rows)}.map({call})")
        for name in METRICS:
            expected = in_python(name, lists, options)
            # JSON has null for NaN.
            values = np.array([result[name]["value"] for result in results], dtype=float)
            np.testing.assert_allclose(
                values, expected, rtol=0, atol=1e-9, err_msg=f"{name} with {options}"
            )
            sums = [
                sum(result[name]["terms"]) / (result[name]["divisor"] or np.nan)
                for result in results
            ]
            defined = ~np.isnan(values)
            np.testing.assert_allclose(np.array(sums)[defined], values[defined], rtol=0, atol=1e-12)
        n_tied += sum(len(set(scores)) < len(scores) for _, scores in lists)
        n_undefined += sum(not any(labels) for labels, _ in lists)
    assert n_tied > 100
    assert 0 < n_undefined < 100


def shown(page):
    """Names, labels and scores from top to bottom, and the values of all metrics."""
    names, labels, scores = page.evaluate(
        "['.handle span', 'select', 'input'].map(kind => [...document.querySelectorAll(`#documents li ${kind}`)]"
        ".map(element => element.value ?? element.textContent))"
    )
    values = page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('data')].map(d => [d.id, d.textContent]))"
    )
    return (
        "".join(names),
        [int(label) for label in labels],
        [float(score) for score in scores],
        values,
    )


def choose(page, **options):
    for name, value in options.items():
        page.evaluate(
            f"document.getElementById('options').elements.{name}.value = {json.dumps(value)}"
        )
    page.evaluate("document.getElementById('options').dispatchEvent(new Event('input'))")


def focus(page, name, kind):
    page.evaluate(f"document.querySelector('[data-name={name}] {kind}').focus()")


def centre(page, name):
    box = f"document.querySelector('[data-name={name}] .handle').getBoundingClientRect()"
    x, y, height = page.evaluate(f"[{box}.x + 20, {box}.y, {box}.height]")
    return x, y + height / 2


def assert_as_in_python(page, order, **changed):
    options = {
        "gain": "linear",
        "discount": "log2",
        "ties": "average",
        "k": None,
        "p": 0.8,
    } | changed
    names, labels, scores, values = shown(page)
    assert names == order
    assert scores == sorted(scores, reverse=True)
    for name in METRICS:
        value = in_python(name, [(labels, scores)], options)[0]
        assert values[f"value-{name}"] == ("undefined" if np.isnan(value) else f"{value:.4f}")
    return labels, scores


def test_keys_move_a_document_and_a_label_can_be_edited(page):
    assert assert_as_in_python(page, "ABCDEF") == (
        [3, 2, 3, 0, 1, 2],
        [0.9, 0.8, 0.7, 0.5, 0.5, 0.3],
    )
    focus(page, "C", ".handle")
    page.press("ArrowUp")
    assert assert_as_in_python(page, "ACBDEF") == (
        [3, 3, 2, 0, 1, 2],
        [0.9, 0.85, 0.8, 0.5, 0.5, 0.3],
    )
    said = page.evaluate("document.querySelector('[aria-live]').textContent")
    ndcg = ndcg_score([[3, 3, 2, 0, 1, 2]], [[6, 5, 4, 3, 3, 2]])
    assert said == f"C at rank 2 of 6, score 0.85. NDCG {ndcg:.4f}."
    page.press("ArrowDown")  # the focus is still on C
    assert assert_as_in_python(page, "ABCDEF")[1] == [0.9, 0.8, 0.7, 0.5, 0.5, 0.3]
    focus(page, "E", "select")
    page.press("4")
    assert assert_as_in_python(page, "ABCDEF")[0] == [3, 2, 3, 0, 4, 2]
    assert (
        shown(page)[3]["value-ndcg"]
        == f"{ndcg_score([[3, 2, 3, 0, 4, 2]], [[9, 8, 7, 5, 5, 3]]):.4f}"
    )


def test_keys_move_into_and_out_of_a_tie(page):
    focus(page, "F", ".handle")
    page.press("ArrowUp")
    assert assert_as_in_python(page, "ABCDFE")[1] == [0.9, 0.8, 0.7, 0.5, 0.5, 0.5]
    page.press("ArrowUp")
    assert assert_as_in_python(page, "ABCFDE")[1] == [0.9, 0.8, 0.7, 0.5, 0.5, 0.5]
    page.press("ArrowUp")
    assert assert_as_in_python(page, "ABCFDE")[1] == [0.9, 0.8, 0.7, 0.6, 0.5, 0.5]
    choose(page, ties="worst")
    assert assert_as_in_python(page, "ABCFDE", ties="worst")[0] == [3, 2, 3, 2, 0, 1]
    focus(page, "D", ".handle")
    page.press("ArrowDown")  # an order that labels decide is left at once
    assert assert_as_in_python(page, "ABCFED", ties="worst")[1] == [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]


@pytest.mark.parametrize("finger", [False, True], ids=["mouse", "finger"])
def test_documents_are_dragged(page, finger):
    start, middle, end = centre(page, "F"), centre(page, "D"), centre(page, "B")
    page.drag(start, middle, end, finger=finger)
    assert assert_as_in_python(page, "AFBCDE")[1] == [0.9, 0.85, 0.8, 0.7, 0.5, 0.5]
    page.drag(centre(page, "A"), middle, finger=finger, drop=False)  # values follow before the drop
    assert assert_as_in_python(page, "FBCADE")[1] == [0.85, 0.8, 0.7, 0.6, 0.5, 0.5]
    page.press("Escape")
    assert_as_in_python(page, "AFBCDE")
    page.drag(middle, finger=finger)


def test_options_scores_and_undefined_values(page):
    choose(page, gain="exp2", discount="reciprocal", k="4", ties="best", p="0.5")
    changed = {"gain": "exp2", "discount": "reciprocal", "k": 4, "ties": "best", "p": 0.5}
    assert assert_as_in_python(page, "ABCEDF", **changed)[0] == [3, 2, 3, 1, 0, 2]
    focus(page, "F", "input")
    page.type("0.75")
    assert assert_as_in_python(page, "ABFCED", **changed)[0] == [3, 2, 2, 3, 1, 0]
    page.type("")
    assert page.evaluate("document.activeElement.getAttribute('aria-invalid')") == "true"
    page.type("0.75")
    for name in "ABCEF":
        focus(page, name, "select")
        page.press("0")
    labels, _ = assert_as_in_python(page, "ABFCDE", **changed)
    assert not any(labels)
    assert set(shown(page)[3].values()) == {"undefined", "0.0000"}
    assert page.evaluate("document.getElementById('undefined-note').hidden") is False


@pytest.mark.parametrize("name", METRICS)
def test_terms_and_call_of_each_metric(page, name):
    choose(page, gain="exp2", k="5", ties="stable", p="0.6")
    click(page, f"[value={name}]")
    value = shown(page)[3][f"value-{name}"]
    terms = page.evaluate(
        "[...document.querySelectorAll('tbody .term')].map(cell => cell.textContent)"
    )
    total, line = page.evaluate(
        "['tfoot td', '#sum'].map(place => document.querySelector(place).textContent)"
    )
    assert sum(float(term) for term in terms if term[0].isdigit()) == pytest.approx(
        float(total), abs=5e-4
    )
    assert line.endswith(f" = {value}")
    first, call = page.evaluate("document.getElementById('python').textContent").split("\n\n")
    names = {}
    exec(first, names)
    assert f"{eval(call, names):.4f}" == value


def test_documents_come_and_go(page):
    click(page, "#add")
    click(page, "#ideal")
    labels, scores = assert_as_in_python(page, "ACBFEDG")
    assert labels == sorted(labels, reverse=True)
    assert len(set(scores)) == len(scores) == 7
    click(page, "[data-name=C] .remove")
    assert page.evaluate("document.activeElement.ariaLabel") == "Remove B"
    click(page, "#tie-all")
    assert assert_as_in_python(page, "ABFEDG")[1] == [1.0] * 6
    click(page, "#reset")  # the page opens without ties
    assert assert_as_in_python(page, "ABCDEF") == (
        [3, 2, 3, 0, 1, 2],
        [0.9, 0.8, 0.7, 0.5, 0.4, 0.3],
    )


def test_a_link_holds_documents_options_and_metric(page):
    choose(page, gain="exp2", discount="reciprocal", k="4", ties="worst", p="0.5")
    click(page, "[value=err]")
    before, link = (
        shown(page),
        page.evaluate("document.getElementById('link').getAttribute('href')"),
    )
    click(page, "#reset")
    click(page, "[value=ndcg]")
    assert shown(page) != before
    follow(page, link)
    assert shown(page) == before
    assert page.evaluate("document.querySelector('#metrics input:checked').value") == "err"


def test_a_damaged_link_changes_nothing(page):
    before = shown(page)
    for documents in ("A_5_1", "A_1_x", "A_1", "A_1_1*A_2_2", "", "<b>_1_1", "A_1_Infinity"):
        follow(page, f"#documents={documents}")
        assert shown(page) == before, documents


@pytest.mark.parametrize("width", [400, 900, 1400])
def test_page_and_tables_fit(page, width):
    page.resize(width, 800, mobile=width == 400)
    too_wide = page.evaluate(
        "[...document.querySelectorAll('#metrics input')].flatMap(metric => { metric.click();"
        " const parts = [...document.querySelectorAll('html, .scroll:has(table), .card, #formula')];"
        " return parts.filter(p => p.scrollWidth > p.clientWidth).map(p => metric.value + p.className) })"
    )
    assert too_wide == []


def test_page_needs_no_network():
    for path in FOLDER.iterdir():
        assert re.findall(r"https?://|@import|\burl\(", path.read_text(encoding="utf-8")) == []
