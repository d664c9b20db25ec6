"""Figures that readers of articles on ranking metrics bring along, the arithmetic spelled out."""

from math import log2

import pytest

from skrank_metrics import get_metric, ndcg_score

A = [5, 1, 3, 2, 4]
DCG_A = 31 / 1 + 1 / log2(3) + 7 / 2 + 3 / log2(5) + 15 / log2(6)
DCG_IDEAL = 31 / 1 + 15 / log2(3) + 7 / 2 + 3 / log2(5) + 1 / log2(6)
SIX = [3, 2, 3, 0, 1, 2]
DCG_SIX = 3 + 2 / log2(3) + 3 / 2 + 0 + 1 / log2(6) + 2 / log2(7)
IDEAL_SIX = 3 + 3 / log2(3) + 2 / 2 + 2 / log2(5) + 1 / log2(6) + 0
DCG_THREE, IDEAL_THREE = 3 + 2 / log2(3) + 3 / 2, 3 + 3 / log2(3) + 2 / 2
DCG_OF_EXP2 = 7 + 3 / log2(3) + 7 / 2 + 0 + 1 / log2(6) + 3 / log2(7)
FIRST = [0.5, 0.9, 0.3, 0.6, 0.1]
DCG_FIRST = 0.5 + 0.9 / log2(3) + 0.3 / 2 + 0.6 / log2(5) + 0.1 / log2(6)
SEVEN = [1, 0, 1, 1, 0, 1, 0]
PRECISIONS = 1 + 2 / 3 + 3 / 4
RBP_GAINS = 0.5 + 0.8 * 0.9 + 0.8**2 * 0.3
BOUGHT = [1, 0, 0, 1, 1, 1]  # of the four products bought, one was among the three recommended
EARLY, LATE = [1, 1] + [0] * 8, [0] * 8 + [1, 1]
# Stops with probabilities 15/16, 3/16 and 7/16, and goes on with .9.
ERR = 15 / 16 + 0.9 / 16 * 3 / 16 / 2 + 0.9**2 / 16 * 13 / 16 * 7 / 16 / 3
# Metric, labels in ranked order, the sum spelled out, and its value as articles round it.
EXAMPLES = [
    ("cg", A, 5 + 1 + 3 + 2 + 4, 15),
    ("dcg(gain=exp2)", A, DCG_A, 42.225751536309765),
    ("ndcg(gain=exp2)@5", A, DCG_A / DCG_IDEAL, 0.9251),
    ("dcg@6", SIX, DCG_SIX, 6.861),
    # One article has 16.047 for the exponential gain: it added 2.585, the discount log2(6), as the fifth term.
    ("dcg(gain=exp2)@6", SIX, DCG_OF_EXP2, 13.848),
    ("ndcg@6", SIX, DCG_SIX / IDEAL_SIX, 0.961),
    ("dcg@3", SIX[:5], DCG_THREE, 5.76),
    # One article has 6.43 for the ideal, and so 0.90.
    ("ndcg@3", SIX[:5], DCG_THREE / IDEAL_THREE, 0.978),
    ("dcg", FIRST, DCG_FIRST, 1.515),
    ("precision@5", SEVEN, 3 / 5, 0.6),
    ("recall@5", SEVEN, 3 / 4, 0.75),
    ("map(normalizer=hits)@5", SEVEN, PRECISIONS / 3, 0.8056),
    ("map@5", SEVEN, PRECISIONS / min(5, 4), 0.6042),
    ("map@5", [0, 1, 0, 1, 1], (1 / 2 + 2 / 4 + 3 / 5) / 3, 0.5333),
    ("precision@3", BOUGHT, 1 / 3, 0.3333),
    ("rbp(p=0.5)", [1, 0, 1], (1 - 0.5) * (1 + 0.5**2), 0.625),
    ("rbp(gain=linear)", [0.5, 0.9, 0.3], (1 - 0.8) * RBP_GAINS, 0.2824),
    ("err(p=0.9)", [4, 2, 3], ERR, 0.9488),
    ("kendall_tau_distance", [0, 1, 2, 2], 5, 5),  # of six pairs, one has equal labels
    ("map", EARLY, (1 / 1 + 2 / 2) / 2, 1),
    ("map", LATE, (1 / 9 + 2 / 10) / 2, 0.1556),
]


@pytest.mark.parametrize(("name", "labels", "expected", "published"), EXAMPLES)
def test_one_list(name, labels, expected, published):
    descending = range(len(labels), 0, -1)
    value = get_metric(name)([labels], [descending])
    assert value == pytest.approx(expected, abs=1e-12)
    assert expected == pytest.approx(published, abs=2e-3)


def test_ideal_with_judged_documents_that_were_not_retrieved():
    ideal = 3 + 3 / log2(3) + 3 / 2 + 2 / log2(5) + 2 / log2(6) + 2 / log2(7)
    assert DCG_SIX / ideal == pytest.approx(0.785, abs=2e-3)
    # The two documents take no place in the ranking but one in the ideal order, whatever their scores.
    labels = [[*SIX, 3, 2]]
    retrieved = [[True] * 6 + [False] * 2]
    for rest in (9, float("nan")):
        scores = [[6, 5, 4, 3, 2, 1, rest, rest]]
        value = ndcg_score(labels, scores, k=6, retrieved=retrieved)
        assert value == pytest.approx(DCG_SIX / ideal, abs=1e-12)
