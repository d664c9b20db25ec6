"""The metrics once more, independently: plain Python on one list of labels in ranked order.

Ties are dealt with by enumerating every order of the tied documents. Arithmetic is that of fractions, so that
nothing but logarithms and square roots is rounded. Nothing here is calculated by the package: its registry says only
which metrics need a relevant document.
"""

from __future__ import annotations

import collections
import functools
import itertools
import math
from fractions import Fraction

import scipy.stats

from skrank_metrics.metrics._record import NO_RELEVANT
from skrank_metrics.metrics._registry import REGISTRY


@functools.cache
def orders(labels, scores, ties):
    """Rankings of the labels that the tie policy allows, each with the number of orders of documents that give it."""
    groups = {}
    # Documents that nobody judged have the label None, which is below all others.
    for label, score in zip(labels, scores, strict=True):
        groups.setdefault(score, []).append(label)
    tied = [groups[score] for score in sorted(groups, reverse=True)]
    if ties in ("best", "worst"):
        for group in tied:
            group.sort(key=lambda label: -1 if label is None else label, reverse=ties == "best")
    if ties == "average":
        choices = [list(itertools.permutations(group)) for group in tied]
    else:
        choices = [[tuple(group)] for group in tied]
    return collections.Counter(sum(parts, ()) for parts in itertools.product(*choices))


def _hits(ranked, threshold):
    return [Fraction(label > 0 if threshold is None else label >= threshold) for label in ranked]


def _gain(gain):
    known = {
        "linear": Fraction,
        "exp2": lambda g: Fraction(2) ** g - 1,
        "binary": lambda g: Fraction(g > 0),
    }
    return known.get(gain, gain)


def _discount(discount):
    known = {
        "log2": lambda rank: math.log2(rank + 1),
        "reciprocal": Fraction,
        "jarvelin": lambda rank: math.log2(rank) if rank > 2 else Fraction(1),
    }
    return known.get(discount, discount)


def cg(ranked, k=None):
    return sum(Fraction(label) for label in ranked[:k])


def dcg(ranked, k=None, gain="linear", discount="log2"):
    return sum(_gain(gain)(g) / _discount(discount)(i) for i, g in enumerate(ranked[:k], start=1))


def ndcg(ranked, k=None, gain="linear", discount="log2", ideal="judged"):
    """Every document is ranked here, so the ideals differ by the cutoff or the first documents only."""
    if not any(_hits(ranked, None)):
        return math.nan
    if isinstance(ideal, int):
        best = [ideal] * (len(ranked) if k is None else k)
    else:
        best = sorted(ranked[:k] if ideal == "top" else ranked, reverse=True)
    most = dcg(best, None if ideal == "all" else k, gain, discount)
    return dcg(ranked, k, gain, discount) / most if most else 0


def precision(ranked, k=None, divisor="k", relevance_threshold=None):
    k = len(ranked) if k is None else k
    hits = _hits(ranked, relevance_threshold)
    if divisor == "min" and not any(hits):
        return math.nan
    divisors = {"k": k, "retrieved": min(k, len(ranked)), "min": min(k, sum(hits))}
    return sum(hits[:k]) / divisors[divisor]


def recall(ranked, k=None, normalizer="relevant", relevance_threshold=None):
    hits = _hits(ranked, relevance_threshold)
    most = sum(hits) if normalizer == "relevant" or k is None else min(k, sum(hits))
    return sum(hits[:k]) / most if any(hits) else math.nan


def fall_out(ranked, k=None, relevance_threshold=None):
    misses = [1 - hit for hit in _hits(ranked, relevance_threshold)]
    return sum(misses[:k]) / sum(misses) if any(misses) else math.nan


def hit_rate(ranked, k=None, relevance_threshold=None):
    hits = _hits(ranked, relevance_threshold)
    return Fraction(any(hits[:k])) if any(hits) else math.nan


def mrr(ranked, k=None, relevance_threshold=None):
    hits = _hits(ranked, relevance_threshold)
    if not any(hits):
        return math.nan
    first = hits.index(1) + 1
    return Fraction(1, first) if k is None or first <= k else 0


def map(ranked, k=None, normalizer="min", relevance_threshold=None):
    hits = _hits(ranked, relevance_threshold)
    if not any(hits):
        return math.nan
    k = len(ranked) if k is None else k
    ranks = [rank for rank, hit in enumerate(hits[:k], start=1) if hit]
    total = sum(sum(hits[:rank]) / rank for rank in ranks)
    divisors = {"min": min(k, sum(hits)), "relevant": sum(hits), "hits": sum(hits[:k]), "k": k}
    divisor = divisors[normalizer]
    return total / divisor if divisor else 0


def f1(ranked, k=None, beta=1, divisor="k", relevance_threshold=None):
    if not any(_hits(ranked, relevance_threshold)):
        return math.nan
    p = precision(ranked, k, divisor, relevance_threshold)
    r = recall(ranked, k, relevance_threshold=relevance_threshold)
    if p * r == 0:
        return 0
    weight = Fraction(beta) ** 2
    return (1 + weight) * p * r / (weight * p + r)


def r_precision(ranked, relevance_threshold=None):
    hits = _hits(ranked, relevance_threshold)
    n_relevant = int(sum(hits))
    return sum(hits[:n_relevant]) / n_relevant if any(hits) else math.nan


