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
    revenue = make_metric(page["revenue"], documents=["price"])
    novelty = make_metric(page["novelty"], documents=["popularity"])
    metrics = [get_metric(revenue, k=2), get_metric(novelty, k=2)]
    report = evaluate_run(qrels, run, metrics, documents=columns)
    assert report.per_query["revenue@2"].tolist() == [3.0, 5.0]
    # -log2(1/8) = 3 and -log2(1/2) = 1.
    assert report.per_query["novelty@2"].tolist() == [(3 + 1) / 2, (1 + 3) / 2]


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
    # ndeval settles ties of the greedy ideal by id, the recipe by subtopics.
    has = has[np.lexsort(has.T[::-1])]
    ids = [f"d{number:02}" for number in range(n)]
    returned = rng.permutation(n)[: n - 3]
    scores = {ids[number]: float(n - place) for place, number in enumerate(returned)}

    judged = []
    for number, topic in np.ndindex(has.shape):
        judged.append(("q", f"t{topic}", ids[number], int(has[number, topic])))
    run = [("q", document, score) for document, score in scores.items()]
    measure = f"alpha-nDCG@{k}"
    expected = pyndeval.RelevanceEvaluator(judged, [measure], alpha=0.5).evaluate(run)

    qrels = dict(zip(ids, has.any(axis=1).astype(int).tolist(), strict=True))
    subtopics = {}
    for document, row in zip(ids, has, strict=True):
        subtopics[document] = " ".join(map(str, np.flatnonzero(row)))
    metric = get_metric(page["alpha_ndcg"], k=k)
    report = evaluate_run({"q": qrels}, {"q": scores}, metric, documents={"subtopics": subtopics})
    (value,) = report.mean.values()
    assert value == pytest.approx(expected["q"][measure], abs=1e-6)


def test_clicks_over_propensities_give_dcg_on_average(page):
    """The mean over all patterns of clicks, each with its probability, is the DCG of the true relevance."""
    relevance = np.array([1, 1, 0, 1])
    propensity = np.array([0.9, 0.5, 0.4, 0.2])
    scores = [3, 1, 4, 2]
    columns = {"propensity": [propensity]}
    mean = 0.0
    for pattern in itertools.product([0, 1], repeat=4):
        looked = np.array(pattern)
        probability = np.where(looked, propensity, 1 - propensity).prod()
        value = page["ips_dcg"]([relevance * looked], [scores], documents=columns)
        mean += probability * value
    assert mean == pytest.approx(dcg_score([relevance], [scores]), abs=1e-12)


def test_clipping_bounds_the_weights(page):
    columns = {"propensity": [[1e-9, 0.5]]}
    value = page["ips_dcg"]([[1, 1]], [[2, 1]], clip=0.1, documents=columns)
    assert value == pytest.approx(1 / 0.1 + 1 / 0.5 / np.log2(3), abs=1e-12)
