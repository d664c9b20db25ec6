"""The recipes of docs/own_metrics.md give published values, or those of independent computations."""

import doctest
import itertools
from pathlib import Path

import numpy as np
import pyndeval
import pytest

from skrank_metrics import dcg_score, evaluate_run, get_metric, make_metric

PAGE = Path(__file__).parents[2] / "docs" / "own_metrics.md"


@pytest.fixture(scope="module")
def page():
    """What the recipes define."""
    names = {"np": np, "make_metric": make_metric}
    text = PAGE.read_text(encoding="utf-8").partition("## Recipes")[2].partition("## Checking")[0]
    for example in doctest.DocTestParser().get_examples(text):
        exec(example.source, names)
    return names


def test_revenue_and_novelty_follow_the_ids_of_documents(page):
    qrels = {"ann": ["tea", "milk"], "bob": ["jam"]}
    run = {"ann": ["jam", "tea", "milk"], "bob": ["tea", "jam"]}
    columns = {
        "price": {"tea": 3.0, "jam": 5.0, "milk": 1.0},
        "popularity": {"tea": 1 / 2, "jam": 1 / 8, "milk": 1 / 4},
    }
    needs = {"revenue": "price", "novelty": "popularity"}
    metrics = [
        get_metric(make_metric(page[name], documents=[column]), k=2)
        for name, column in needs.items()
    ]
    report = evaluate_run(qrels, run, metrics, documents=columns)
    assert report.per_query["revenue@2"].tolist() == [3.0, 5.0]
    assert report.per_query["novelty@2"].tolist() == [
        (3 + 1) / 2,
        (1 + 3) / 2,
    ]  # -log2(1/8) = 3, -log2(1/2) = 1


def test_exposure_is_that_of_singh_and_joachims(page):
    labels = [[0.82, 0.81, 0.80, 0.79, 0.78, 0.77]]
    genders = {"group": [["m"] * 3 + ["f"] * 3]}
    found = [page["exposure"](labels, labels, of=gender, documents=genders) for gender in "mf"]
    assert np.round(found, 2).tolist() == [0.71, 0.39]


@pytest.mark.parametrize("seed", range(20))
def test_alpha_ndcg_is_that_of_ndeval(page, seed):
    rng = np.random.default_rng(seed)
    n, k = 12, (5, 10, 20)[seed % 3]
    has = rng.random((n, 4)) < 0.3
    has[0, 0] = True
    has = has[
        np.lexsort(has.T[::-1])
    ]  # ndeval settles ties of the greedy ideal by id, the recipe by subtopics
    order = rng.permutation(n)[: n - 3]  # three documents are not returned
    judged = [
        ("q", f"t{topic}", f"d{d:02}", int(has[d, topic])) for d in range(n) for topic in range(4)
    ]
    run = [("q", f"d{d:02}", float(n - place)) for place, d in enumerate(order)]
    expected = pyndeval.RelevanceEvaluator(judged, [f"alpha-nDCG@{k}"], alpha=0.5).evaluate(run)
    qrels = {"q": {f"d{d:02}": int(has[d].any()) for d in range(n)}}
    subtopics = {f"d{d:02}": " ".join(map(str, np.flatnonzero(has[d]))) for d in range(n)}
    scores = {"q": {d: score for _, d, score in run}}
    found = evaluate_run(
        qrels, scores, get_metric(page["alpha_ndcg"], k=k), documents={"subtopics": subtopics}
    ).mean
    assert list(found.values()) == pytest.approx([expected["q"][f"alpha-nDCG@{k}"]], abs=1e-6)


def test_clicks_over_propensities_give_dcg_on_average(page):
    """The mean over all patterns of clicks, each with its probability, is the DCG of the true relevance."""
    relevance, seen, scores = [1, 1, 0, 1], [0.9, 0.5, 0.4, 0.2], [3, 1, 4, 2]
    mean = 0.0
    for looked in itertools.product([0, 1], repeat=4):
        probability = np.prod([p if look else 1 - p for look, p in zip(looked, seen, strict=True)])
        clicks = np.multiply(relevance, looked)
        mean += probability * page["ips_dcg"]([clicks], [scores], documents={"propensity": [seen]})
    assert mean == pytest.approx(dcg_score([relevance], [scores]), abs=1e-12)


def test_clipping_bounds_the_weights(page):
    given = {"documents": {"propensity": [[1e-9, 0.5]]}}
    assert page["ips_dcg"]([[1, 1]], [[2, 1]], clip=0.1, **given) == pytest.approx(
        10 + 2 / np.log2(3), abs=1e-12
    )