def _satisfied(label, gain, max_grade, threshold):
    if gain == "binary":
        return _hits([label], threshold)[0]
    return Fraction(label) if gain == "linear" else (Fraction(2) ** label - 1) / 2**max_grade


def _walk(ranked, k, p, gain, max_grade, threshold):
    """Rank and probability of stopping there, for each rank."""
    reads = Fraction(1)
    p = Fraction(p)
    for rank, label in enumerate(ranked[:k], start=1):
        stop = _satisfied(label, gain, max_grade, threshold)
        yield rank, reads * stop
        reads *= (1 - stop) * p


def err(ranked, k=None, p=1.0, gain="exp2", max_grade=4, normalize=False, relevance_threshold=None):
    options = (p, gain, max_grade)
    stops = _walk(ranked, k, *options, relevance_threshold)
    value = sum(stop / rank for rank, stop in stops)
    if not normalize:
        return value
    if not any(_hits(ranked, relevance_threshold)):
        return math.nan
    ideal = sorted(ranked, reverse=True)
    return value / err(ideal, k, *options, relevance_threshold=relevance_threshold)


def pfound(ranked, k=None, p=0.85, gain="linear", max_grade=4, relevance_threshold=None):
    return sum(stop for _, stop in _walk(ranked, k, p, gain, max_grade, relevance_threshold))


def rbp(
    ranked, k=None, p=0.8, gain="binary", max_grade=4, normalize=False, relevance_threshold=None
):
    gains = [_satisfied(label, gain, max_grade, relevance_threshold) for label in ranked[:k]]
    p = Fraction(p)
    value = (1 - p) * sum(p**place * g for place, g in enumerate(gains))
    return value / (1 - p ** len(gains)) if normalize else value


def _pairs(ranked):
    """Numbers of inverted pairs, and of pairs with different labels."""
    pairs = list(itertools.combinations(ranked, 2))
    inverted = sum(Fraction(above < below) for above, below in pairs)
    different = sum(above != below for above, below in pairs)
    return inverted, different


def kendall_tau_distance(ranked, normalize=False):
    return 1 - pairwise_accuracy(ranked) if normalize else _pairs(ranked)[0]


def _correlation(function, ranked):
    if len(set(ranked)) == 1:
        return math.nan
    return function(ranked, range(len(ranked), 0, -1)).statistic


kendall_tau = functools.partial(_correlation, scipy.stats.kendalltau)
spearman = functools.partial(_correlation, scipy.stats.spearmanr)


def pairwise_accuracy(ranked):
    inverted, pairs = _pairs(ranked)
    return (pairs - inverted) / pairs if pairs else math.nan


def auc(ranked, relevance_threshold=None):
    return pairwise_accuracy(_hits(ranked, relevance_threshold))


def q_measure(ranked, k=None, gain="linear", beta=1.0):
    hits = _hits(ranked, None)
    if not any(hits):
        return math.nan
    k = len(ranked) if k is None else k
    beta = Fraction(beta)
    gains = [_gain(gain)(label) for label in ranked]
    ideal = [_gain(gain)(label) for label in sorted(ranked, reverse=True)]
    total = 0
    for rank, hit in enumerate(hits[:k], start=1):
        blended = sum(hits[:rank]) + beta * sum(gains[:rank])
        best = rank + beta * sum(ideal[:rank])
        total += hit * blended / best
    return total / min(k, sum(hits))


def bpref(ranked, relevance_threshold=None):
    hits = _hits(ranked, relevance_threshold)
    relevant = sum(hits)
    if not relevant:
        return math.nan
    bound = min(relevant, len(hits) - relevant)
    total = Fraction(0)
    for place, hit in enumerate(hits):
        if hit:
            others_above = min(place - sum(hits[:place]), relevant)
            total += 1 - others_above / bound if others_above else 1
    return total / relevant


def judged(ranked, k=None):
    shown = ranked[:k]
    return Fraction(sum(label is not None for label in shown), len(shown))


def expected(name, labels, scores, ties="average", condense=False, **params):
    """Value of the metric for one query: the mean over the rankings that the tie policy allows.

    Labels of None are those of documents that nobody judged. They are not relevant, unless lists are condensed.
    """
    known = [0 if label is None else label for label in labels]
    if name != "judged" and all(label is None for label in labels):
        return math.nan
    # By their formulas, some have the value 0.
    has_hits = any(_hits(known, params.get("relevance_threshold")))
    if _needs_relevant(name) and not has_hits:
        return math.nan
    rankings = orders(tuple(labels), tuple(scores), ties)
    given = sorted(params.items())
    total = 0
    for ranked, times in rankings.items():
        total += times * of_ranking(name, _as_seen(name, ranked, condense), *given)
    return float(total / rankings.total())


def _needs_relevant(name):
    metric = REGISTRY.get(name) or REGISTRY[f"neg_{name}"]
    return metric.record.undefined == NO_RELEVANT


def _as_seen(name, ranked, condense):
    if name == "judged" or None not in ranked:
        return ranked
    if condense or name == "bpref":
        return tuple(label for label in ranked if label is not None)
    return tuple(0 if label is None else label for label in ranked)


@functools.cache
def of_ranking(name, ranked, *params):
    """Value of the metric for one ranking of labels."""
    return globals()[name](ranked, **dict(params))
