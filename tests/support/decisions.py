"""Everything that a comparison says, once more: from values per query, by definitions alone, slowly.

Pairs are dealt with one by one, every distribution of random signs is kept, and ends of intervals are found by
bisection of the test. Larger values are better in here; ``decisions_of`` turns around values of which smaller ones are.

From the package come only the hash of ids and the random bits that belong to it: they are definitions, too.
"""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
from scipy import stats

from skrank_metrics._input.id_hash import hash_ids
from skrank_metrics.decisions.signs import merged_units, random_bits

N_SIGNS = 10_000
# Up to this many units that differ, every combination of signs is used.
MOST_ENUMERATED = 13
# What is smaller is rounding, relative to the largest value possible.
TINY = 1e-12
# Statistics are equal if they differ by less.
TIED = 1e-9
POWER = 0.8
LEAST_FIRST = ("worse", "undecided", "small loss", "not worse", "equivalent", "better")

# Quantiles and tails take long in SciPy, and the same ones are asked for again and again.
normal_isf = functools.lru_cache(10_000)(stats.norm.isf)
normal_sf = functools.lru_cache(10_000)(stats.norm.sf)
student_isf = functools.lru_cache(10_000)(stats.t.isf)
student_sf = functools.lru_cache(10_000)(stats.t.sf)
beta_ppf = functools.lru_cache(10_000)(stats.beta.ppf)


def effective(masses):
    return masses.sum() ** 2 / (masses**2).sum()


def ratio_error(sums, masses):
    """Standard error of the ratio of sums to their masses; 0 if all differences are equal."""
    n = effective(masses)
    residuals = sums - masses * sums.sum() / masses.sum()
    squares = (residuals**2).sum()
    if squares <= TINY**2 * (sums**2).sum() or n <= 1 + TINY:
        return 0.0
    return math.sqrt(squares * n / (n - 1)) / masses.sum()


def quantile_of(null, level):
    """The smallest value of the distribution that at most a share ``level`` of it exceeds."""
    ascending = np.sort(null)
    return float(ascending[len(null) - 1 - math.floor(level * len(null) + 1e-9)])


class PairTest:
    """The test of one ranking minus another, from the weighted differences of units and their masses."""

    def __init__(self, d, masses):
        self.d = d
        self.masses = masses
        self.mass = masses.sum()
        self.total = d.sum()
        if abs(self.total) <= TINY * np.abs(d).sum():
            self.total = 0.0
        self.mean = self.total / self.mass
        self.n_changed = int((d != 0).sum())
        self.least_p = min(1.0, 2.0 ** (1 - self.n_changed))
        self.error = ratio_error(d, masses)
        self.out_of_fold = None  # standard error and degrees of freedom
        self.z = 0.0
        if self.n_changed:
            self.z = min(abs(self.total) / self.norm(0.0), math.sqrt(effective(masses)))

    def norm(self, shift):
        shifted = self.d - shift * self.masses
        return math.sqrt((shifted**2).sum() + np.abs(self.d).max() ** 2 / 2)

    def set_fold_error(self, error, n_degrees):
        """Out of fold, the statistic is at most that of a t-test with another standard error."""
        self.out_of_fold = error, n_degrees
        tail = student_sf(abs(self.mean) / error, n_degrees)
        self.z = min(self.z, 38.0, float(normal_isf(tail)))

    def null(self, signs):
        """What the statistic would be with these signs."""
        size = math.sqrt((self.d**2).sum())
        return np.abs(signs @ self.d) / size if size else np.zeros(len(signs))

    def tail(self, null):
        return max(float(np.mean(null >= self.z - TIED)), self.least_p)

    def end(self, critical, side):
        """The last shift on one side that is not rejected."""

        def is_rejected(shift):
            return abs(self.total - shift * self.mass) > critical * self.norm(shift)

        near = self.mean
        far = self.mean + side * 1e6
        # The statistic of shifts far away, that is of the masses alone, is the root of their effective number.
        if math.sqrt(effective(self.masses)) <= critical or not is_rejected(far):
            return side * math.inf
        for _ in range(70):
            middle = (near + far) / 2
            if is_rejected(middle):
                far = middle
            else:
                near = middle
        return near

    def skewness(self):
        """Skewness divided by the root of the number of units."""
        residuals = self.d - self.masses * self.mean
        squares = (residuals**2).sum()
        return (residuals**3).sum() / squares**1.5 if self.error else 0.0

    def mean_size(self, side):
        """Mean size of the differences on one side, in units of mean mass; 0 if there are none."""
        own = np.abs(self.d[side * self.d > 0])
        return own.mean() * len(self.d) / self.mass if len(own) else 0.0


