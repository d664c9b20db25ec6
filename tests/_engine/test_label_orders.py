"""Custom metrics of short lists under all tie policies, with columns of documents, against plain loops over orders."""

import itertools

import numpy as np
import pytest

from skrank_metrics import evaluate, get_metric, make_metric

POLICIES = ("average", "best", "worst", "stable")


def weighted(labels, price, k=None):
    """Depends on each place of labels and prices."""
    shown = list(zip(labels, price, strict=False))[:k]
    return float(
        sum((label + 3 * paid) / rank for rank, (label, paid) in enumerate(shown, start=1))
    )


def plain(labels, k=None):
    return float(sum(label / rank for rank, label in enumerate(labels[:k], start=1)))


def orders(scores, labels, ties):
    """All orders of rows that a policy allows, equally likely ones."""
    groups = [
        [row for row in range(len(scores)) if scores[row] == score]
        for score in sorted(set(scores), reverse=True)
    ]
    choices = []
    for group in groups:
        allowed = list(itertools.permutations(group))
        if ties == "stable":
            allowed = [tuple(group)]
        elif ties != "average":
            sign = -1 if ties == "best" else 1
            allowed = [
                one
                for one in allowed
                if [labels[row] for row in one]
                == sorted((labels[row] for row in group), key=lambda label: sign * label)
            ]
        choices.append(allowed)
    return [list(itertools.chain(*one)) for one in itertools.product(*choices)]


@pytest.mark.parametrize("ties", POLICIES)
@pytest.mark.parametrize("k", [None, 2])
@pytest.mark.parametrize("with_columns", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_custom_metrics_are_means_over_the_orders_of_their_policy(ties, k, with_columns, seed):
    rng = np.random.default_rng([seed, len(ties)])
    sizes = [1, 3, 4, 5]
    qid = np.repeat(np.arange(4), sizes)
    labels, scores = rng.integers(0, 3, len(qid)), rng.integers(0, 2, len(qid))
    price = rng.integers(0, 3, len(qid)).astype(float)
    function, columns = (weighted, ["price"]) if with_columns else (plain, [])
    metric = make_metric(function, documents=columns, undefined="no document")
    metric = get_metric(metric, ties=ties, k=k)
    documents = {"price": price} if with_columns else None
    report = evaluate(labels, scores, qid=qid, metrics={"m": metric}, documents=documents)
    for query, value in enumerate(report.per_query["m"]):
        rows = np.flatnonzero(qid == query)
        found = []
        for order in orders(scores[rows].tolist(), labels[rows].tolist(), ties):
            ranked = rows[order]
            given = [labels[ranked], *([price[ranked]] if with_columns else [])]
            found.append(function(*given, k=k))
        assert value == pytest.approx(np.mean(found), rel=1e-12)
