"""One metric for each way of averaging over ties, of one long list to thirty digits. Nothing here imports the package.

Small groups of tied documents are enumerated order by order as the list is walked from the top: what an order adds to a
metric depends on what is above the group, never on its order. For one large group there are formulas.
"""

from __future__ import annotations

import collections
import functools
import itertools
from dataclasses import dataclass, field

from mpmath import binomial, log, mp, mpf, sqrt

mp.dps = 30
N_GRADES = 5


@dataclass
class Above:
    """What the documents down to a rank add up to, that rank included."""

    rank: int = 0
    hits: int = 0
    gains: mpf = field(default_factory=mpf)
    reads: mpf = field(default_factory=lambda: mpf(1))
    stopped: mpf = field(default_factory=mpf)  # probability of stopping at this rank
    labels: tuple[int, ...] = (0,) * N_GRADES

    def then(self, label, gain, stop, p):
        labels = list(self.labels)
        labels[label] += 1
        return Above(
            rank=self.rank + 1,
            hits=self.hits + (label > 0),
            gains=self.gains + gain,
            reads=self.reads * (1 - stop) * p,
            stopped=self.reads * stop,
            labels=tuple(labels),
        )


def walk(groups, term, k=None, gain=lambda label: label, stop=lambda label: 0, p=1.0):
    """Sum over ranks up to k of ``term(label, above, now)``, its mean over the orders of each group of labels."""
    gains = [mpf(gain(label)) for label in range(N_GRADES)]
    stops = [mpf(stop(label)) for label in range(N_GRADES)]
    p = mpf(p)
    above = Above()
    total = mpf(0)
    for group in groups:
        orders = collections.Counter(itertools.permutations(group))
        added = mpf(0)
        for order, times in orders.items():
            now = above
            for label in order:
                last, now = now, now.then(label, gains[label], stops[label], p)
                if k is None or now.rank <= k:
                    added += times * term(label, last, now)
        total += added / orders.total()
        above = now
        if k is not None and above.rank >= k:
            break
    return total


@functools.cache
def log2(rank):
    return log(rank, 2)


def exp2(label):
    return 2**label - 1


def satisfied(label, max_grade=20):
    return mpf(exp2(label)) / 2**max_grade


def relevant(label):
    return int(label > 0)


class LongList:
    """Labels 0 to 4 in groups of tied documents, the best-ranked group first."""

    def __init__(self, groups):
        self.groups = groups
        self.labels = sorted((label for group in groups for label in group), reverse=True)
        self.n = len(self.labels)
        self.n_relevant = sum(map(relevant, self.labels))
        self.ideal = [(label,) for label in self.labels]

    def dcg(self, k, gain=exp2, groups=None):
        return walk(
            groups or self.groups, lambda label, last, now: gain(label) / log2(now.rank + 1), k
        )

    def ndcg(self, k, gain=exp2):
        return self.dcg(k, gain) / self.dcg(k, gain, self.ideal)

    def map(self, k):
        total = walk(
            self.groups, lambda label, last, now: relevant(label) * mpf(now.hits) / now.rank, k
        )
        return total / min(k or self.n, self.n_relevant)

    def bpref(self, k):
        bound = min(self.n_relevant, self.n - self.n_relevant)

        def term(label, last, now):
            return relevant(label) * (1 - mpf(min(last.rank - last.hits, self.n_relevant)) / bound)

        return walk(self.groups, term, k) / self.n_relevant

    def err(self, k):
        return walk(self.groups, lambda label, last, now: now.stopped / now.rank, k, stop=satisfied)

    def inversions(self):
        return walk(self.groups, lambda label, last, now: sum(last.labels[:label]))

    def pairs(self, labels):
        return (self.n**2 - sum(labels.count(label) ** 2 for label in set(labels))) // 2

    def kendall_tau(self, k):
        pairs = mpf(self.pairs(self.labels))
        return (pairs - 2 * self.inversions()) / sqrt(pairs * (self.n * (self.n - 1) // 2))


def constant_mrr(n, r):
    """Expected reciprocal rank of the first of r relevant documents among n in random order."""
    total = mpf(0)
    probability = mpf(r) / n
    for rank in range(1, n - r + 2):
        total += probability / rank
        probability *= mpf(n - rank - r + 1) / (n - rank)
    return total


def constant_map(n, r, k):
    """Expected average precision at k, divided by min(k, r), of r relevant documents among n in random order."""
    total = mpf(0)
    for rank in range(1, k + 1):
        hits_above = mpf(rank - 1) * (r - 1) / (n - 1)
        total += mpf(r) / n * (1 + hits_above) / rank
    return total / min(k, r)


def constant_map_over_hits(n, r, k):
    """The same, divided by the hits among the first k; given their number, each of k ranks is as likely to hold one."""
    first = sum(1 / mpf(i) for i in range(1, k + 1))
    later = sum(mpf(i - 1) / i for i in range(1, k + 1))
    fewest = max(0, k - n + r)
    most = min(r, k)
    probability = mpf(1)
    mass = mpf(0)
    total = mpf(0)
    for hits in range(fewest, most + 1):
        mass += probability
        if hits > 0:
            others = mpf(hits - 1) / max(k - 1, 1)
            total += probability * (first + others * later) / k
        # The probability of one more hit follows from that of so many.
        ways = mpf(r - hits) * (k - hits)
        probability *= ways / ((hits + 1) * mpf(n - r - k + hits + 1))
    return total / mass


def constant_err(counts, k, max_grade=20):
    """ERR at k of a random order of ``counts[g]`` documents of each grade g, by elementary symmetric polynomials."""
    n_documents = sum(counts)
    products = [mpf(1)] + [mpf(0)] * k
    for grade, count in enumerate(counts):
        passes = 1 - satisfied(grade, max_grade)
        powers = [binomial(count, j) * passes**j for j in range(k + 1)]
        products = [sum(products[i] * powers[n - i] for i in range(n + 1)) for n in range(k + 1)]
    # Probability of reading on after so many ranks.
    still = [product / binomial(n_documents, size) for size, product in enumerate(products)]
    stops = [before - after for before, after in itertools.pairwise(still)]
    return sum(stop / rank for rank, stop in enumerate(stops, start=1))