class PartTests:
    """The tests of all pairs in one set of queries; rankings are columns of values of which larger ones are better."""

    def __init__(self, values, weights, units, folds, seed, bounds, *, enumerates):
        worst, best = bounds
        self.values = values
        self.n_queries, self.n = values.shape
        self.largest_loss = values.max() - min(worst, values.min())
        self.span = max(best - worst, *(np.ptp(row) for row in values))
        largest = np.abs(values).max()
        if math.isfinite(best - worst):
            largest = max(largest, best - worst)
        self.scale = 2.0 ** np.frexp(largest)[1]
        distinct = np.unique(values)
        # The difference of two values, if there are no others and every query is a unit.
        self.step = np.ptp(distinct) if len(distinct) == 2 else 0.0
        self.weights = weights / weights.max()
        masses = self.masses_of(units)
        self.n_units = len(masses)
        self.n_effective = effective(masses)
        distinct = np.unique(units)
        merged = dict(zip(distinct.tolist(), merged_units(distinct).tolist(), strict=True))
        codes = np.array([merged[unit] for unit in units.tolist()], dtype=np.uint64)
        self.masses = self.masses_of(codes)
        self.tests = {}
        for i, j in itertools.permutations(range(self.n), 2):
            d = self.sums(i, j, codes)
            d[np.abs(d) <= TINY * self.masses] = 0.0
            self.tests[i, j] = PairTest(d, self.masses)
        self.pairs = list(itertools.combinations(range(self.n), 2))
        if folds is not None and len(set(folds.tolist())) > 1:
            self.set_fold_errors(folds)
        signs = self.signs(np.unique(codes), seed, enumerates=enumerates)
        self.nulls = {pair: self.tests[pair].null(signs) for pair in self.pairs}
        self.nulls |= {(j, i): null for (i, j), null in self.nulls.items()}

    def masses_of(self, codes):
        return np.array([self.weights[codes == code].sum() for code in np.unique(codes)])

    def sums(self, i, j, codes):
        """Weighted differences of two rankings, divided by the scale, added up in each set of queries."""
        each = self.weights * (self.values[:, i] - self.values[:, j]) / self.scale
        return np.array([each[codes == code].sum() for code in np.unique(codes)])

    def set_fold_errors(self, folds):
        """Variances over queries and over fits, half of the pair and half of all pairs."""
        masses = self.masses_of(folds)
        n_folds = len(masses)
        q = {pair: self.tests[pair].error ** 2 for pair in self.pairs}
        f = {(i, j): ratio_error(self.sums(i, j, folds), masses) ** 2 for i, j in self.pairs}
        mean_q = np.mean(list(q.values()))
        mean_f = np.mean(list(f.values()))
        added = max(0.0, mean_f - mean_q)
        total = {pair: max(q[pair], (q[pair] + f[pair] + added) / 2) for pair in self.pairs}
        n_degrees = max(effective(self.masses) - 1, TINY)
        if added > TINY * mean_q:
            of_fits = self.degrees_of_fits(masses)
            mean_total = np.mean(list(total.values()))
            n_degrees = mean_total**2 / (mean_q**2 / n_degrees + mean_f**2 / of_fits)
        # What all fits have in common is 1.25 (F - 1) / F times the variance over queries.
        factor = 1 + 1.25 * (n_folds - 1) / n_folds
        for i, j in self.pairs:
            if self.tests[i, j].n_changed and total[i, j] > 0:
                error = math.sqrt(factor * total[i, j])
                self.tests[i, j].set_fold_error(error, n_degrees)
                self.tests[j, i].set_fold_error(error, n_degrees)

    def degrees_of_fits(self, masses):
        """Degrees of freedom of a variance over folds of which half is of one pair, half of all."""
        n_degrees = max(effective(masses) - 1, TINY)
        if self.n == 2:
            return n_degrees
        of_pair = (1 + 1 / (self.n - 1)) / 2
        of_others = 1 - of_pair
        return n_degrees / (of_pair**2 + of_others**2 / (self.n - 2))

    def signs(self, codes, seed, *, enumerates):
        """All combinations of signs if few units differ, else the random ones of the units."""
        differing = np.any([own.d != 0 for own in self.tests.values()], axis=0)
        n_differing = int(differing.sum())
        if enumerates and n_differing <= MOST_ENUMERATED:
            signs = np.ones((2**n_differing, len(codes)))
            signs[:, differing] = list(itertools.product((1, -1), repeat=n_differing))
            return signs
        signs = 1.0 - 2.0 * random_bits(codes, N_SIGNS, seed).T
        signs[0] = 1.0  # what was observed is one of them
        return signs


