"""Ways of computing a metric, as public code and other libraries write them by hand: match_convention finds each."""

import math

import numpy as np
import pytest

from skrank_metrics import evaluate_run
from skrank_metrics.conventions import match_convention

K = 5


def made_up_lists():
    """Judgments of grades 0 to 3, and lists with unjudged documents and of different lengths."""
    rng = np.random.default_rng(3)
    qrels = {}
    run = {}
    for query in range(25):
        judged = rng.choice(60, 15, replace=False).tolist()
        grades = rng.choice([0, 0, 0, 1, 2, 3], 15).tolist()
        qrels[query] = dict(zip(judged, grades, strict=True))
        relevant = [document for document, grade in qrels[query].items() if grade]
        unjudged = rng.choice(range(60, 99), 6, replace=False).tolist()
        run[query] = rng.permutation(relevant + unjudged).tolist()[: int(rng.integers(3, 12))]
    qrels[0] = dict.fromkeys(qrels[0], 0)
    return qrels, run


QRELS, RUN = made_up_lists()
LISTS = [[QRELS[query].get(document, 0) for document in RUN[query]] for query in QRELS]
JUDGED = [sorted(QRELS[query].values(), reverse=True) for query in QRELS]


def log2(rank):
    return math.log2(rank + 1)


def jarvelin(rank):
    return max(1.0, math.log2(rank))


def binary(grade):
    return min(grade, 1)


def exp2(grade):
    return 2**grade - 1


def dcg(grades, gain, discount=log2):
    return sum(gain(grade) / discount(rank) for rank, grade in enumerate(grades, start=1))


def ndcg(gain, ideal, discount=log2, undefined=0.0):
    """Mean over queries, with the ideal list as a function of the returned and of the judged grades."""
    values = []
    for returned, judged in zip(LISTS, JUDGED, strict=True):
        best = dcg(ideal(returned, judged), gain, discount)
        found = dcg(returned[:K], gain, discount)
        values.append(found / best if best else undefined)
    return np.nanmean(values)


def average_precision(divisor):
    values = []
    for returned, judged in zip(LISTS, JUDGED, strict=True):
        hits = 0
        total = 0.0
        for rank, grade in enumerate(returned[:K], start=1):
            if grade:
                hits += 1
                total += hits / rank
        parts = divisor(hits, sum(map(binary, judged)))
        values.append(total / parts if parts else 0.0)
    return np.mean(values)


def hits_and_relevant(k=K, least=1):
    for returned, judged in zip(LISTS, JUDGED, strict=True):
        hits = sum(grade >= least for grade in returned[:k])
        yield hits, len(returned[:k]), sum(grade >= least for grade in judged)


def ratio(divisor, least=1):
    """Mean of hits / divisor(number returned, number relevant)."""
    values = []
    for hits, n_returned, n_relevant in hits_and_relevant(least=least):
        values.append(hits / (divisor(n_returned, n_relevant) or 1))
    return np.mean(values)


def pooled(divisor):
    counts = list(hits_and_relevant())
    return sum(hits for hits, _, _ in counts) / sum(
        divisor(n, relevant) for _, n, relevant in counts
    )


def reciprocal_rank(least):
    values = []
    for returned in LISTS:
        ranks = [rank for rank, grade in enumerate(returned, start=1) if grade >= least]
        values.append(1 / min(ranks, default=math.inf))
    return np.mean(values)


def top_of_judged(returned, judged):
    return judged[:K]


PUBLISHED = {
    "LightGBM": (f"ndcg@{K}", ndcg(exp2, top_of_judged, undefined=1.0), "lightgbm"),
    "BEIR": (f"ndcg@{K}", ndcg(float, top_of_judged), "beir"),
    "Recommenders": (f"ndcg@{K}", ndcg(binary, top_of_judged), "recommenders"),
    "Quepid before 2025": (
        f"ndcg@{K}",
        ndcg(exp2, lambda returned, judged: sorted(returned[:K], reverse=True)),
        "quepid",
    ),
    "Quepid": (f"ndcg@{K}", ndcg(exp2, lambda returned, judged: judged), "ideal=all"),
    "Elasticsearch": (
        f"ndcg@{K}",
        ndcg(exp2, lambda returned, judged: judged[: len(returned[:K])]),
        "elasticsearch",
    ),
    "MLflow": (
        f"ndcg@{K}",
        ndcg(binary, lambda returned, judged: judged[: len(returned[:K])]),
        "mlflow",
    ),
    "RecTools": (f"ndcg@{K}", ndcg(binary, lambda returned, judged: [1] * K), "gain=binary, ideal"),
    "dashboards": (f"ndcg@{K}", ndcg(exp2, lambda returned, judged: [3] * K), "gain=exp2, ideal=3"),
    "an inner join": (
        f"ndcg@{K}",
        ndcg(float, lambda returned, judged: sorted(returned, reverse=True)[:K]),
        "ideal=retrieved",
    ),
    "Jarvelin": (f"ndcg@{K}", ndcg(float, top_of_judged, jarvelin), "discount=jarvelin"),
    "left out": (
        f"ndcg@{K}",
        ndcg(exp2, top_of_judged, undefined=math.nan),
        "replace_undefined_by=nan",
    ),
    "ml_metrics": (f"map@{K}", average_precision(lambda hits, n: min(K, n)), "recommenders"),
    "trec_eval": (f"map@{K}", average_precision(lambda hits, n: n), "trec_eval"),
    "RecTools, by k": (f"map@{K}", average_precision(lambda hits, n: K), "normalizer=k"),
    "rank_metrics.py": (f"map@{K}", average_precision(lambda hits, n: hits), "normalizer=hits"),
    "ragas": (f"precision@{K}", ratio(lambda n, relevant: n), "divisor=retrieved"),
    "implicit": (
        f"precision@{K}",
        pooled(lambda n, relevant: min(K, relevant)),
        "divisor=min, average=micro",
    ),
    "BEIR, capped": (f"recall@{K}", ratio(lambda n, relevant: min(K, relevant)), "normalizer=min"),
    "OTTO": (
        f"recall@{K}",
        pooled(lambda n, relevant: min(K, relevant)),
        "normalizer=min, average=micro",
    ),
    "grade 2, precision": (
        f"precision@{K}",
        ratio(lambda n, relevant: K, least=2),
        "relevance_threshold=2",
    ),
    "grade 2, MRR": ("mrr", reciprocal_rank(2), "relevance_threshold=2"),
}


@pytest.fixture(scope="module")
def report():
    return evaluate_run(QRELS, RUN, "mrr")


@pytest.mark.parametrize("code", PUBLISHED)
def test_published_ways_are_found(report, code):
    metric, value, way = PUBLISHED[code]
    match = match_convention(report, metric=metric, value=value)
    assert match.matches
    assert way in " ".join(str(match).split())
