"""The picture of a metric's example on its page shows the case of the docstring, and arithmetic that is right."""

import doctest
import functools
import inspect
import itertools
import re
from xml.etree import ElementTree

import pytest
import ranking_picture
import reference_pages
from support import reference
from worked_case import leading_fraction

from skrank_metrics import auc_score, map_score, ndcg_score, precision_at_k_score
from skrank_metrics.metrics._registry import REGISTRY

NAMES = sorted(REGISTRY)


@functools.cache
def picture(name):
    """The elements of a metric's section."""
    section = reference_pages.metric_page(REGISTRY[name]).partition(
        "One case by hand\n----------------\n"
    )[2]
    html = section.partition(".. raw:: html\n\n   ")[2].partition("\n")[0]
    return ElementTree.fromstring(f"<div>{html}</div>")


def texts(found):
    return ["".join(element.itertext()) for element in found]


def value_of(text):
    """The value of arithmetic as it is shown."""
    spelled = text.translate({0x2212: "-", 0xD7: "*"})
    assert re.fullmatch(r"[-0-9+*/(). ]+", spelled), spelled
    return eval(spelled)


def columns(figure):
    """The numbers of a table by the heads of their columns, from rank 1 down to the cutoff."""
    heads = texts(figure.findall(".//thead//th"))
    body = [
        row for row in figure.findall(".//tbody/tr") if row.get("class") not in ("behind", "cutoff")
    ]
    return dict(zip(heads, zip(*map(texts, body), strict=False), strict=False))


def documents(figure):
    """All labels and scores, and which of the documents are said to be relevant."""
    rows = [row for row in figure.findall(".//tbody/tr") if row.get("class") != "cutoff"]
    spelled, scores = (texts(row[place] for row in rows) for place in (1, 2))
    labels = [text.rpartition(", ")[2] for text in spelled]
    return (
        [None if label == "?" else float(label) for label in labels],
        [float(text) for text in scores],
        spelled,
    )


def footer(figure):
    """What is below the ranks: the sum, the divisor and the value, each with its name."""
    return [texts(row)[:2] for row in figure.findall(".//tfoot/tr")]


def arguments(function):
    """Cutoff and own parameters of the example's call."""
    call = re.findall(r"(\w+)=([\w.\"']+)", _first_call(function).source)
    own = ["k", *function.record.options]
    return {name: eval(value) for name, value in call if name in own}


def _first_call(function):
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(function))
    return next(example for example in examples if f"{function.__name__}(" in example.source)


@pytest.mark.parametrize("name", NAMES)
def test_the_value_is_that_of_the_docstring(name):
    shown = [float(text.replace("\u2212", "-")) for text in texts(picture(name).iter("strong"))]
    returned = [
        float(number) for number in re.findall(r"-?[0-9.]+", _first_call(REGISTRY[name]).want)
    ]
    # The mean is the last; one value per query if the call returns an array.
    assert shown[-len(returned) :] == pytest.approx(returned, abs=5e-5)


@pytest.mark.parametrize("name", NAMES)
def test_documents_and_arithmetic_give_the_value(name):
    for figure in picture(name).iter("figure"):
        labels, scores, spelled = documents(figure)
        assert scores == sorted(scores, reverse=True)
        assert [text.startswith("relevant, ") for text in spelled] == [
            bool(label) for label in labels
        ]
        expected = reference.expected(
            name.removeprefix("neg_"), labels, scores, **arguments(REGISTRY[name])
        )
        value = value_of(figure.findtext("figcaption/strong"))
        assert value == pytest.approx(0.0 if expected != expected else expected, abs=5e-5)
        caption = "".join(figure.find("figcaption").itertext())
        numbers = [value_of(text) for text in caption.split(" = ")[1:]]
        assert numbers or "is undefined and counts as 0" in caption
        for one, other in itertools.pairwise(numbers):
            assert one == pytest.approx(other, abs=5e-4)  # logarithms are shown with four digits


OF_PAIRS = ["auc", "kendall_tau", "neg_kendall_tau_distance", "pairwise_accuracy"]


@pytest.mark.parametrize("name", sorted(set(NAMES) - set(OF_PAIRS)))
def test_what_the_ranks_add_is_the_sum_that_is_divided(name):
    for figure in picture(name).iter("figure"):
        sums = [(text, value_of(value)) for text, value in footer(figure)]
        added = [value_of(text) for text in columns(figure)["adds"] if text]
        assert added or "undefined" in "".join(figure.itertext())
        if added:
            assert sum(added) == pytest.approx(sums[0][1], abs=2e-4)
        if len(sums) == 3:
            assert sums[0][1] / sums[1][1] == pytest.approx(sums[2][1], abs=2e-4)
            assert sums[1][0].startswith("÷ ")


def divisor_of(name):
    fraction = leading_fraction(REGISTRY[name].record.formula)
    return re.sub(r"\\", "", fraction[1]) if fraction else ""


