"""The metrics once more, independently: plain Python on one list of labels in ranked order.

Ties are dealt with by enumerating every order of the tied documents. Arithmetic is that of fractions, so that
nothing but logarithms and square roots is rounded. Nothing here imports the package.
"""

from __future__ import annotations

import collections
import functools
import itertools
import math
from fractions import Fraction

import scipy.stats

# They have a value without relevant documents, too, but are left out of the mean with the other metrics.
ZERO_BY_FORMULA = ("cg", "dcg", "precision", "err", "rbp", "pfound")


@functools.cache
def orders(labels, scores, ties):
    """Rankings of the labels that the tie policy allows, each with the number of orders of documents that give it."""
    groups = {}
    # Documents that nobody judged have the label None, which is below all others.
    for label, score in zip(labels, scores, strict=True):
        groups.setdefault(score, []).append(label)
    tied = [groups[score] for score in sorted(groups, reverse=True)]
    if ties == "stable":
        choices = [[tuple(group)] for group in tied]
    elif ties in ("best", "worst"):
        above = [sorted(group, key=lambda label: -1 if label is None else label) for group in tied]
        choices = [[tuple(group[::-1] if ties == "best" else group)] for group in above]
    else:
        choices = [list(itertools.permutations(group)) for group in tied]
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
    k, hits = len(ranked) if k is None else k, _hits(ranked, relevance_threshold)
    if divisor == "min":
        return sum(hits[:k]) / min(k, sum(hits)) if any(hits) else math.nan
    return sum(hits[:k]) / (k if divisor == "k" else min(k, len(ranked)))


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
    total = sum(sum(hits[:i]) / i for i in range(1, min(k, len(hits)) + 1) if hits[i - 1])
    divisors = {"min": min(k, sum(hits)), "relevant": sum(hits), "hits": sum(hits[:k]), "k": k}
    divisor = divisors[normalizer]
    return total / divisor if divisor else 0


def f1(ranked, k=None, beta=1, divisor="k", relevance_threshold=None):
    if not any(_hits(ranked, relevance_threshold)):
        return math.nan
    p = precision(ranked, k, divisor, relevance_threshold)
    r, weight = recall(ranked, k, relevance_threshold=relevance_threshold), Fraction(beta) ** 2
    return (1 + weight) * p * r / (weight * p + r) if p * r else 0


def r_precision(ranked, relevance_threshold=None):
    hits = _hits(ranked, relevance_threshold)
    return sum(hits[: int(sum(hits))]) / sum(hits) if any(hits) else math.nan


def _satisfied(label, gain, max_grade, threshold):
    if gain == "binary":
        return _hits([label], threshold)[0]
    return Fraction(label) if gain == "linear" else (Fraction(2) ** label - 1) / 2**max_grade


def _walk(ranked, k, p, gain, max_grade, threshold):
    """Rank and probability of stopping there, for each rank."""
    reads, p = Fraction(1), Fraction(p)
    for rank, label in enumerate(ranked[:k], start=1):
        stop = _satisfied(label, gain, max_grade, threshold)
        yield rank, reads * stop
        reads *= (1 - stop) * p


def err(ranked, k=None, p=1.0, gain="exp2", max_grade=4, normalize=False, relevance_threshold=None):
    options = {
        "p": p,
        "gain": gain,
        "max_grade": max_grade,
        "relevance_threshold": relevance_threshold,
    }
    if normalize and not any(_hits(ranked, relevance_threshold)):
        return math.nan
    best = err(sorted(ranked, reverse=True), k, **options) if normalize else 1
    stops = _walk(ranked, k, p, gain, max_grade, relevance_threshold)
    return sum(stop / rank for rank, stop in stops) / best


def pfound(ranked, k=None, p=0.85, gain="linear", max_grade=4, relevance_threshold=None):
    return sum(stop for _, stop in _walk(ranked, k, p, gain, max_grade, relevance_threshold))


def rbp(
    ranked, k=None, p=0.8, gain="binary", max_grade=4, normalize=False, relevance_threshold=None
):
    gains = [_satisfied(label, gain, max_grade, relevance_threshold) for label in ranked[:k]]
    p = Fraction(p)
    return (
        (1 - p)
        * sum(p**place * g for place, g in enumerate(gains))
        / (1 - p ** len(gains) if normalize else 1)
    )


def _pairs(ranked):
    pairs = list(itertools.combinations(ranked, 2))
    return sum(Fraction(above < below) for above, below in pairs), sum(
        above != below for above, below in pairs
    )


def kendall_tau_distance(ranked, normalize=False):
    return 1 - pairwise_accuracy(ranked) if normalize else _pairs(ranked)[0]


def _correlation(function, ranked):
    return (
        function(ranked, range(len(ranked), 0, -1)).statistic if len(set(ranked)) > 1 else math.nan
    )


kendall_tau = functools.partial(_correlation, scipy.stats.kendalltau)
spearman = functools.partial(_correlation, scipy.stats.spearmanr)


def pairwise_accuracy(ranked):
    inverted, pairs = _pairs(ranked)
    return (pairs - inverted) / pairs if pairs else math.nan


def auc(ranked, relevance_threshold=None):
    return pairwise_accuracy(_hits(ranked, relevance_threshold))


def q_measure(ranked, k=None, gain="linear", beta=1.0):
    gains, ideal = (
        [_gain(gain)(g) for g in labels] for labels in (ranked, sorted(ranked, reverse=True))
    )
    hits = _hits(ranked, None)
    if not any(hits):
        return math.nan
    k, beta = len(ranked) if k is None else k, Fraction(beta)
    ranks = [i for i, hit in enumerate(hits[:k], start=1) if hit]
    total = sum(
        (sum(hits[:i]) + beta * sum(gains[:i])) / (i + beta * sum(ideal[:i])) for i in ranks
    )
    return total / min(k, sum(hits))


def bpref(ranked, k=None, relevance_threshold=None):
    hits = _hits(ranked, relevance_threshold)
    relevant, others = sum(hits), len(hits) - sum(hits)
    if not relevant:
        return math.nan
    above = [min(place - sum(hits[:place]), relevant) for place, hit in enumerate(hits[:k]) if hit]
    return sum(1 - n / min(relevant, others) if n else Fraction(1) for n in above) / relevant


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
    if name in ZERO_BY_FORMULA and not any(_hits(known, params.get("relevance_threshold"))):
        return math.nan
    rankings, given = orders(tuple(labels), tuple(scores), ties), sorted(params.items())
    total = sum(
        n * of_ranking(name, _as_seen(name, one, condense), *given) for one, n in rankings.items()
    )
    return float(total / rankings.total())


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