class Decision:
    """What is known in one of the sets of queries that are decided together. Rankings are numbers."""

    def __init__(self, parts, k, baselines, level, margin):
        self.part = parts[k]
        self.tests = self.part.tests
        self.baselines = baselines
        self.level = level
        self.margin = margin
        self.rankings = range(self.part.n)
        self.family = list(self.part.pairs)
        if baselines:
            candidates = sorted(set(self.rankings) - set(baselines))
            self.family = [(i, j) for i in candidates for j in baselines]
        self.n_tests = len(self.family) * len(parts)
        self.largest = np.max([part.nulls[pair] for part in parts for pair in self.family], axis=0)
        self.critical = quantile_of(self.largest, level)
        self.intervals = {}
        for i, j in self.family:
            low, high = self.intervals[i, j] = self.ends(i, j)
            self.intervals[j, i] = -high, -low

    # Pairs

    def p_value(self, i, j):
        return self.tests[i, j].tail(self.part.nulls[i, j])

    def p_adjusted(self, i, j):
        return self.tests[i, j].tail(self.largest) if (i, j) in self.intervals else math.nan

    def ends(self, i, j):
        own = self.tests[i, j]
        ends = [own.end(self.critical + TIED, side) for side in (-1, 1)]
        if own.least_p > self.level:  # wins and losses count, too
            ends[0] = min(ends[0], -self.most((own.d < 0).sum()))
            ends[1] = max(ends[1], self.most((own.d > 0).sum()))
        if own.out_of_fold is not None:
            error, n_degrees = own.out_of_fold
            half = error * student_isf(normal_sf(self.critical + TIED), n_degrees)
            ends = [min(ends[0], own.mean - half), max(ends[1], own.mean + half)]
        limit = self.part.span
        return tuple(float(np.clip(end * self.part.scale, -limit, limit)) for end in ends)

    def most(self, count):
        """Clopper and Pearson's upper bound of the share of so many units, times the largest difference."""
        others = max(self.part.n_effective - count, TIED)
        share = beta_ppf(1 - self.level / self.n_tests / 2, int(count) + 1, others)
        return share * self.part.span / self.part.scale

    def interval(self, i, j):
        return self.intervals.get((i, j), (math.nan, math.nan))

    def better(self, i, j):
        return i != j and self.intervals.get((i, j), (-1, 1))[0] > 0

    def difference(self, i, j):
        return self.tests[i, j].mean * self.part.scale if i != j else 0.0

    def verdict(self, i, j):
        """What the interval of a pair says, if a loss up to the margin does not matter."""
        low, high = self.intervals.get((i, j), (-math.inf, math.inf))
        if low > 0:
            return "better"
        passes = self.margin is not None and low > -self.margin
        if passes and self.margin < self.part.largest_loss:
            if high < 0:
                return "small loss"
            return "equivalent" if high < self.margin else "not worse"
        return "worse" if high < 0 else "undecided"

    def counted(self, i, j):
        """Numbers of queries that a ranking wins, ties and loses against another."""
        d = self.part.values[:, i] - self.part.values[:, j]
        wins = int((d > TINY * self.part.scale).sum())
        losses = int((d < -TINY * self.part.scale).sum())
        return wins, len(d) - wins - losses, losses

    # Rankings

    @functools.cached_property
    def best_set(self):
        return {i for i in self.rankings if not any(self.better(j, i) for j in self.rankings)}

    def regret(self, i):
        """The most that it, or one that is ahead or level, loses against one that may be the best."""
        losses = [0.0]
        for ahead in self.rankings:
            if self.difference(ahead, i) >= 0:
                losses += [self.intervals[j, ahead][1] for j in self.best_set - {ahead}]
        return max(losses)

    def is_highest(self, i):
        return all(self.difference(i, j) >= 0 for j in self.rankings)

    def status(self, i):
        if i in self.baselines:
            return "baseline"
        if self.baselines:
            verdicts = [self.verdict(i, j) for j in self.baselines]
            return min(verdicts, key=LEAST_FIRST.index)
        if i not in self.best_set:
            return "worse"
        if len(self.best_set) == 1:
            return "best"
        return "highest" if self.is_highest(i) else "may be as good"

    def gate(self, i):
        return {"worse": "do not ship", "undecided": "undecided"}.get(self.status(i), "ship")

    # Planning

    @property
    def least_units(self):
        """So many units must win for the smallest p-value to be small enough."""
        return next(n for n in itertools.count(1) if 2.0 ** (1 - n) <= self.level)

    def is_detected(self, i, j, difference, n, power):
        """Whether n units show a difference with this probability."""
        own = self.tests[i, j]
        scale = self.part.scale
        n_effective = self.part.n_effective
        variance = (own.error * scale) ** 2 * n_effective
        squares = variance + difference**2
        if self.part.step and self.part.n_units == self.part.n_queries:
            # Differences are 0 or the step, so their mean square is the share of queries that change.
            observed = variance + (own.mean * scale) ** 2
            squares = max(observed, difference * self.part.step)
            variance = squares - difference**2
        mean_mass = own.mass / len(own.masses)
        largest = np.abs(own.d).max() * scale / mean_mass
        noise = self.critical * math.sqrt(squares + largest**2 / (2 * n))
        noise += normal_isf(1 - power) * math.sqrt(max(variance, 0.0))
        if difference * math.sqrt(n) < noise:
            return False
        if own.out_of_fold is None:
            return True
        error, n_degrees = own.out_of_fold
        errors = student_isf(normal_sf(self.critical), n_degrees)
        errors += student_isf(1 - power, n_degrees)
        return difference >= errors * error * scale * math.sqrt(n_effective / n)

    def detectable(self, leaders):
        """Median over the open comparisons with the leader, or with the baseline that decides, else over all."""
        others = [i for i in self.rankings if i not in (self.baselines or leaders[:1])]
        compared = [(i, self.deciding(i) if self.baselines else leaders[0]) for i in others]
        still_open = [pair for pair in compared if self.p_adjusted(*pair) > self.level]
        found = []
        for i, j in still_open or compared:
            own = self.tests[i, j]
            if own.error and own.n_changed >= self.least_units:
                found.append(self.smallest_detected(i, j))
        known = [difference for difference in found if difference < self.part.span]
        return float(np.median(known)) if known else math.nan

    def smallest_detected(self, i, j):
        low = 0.0
        own = self.tests[i, j]
        largest = np.abs(own.d).max() * self.part.scale * len(own.d) / own.mass
        high = min(self.part.span, 1e3 * largest)  # larger ones are as good as unknown
        if not self.is_detected(i, j, high, self.part.n_effective, POWER):
            return math.inf
        for _ in range(60):
            middle = (low + high) / 2
            if self.is_detected(i, j, middle, self.part.n_effective, POWER):
                high = middle
            else:
                low = middle
        return high

    def deciding(self, i):
        """The baseline that says least in favour of a ranking; of several, the one with the smallest difference."""
        status = self.status(i)
        alike = [j for j in self.baselines if self.verdict(i, j) == status]
        return min(alike, key=lambda j: self.difference(i, j))

    def queries_needed(self, i, j, difference, power):
        """The number of queries, which is a whole number only after rounding up."""
        low = float(self.least_units)
        high = 1e12
        if self.is_detected(i, j, difference, low, power):
            high = low
        for _ in range(90):
            middle = (low + high) / 2
            if self.is_detected(i, j, difference, middle, power):
                high = middle
            else:
                low = middle
        return high * self.part.n_queries / self.part.n_effective

    def queries_to_decide(self, i, j):
        """The number of queries that would show that equal rankings differ by less than the margin, if it is known."""
        if not self.margin or self.margin >= self.part.span:
            return None
        own = self.tests[i, j]
        needed = 0
        if own.n_changed >= 30 and own.error > 0:
            needed = self.queries_needed(i, j, self.margin, POWER)
        if own.n_changed == 0 and math.isfinite(self.part.span):
            # So many units hold one that differs, unless they are fewer than a share of margin / span.
            level = self.level / 2 / self.n_tests
            units = math.log(level) / math.log(1 - self.margin / self.part.span)
            needed = units * self.part.n_queries / self.part.n_effective
        needed = math.ceil(needed - 1e-6)
        return needed if needed > self.part.n_queries else None

    # What to beware of

    def is_equal_claim(self, i, j):
        own = self.tests[i, j]
        return self.better(i, j) and own.error == 0 and (own.d > 0).all()

    def tails(self):
        """How much more the queries weigh on which the first of two rankings loses, by pair, if it is skewed."""
        found = {}
        pairs = self.family + [(j, i) for i, j in self.family]
        for i, j in pairs:
            own = self.tests[i, j]
            wins = own.mean_size(1)
            losses = own.mean_size(-1)
            is_few = (own.d < 0).sum() < (own.d > 0).sum()
            if own.skewness() <= -0.2 and is_few and wins and losses >= 2 * wins - TIED:
                found[i, j] = losses / wins
        return found

    def claims_something(self):
        if any(self.better(i, j) or self.better(j, i) for i, j in self.family):
            return True
        passes = ("small loss", "not worse", "equivalent")
        return any(self.status(i) in passes for i in self.rankings)