COUNTED = sorted(name for name in NAMES if re.fullmatch(r"[kRnN+ ]+|min\(.*\)", divisor_of(name)))


@pytest.mark.parametrize("name", COUNTED)
def test_the_divisor_is_that_of_the_formula(name):
    """Its symbols as the formula has them, and numbers in their place."""
    divisor = divisor_of(name)
    for figure in picture(name).iter("figure"):
        labels, _, _ = documents(figure)
        n, n_relevant = len(labels), sum(bool(label) for label in labels)
        k = arguments(REGISTRY[name]).get("k", n)
        expected = eval(divisor, {"k": k, "n": n, "R": n_relevant, "N": n - n_relevant, "min": min})
        shown, number = footer(figure)[1]
        symbols, _, numbers = shown.removeprefix("÷ ").partition(" = ")
        assert symbols == divisor
        assert float(number) == expected == eval(numbers or number)


@pytest.mark.parametrize(
    ("name", "head", "expected"),
    [
        ("bpref", "others above", "0 0 1 1"),
        ("dcg", "discount", "1 1.585 2"),
        ("dcg", "gain", "3 0 7"),
        ("err", "gets here", "1 1/16 13/256"),  # 1/16 * 13/16
        ("err", "stops here", "15/16 3/16 0"),
        ("map", "hits", "0 1 0 2 3"),
        ("pfound", "gets here", "1 0.51"),
        ("q_measure", "gain so far", "0 2"),
        ("q_measure", "ideal gain so far", "2 2"),
        ("rbp", "weight", "0.5 0.25 0.125"),
        ("spearman", "centred label rank", "0 \u22121 1"),
    ],
)
def test_columns_hold_what_goes_into_the_sum(name, head, expected):
    assert columns(picture(name).find("div/figure"))[head] == tuple(expected.split())


@pytest.mark.parametrize("name", OF_PAIRS)
def test_each_pair_has_an_arc(name):
    (figure,) = picture(name).iter("figure")
    labels, _, _ = documents(figure)
    arcs = figure.find(".//td[@class='pairs']/svg")
    pairs = list(itertools.combinations(labels, 2))
    kinds = [arc.get("class") for arc in arcs]
    assert kinds.count("in-order") == sum(above > below for above, below in pairs)
    assert kinds.count("inverted") == sum(above < below for above, below in pairs)
    spelled = re.findall(r"ranks (\d) and (\d)", arcs.get("aria-label").partition("inverted: ")[2])
    assert all(labels[int(above) - 1] < labels[int(below) - 1] for above, below in spelled)
    assert len(spelled) == kinds.count("inverted")


def of_call(monkeypatch, function, call):
    """The picture of another example."""
    text = f"Examples\n--------\nTied:\n\n>>> from skrank_metrics import {function.__name__}\n>>> {call}\n0.0\n"
    monkeypatch.setattr(function, "__doc__", text)
    html = ranking_picture.one_case(function).partition("html\n\n")[2]
    return ElementTree.fromstring(f"<div>{html}</div>")


def test_tied_documents_are_bracketed_and_share_their_gain(monkeypatch):
    shown = of_call(monkeypatch, ndcg_score, "ndcg_score([[0, 2, 1]], [[5, 5, 4]])")
    assert texts(shown.findall(".//th[@class='tied']")) == ["1, tied", "2, tied"]
    assert [row.get("class") for row in shown.findall(".//tbody/tr")] == ["joined", "", ""]
    assert columns(shown.find("div/figure"))["gain"] == ("1", "1", "1")
    shown = of_call(
        monkeypatch, auc_score, "auc_score([[0, 1, 0, 0]], [[5, 5, 5, 4]])"
    )  # a tied pair counts half
    assert texts(shown.iter("figcaption")) == ["auc = 2 / 3 = 0.6667"]
    assert [arc.get("class") for arc in shown.find(".//td[@class='pairs']/svg")] == [
        "in-order",
        "tied",
        "tied",
    ]


def test_the_cutoff_is_a_line_and_a_threshold_decides_what_is_relevant(monkeypatch):
    shown = of_call(
        monkeypatch, precision_at_k_score, "precision_at_k_score([[1, 0, 1]], [[3, 2, 1]], k=2)"
    )
    rows = shown.findall(".//tbody/tr")
    assert [row.get("class") for row in rows] == ["", "", "cutoff", "behind"]
    assert texts(rows)[2] == "k = 2"
    assert texts(rows[3])[-1] == ""  # what is behind adds nothing
    shown = of_call(monkeypatch, map_score, "map_score([[1, 2]], [[2, 1]], relevance_threshold=2)")
    assert texts(shown.findall(".//tbody/tr/td[1]")) == ["not relevant, 1", "relevant, 2"]
    assert texts(shown.iter("figcaption")) == ["map(relevance_threshold=2) = 1/2 = 0.5"]