def decisions_of(
    values,
    *,
    larger_is_better,
    bounds,
    ids,
    plan,
    baselines=(),
    margin=None,
    weights=None,
    groups=None,
    by=None,
    folds=None,
):
    """Decisions by slice, and under ``None`` for all queries, and the queries that count of each.

    Values have one row per query and one column per ranking; NaN is an undefined one. Baselines are columns.
    """
    weights = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=float)
    used = (weights > 0) & ~np.isnan(values).any(axis=1)
    units = hash_ids(np.asarray(ids if groups is None else groups))
    sign = 1 if larger_is_better else -1
    ends = sorted(sign * end for end in bounds)
    level = round(1 - plan["confidence"], 12)

    def decided(sets):
        parts = []
        for queries in sets:
            own = sign * values[queries], weights[queries], units[queries]
            own_folds = None if folds is None else np.asarray(folds)[queries]
            one = PartTests(*own, own_folds, plan["random_state"], ends, enumerates=len(sets) == 1)
            parts.append(one)
        return [Decision(parts, k, baselines, level, margin) for k in range(len(parts))]

    found = {None: (decided([used])[0], used)}
    queries_of = {}
    for slice_ in [] if by is None else sorted(set(by)):
        queries = used & (np.asarray(by) == slice_)
        if queries.any():
            queries_of[slice_] = queries
    in_slices = decided(list(queries_of.values()))
    for (slice_, queries), decision in zip(queries_of.items(), in_slices, strict=True):
        found[slice_] = decision, queries
    return found
