"""Everything that a comparison says, once more: from values per query, by definitions alone, slowly.

Pairs are dealt with one by one, and every distribution of random signs is kept. Larger values are better in here;
``Reference`` turns values around for metrics of which smaller ones are.

From the package come only the hash of ids and the random bits that belong to it: they are definitions, too.
"""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
from scipy import stats

from skrank_metrics.decisions.signs import hash_units, random_bits

N_SIGNS = 10_000
# Up to this many units that differ, every combination of signs is used.
MOST_ENUMERATED = 13
ALMOST_EQUAL = 1e-12
# Statistics are equal if they differ by less.
TIED = 1e-9
SMALLEST = float(np.finfo(np.float64).tiny)
POWER = 0.8


# Quantiles and tails take long in SciPy, and the same ones are asked for again and again.
normal_isf = functools.lru_cache(10_000)(stats.norm.isf)
normal_sf = functools.lru_cache(10_000)(stats.norm.sf)
student_isf = functools.lru_cache(10_000)(stats.t.isf)
student_sf = functools.lru_cache(10_000)(stats.t.sf)
beta_ppf = functools.lru_cache(10_000)(stats.beta.ppf)


# One pair


class PairTest:
    """The test of one ranking minus another, from the weighted differences of units and their masses."""

    def __init__(self, d, masses, plan, span):
        self.d = d
        self.masses = masses
        self.test = plan["test"]
        self.span = span
        self.level = round(1 - plan["confidence"], 12)
        self.mass = masses.sum()
        self.n_effective = self.mass**2 / (masses**2).sum()
        self.total = d.sum()
        if abs(self.total) <= 1e-14 * np.abs(d).sum():
            self.total = 0.0
        self.mean = self.total / self.mass
        self.n_changed = int((d != 0).sum())
        self.least_p = min(1.0, 2.0 ** (1 - self.n_changed))
        self.error = self.standard_error()
        self.by_student = self.test == "t" and not (self.error == 0 and self.total != 0)
        self.z = self.statistic()
        self.out_of_fold = None  # standard error and degrees of freedom
        self.largest_null = None  # that is not significant

    def standard_error(self):
        return ratio_error(self.d, self.masses)

    def set_fold_error(self, error, n_degrees):
        """Out of fold, the statistic is at most that of a t-test with another standard error."""
        self.out_of_fold = error, n_degrees
        tail = student_sf(abs(self.mean) / error, n_degrees)
        self.z = min(self.z, 38.0, float(normal_isf(tail)))

    def largest_error(self):
        if self.out_of_fold is None:
            return self.error
        return max(self.error, self.out_of_fold[0])

    def statistic(self):
        if self.test == "permutation":
            norm = math.sqrt((self.d**2).sum() + np.abs(self.d).max() ** 2 / 2)
            return abs(self.total) / norm if norm else 0.0
        if self.total == 0:
            return 0.0
        if self.error == 0:  # the signs alone decide
            return min(38.0, float(normal_isf(self.least_p / 2)))
        tail = student_sf(abs(self.mean) / self.error, max(self.n_effective - 1, 1e-9))
        return min(38.0, float(normal_isf(tail)))

    def null(self, signs):
        """What the statistic would be with these signs."""
        if self.test == "permutation":
            totals = signs @ self.d
            norm = math.sqrt((self.d**2).sum())
        else:
            totals = signs @ (self.d - self.masses * self.mean)
            norm = self.error * self.mass * math.sqrt(1 - 1 / self.n_effective)
        return np.abs(totals) / norm if norm else np.zeros(len(signs))

    def p_value(self, null):
        if self.test == "t":
            return float(2 * normal_sf(self.z))
        return max(float(np.mean(null >= self.z - TIED)), self.least_p)

    def critical(self, null):
        """The largest value at which the test does not reject."""
        if self.largest_null is None:
            self.largest_null = quantile_of(null, self.level)
        return normal_isf(self.level / 2) if self.test == "t" else self.largest_null

    def interval(self, critical, n_tests=1):
        """All shifts that the test does not reject, (nan, nan) if nothing is known."""
        c = critical + TIED
        if self.by_student and self.error > 0:
            half = self.error * student_isf(normal_sf(c), max(self.n_effective - 1, 1e-9))
            low = self.mean - half
            high = self.mean + half
        else:
            low, high = self.by_flips(c, n_tests)
        if self.out_of_fold is not None:
            error, n_degrees = self.out_of_fold
            half = error * student_isf(normal_sf(c), n_degrees)
            low = np.minimum(low, self.mean - half)
            high = np.maximum(high, self.mean + half)
        # The one ahead has at least as much to win as to lose.
        if self.total >= 0:
            high = max(high, -low)
        if self.total <= 0:
            low = min(low, -high)
        return max(low, -self.span), min(high, self.span)

    def by_flips(self, c, n_tests):
        # |A - x W| <= c sqrt(Q2 - 2 x Q1 + x^2 Q0 + L^2 / 2) as a quadratic inequality in x.
        half_largest = np.abs(self.d).max() ** 2 / 2
        squares = (self.d**2).sum()
        cross = self.masses @ self.d
        square_mass = (self.masses**2).sum()
        leading = self.mass**2 - c**2 * square_mass
        if leading <= 0 or self.least_p > self.level:
            return self.by_counts(self.level / n_tests)
        middle = (self.total * self.mass - c**2 * cross) / leading
        product = (self.total**2 - c**2 * (squares + half_largest)) / leading
        half = math.sqrt(max(middle**2 - product, 0.0))
        return middle - half, middle + half

    def by_counts(self, level):
        """Bounds by Clopper and Pearson on the shares of units that lose and that win, times the largest difference."""
        if math.isinf(self.span):
            return math.nan, math.nan
        n_lost = int((self.d < 0).sum())
        n_won = int((self.d > 0).sum())
        return -self.span * self.most(n_lost, level), self.span * self.most(n_won, level)

    def most(self, count, level):
        """The upper bound of the share of so many units."""
        others = max(self.n_effective - count, 1e-9)
        return beta_ppf(1 - level / 2, count + 1, others)


def ratio_error(sums, masses):
    """Standard error of the ratio of sums to their masses; 0 if all differences are equal."""
    n_effective = masses.sum() ** 2 / (masses**2).sum()
    residuals = sums - masses * sums.sum() / masses.sum()
    squares = (residuals**2).sum()
    if squares <= ALMOST_EQUAL**2 * (sums**2).sum() or n_effective <= 1 + ALMOST_EQUAL:
        return 0.0
    return math.sqrt(squares * n_effective / (n_effective - 1)) / masses.sum()


def quantile_of(null, level):
    """The smallest value of the distribution that at most a share ``level`` of it exceeds."""
    ascending = np.sort(null)
    return float(ascending[len(null) - 1 - math.floor(level * len(null) + 1e-9)])


def excluding_zero(ends, *, rejected, ahead):
    """The same interval, which excludes 0 exactly if the test rejects."""
    low, high = ends
    if math.isnan(low) or math.isnan(high):
        if not rejected:
            return math.nan, math.nan
        low = -math.inf
        high = math.inf
    if not rejected:
        return min(low, 0.0), max(high, 0.0)
    return (max(low, SMALLEST), high) if ahead else (low, min(high, -SMALLEST))


# One set of queries


class PartTests:
    """The tests of all pairs in one set of queries; rankings are columns of values of which larger ones are better."""

    def __init__(self, values, weights, units, folds, plan, bounds, *, enumerates):
        worst, best = bounds
        lowest = min(worst, values.min())
        self.largest_loss = values.max() - lowest
        spans = [np.ptp(row) for row in values]
        self.span = max(best - worst, *spans)
        self.values = np.array([without_rounding(row) for row in values])
        self.n = values.shape[1]
        self.weights = weights / weights.max()
        codes = sorted(set(units.tolist()))
        members = [units == code for code in codes]
        masses = np.array([self.weights[own].sum() for own in members])
        self.tests = {}
        for i, j in itertools.permutations(range(self.n), 2):
            d = self.sums(i, j, members)
            d[np.abs(d) <= 1e-14] = 0.0
            self.tests[i, j] = PairTest(d, masses, plan, self.span)
        if folds is not None and len(set(folds.tolist())) > 1:
            self.set_fold_errors(folds)
        signs = self.signs(np.array(codes, dtype=np.uint64), masses, plan, enumerates=enumerates)
        self.nulls = {pair: self.tests[pair].null(signs) for pair in self.pairs()}
        self.nulls |= {(j, i): null for (i, j), null in self.nulls.items()}

    def pairs(self):
        return list(itertools.combinations(range(self.n), 2))

    def sums(self, i, j, members):
        """Weighted differences of two rankings, added up in each set of queries."""
        each = self.weights * (self.values[:, i] - self.values[:, j])
        return np.array([each[own].sum() for own in members])

    def set_fold_errors(self, folds):
        """Variances over queries and over fits, which is pooled, as skrank_metrics/decisions/fold_error.py says."""
        members = [folds == fold for fold in sorted(set(folds.tolist()))]
        masses = np.array([self.weights[own].sum() for own in members])
        of_queries = {pair: self.tests[pair].error ** 2 for pair in self.pairs()}
        of_folds = {}
        for i, j in self.pairs():
            sums = self.sums(i, j, members)
            of_folds[i, j] = ratio_error(sums, masses) ** 2
        n_folds = len(members)
        shared = (self.n - 2) / (self.n - 1) / (n_folds - 1)
        factor = 1 + n_folds * shared
        n_degrees = self.degrees_of_fits(masses)
        mean_of_queries = np.mean(list(of_queries.values()))
        mean_of_folds = np.mean(list(of_folds.values()))
        for i, j in self.pairs():
            own = self.tests[i, j]
            q = factor * of_queries[i, j]
            pooled = factor * (of_folds[i, j] + mean_of_folds) / 2
            expected = factor * (of_queries[i, j] + mean_of_queries) / 2
            n_queries = max(own.n_effective - 1, ALMOST_EQUAL)
            fits = 0.0
            uncertainty = q**2 / n_queries
            if pooled > expected * (1 + ALMOST_EQUAL):
                fits = pooled - expected
                uncertainty += pooled**2 / n_degrees
            variance = q + fits
            if not own.n_changed or variance <= of_queries[i, j]:
                continue
            error = math.sqrt(variance)
            degrees = variance**2 / uncertainty
            own.set_fold_error(error, degrees)
            self.tests[j, i].set_fold_error(error, degrees)

    def degrees_of_fits(self, masses):
        """Degrees of freedom of a pooled variance over folds: half is of one pair, half of all."""
        n_effective = masses.sum() ** 2 / (masses**2).sum()
        n_degrees = max(n_effective - 1, ALMOST_EQUAL)
        if self.n == 2:
            return n_degrees
        of_pair = (1 + 1 / (self.n - 1)) / 2
        of_others = 1 - of_pair
        return n_degrees / (of_pair**2 + of_others**2 / (self.n - 2))

    def signs(self, codes, masses, plan, *, enumerates):
        """All combinations of signs if few units differ, else the random ones of the units."""
        differing = np.zeros(len(codes), dtype=bool)
        for own in self.tests.values():
            what = own.d if plan["test"] == "permutation" else own.d - masses * own.mean
            differing |= np.abs(what) > 1e-13
        if enumerates and differing.sum() <= MOST_ENUMERATED:
            signs = np.ones((2 ** differing.sum(), len(codes)))
            n_differing = int(differing.sum())
            signs[:, differing] = list(itertools.product((1, -1), repeat=n_differing))
            return signs
        signs = 1.0 - 2.0 * random_bits(codes, N_SIGNS, plan["random_state"]).T
        signs[0] = 1.0  # what was observed is one of them
        return signs

    def p_value(self, i, j):
        return self.tests[i, j].p_value(self.nulls[i, j])

    def ahead(self, i, j):
        return self.tests[i, j].total > 0

    def own_interval(self, i, j):
        own = self.tests[i, j]
        return own.interval(own.critical(self.nulls[i, j]))


def without_rounding(values):
    """Values with those that differ by rounding only made equal, to the smallest of them."""
    found = list(values)
    for place in np.argsort(values, kind="stable"):
        value = values[place]
        below = [(values[i], found[i]) for i in range(len(values)) if values[i] < value]
        if not below:
            continue
        nearest, its_value = max(below)
        largest = max(abs(nearest), abs(value))
        if value - nearest <= ALMOST_EQUAL * largest:
            found[place] = its_value
    return found


# Families


def corrected(parts, pairs, plan):
    """Adjusted p-values by part and pair."""
    alone = {(k, pair): part.p_value(*pair) for k, part in enumerate(parts) for pair in pairs}
    correction = plan["correction"]
    if correction is None or len(alone) == 1:
        return alone
    if correction == "holm":
        return holm(alone)
    if correction == "bh":
        adjusted = stats.false_discovery_control(list(alone.values()))
        return dict(zip(alone, np.minimum(adjusted, 1.0).tolist(), strict=True))
    z = {(k, pair): parts[k].tests[pair].z - TIED for k, pair in alone}
    nulls = {(k, pair): parts[k].nulls[pair] for k, pair in alone}
    if len(parts) > 1:
        largest = np.max(list(nulls.values()), axis=0)
        return {key: max(alone[key], float(np.mean(largest >= z[key]))) for key in alone}
    return {key: max(alone[key], p) for key, p in step_down(z, nulls).items()}


def step_down(z, nulls):
    """Each against the largest of those whose statistic is not larger, and at least the p-values of those before."""
    found = {}
    before = 0.0
    left = sorted(z, key=lambda key: -z[key])
    while left:
        # Statistics that are equal but for rounding are rejected together.
        tied = [key for key in left if z[key] > z[left[0]] - TIED]
        largest = np.max([nulls[key] for key in left], axis=0)
        before = max(before, float(np.mean(largest >= z[left[0]])))
        found |= dict.fromkeys(tied, before)
        left = left[len(tied) :]
    return found


def holm(p_values):
    found = {}
    before = 0.0
    for n_rejected, key in enumerate(sorted(p_values, key=p_values.get)):
        before = max(before, p_values[key] * (len(p_values) - n_rejected))
        found[key] = min(1.0, before)
    return found


def made_transitive(p_values, order):
    """Raise p-values of pairs until one along a chain of two, best first, is never below both of its links."""
    while True:
        raised = dict(p_values)
        for a, b, c in itertools.combinations(order, 3):
            first = p_values[a, b]
            second = p_values[b, c]
            both = p_values[a, c]
            if both <= max(first, second):
                continue
            if first >= second:
                raised[a, b] = max(raised[a, b], both)
            if second >= first:
                raised[b, c] = max(raised[b, c], both)
        if raised == p_values:
            return raised
        p_values = raised


class Family:
    """All pairs, or those with baselines, in all queries or in all slices."""

    def __init__(self, parts, baselines, plan):
        self.parts = parts
        self.baselines = baselines
        self.plan = plan
        self.level = round(1 - plan["confidence"], 12)
        self.pairs = parts[0].pairs()
        if baselines:
            candidates = sorted(set(range(parts[0].n)) - set(baselines))
            self.pairs = [(i, j) for i in candidates for j in baselines]
        self.n_tests = len(self.pairs) * len(parts)
        nulls = [part.nulls[pair] for part in parts for pair in self.pairs]
        self.critical = quantile_of(np.max(nulls, axis=0), self.level)
        if plan["correction"] is None or self.n_tests == 1:
            tests = [part.tests[pair] for part in parts for pair in self.pairs]
            self.critical = max(own.critical(null) for own, null in zip(tests, nulls, strict=True))
        adjusted = corrected(parts, self.pairs, plan)
        self.p_adjusted = []
        for k, part in enumerate(parts):
            # By pairs of which the first is ahead; of equal ones, the order does not matter.
            order = best_first(part)
            of_part = {}
            for i, j in itertools.combinations(order, 2):
                reversed_pair = adjusted.get((k, (j, i)))
                of_part[i, j] = adjusted.get((k, (i, j)), reversed_pair)
            if not baselines:
                of_part = made_transitive(of_part, order)
            of_reversed = {(j, i): p for (i, j), p in of_part.items()}
            self.p_adjusted.append(of_part | of_reversed)

    def simultaneous(self, k, i, j, p):
        """Interval that holds together with those of all other pairs."""
        part, pair = self.parts[k], self.parts[k].tests[i, j]
        low, high = part.own_interval(i, j)
        if self.plan["correction"] is not None and self.n_tests > 1:
            critical = max(self.critical, pair.critical(part.nulls[i, j]))
            lowest, highest = pair.interval(critical, self.n_tests)
            # NaN, if one of them is.
            low = float(np.minimum(low, lowest))
            high = float(np.maximum(high, highest))
        return excluding_zero((low, high), rejected=p <= self.level, ahead=part.ahead(i, j))


def part_total(part, i):
    """Sum of a ranking minus the first one, up to rounding."""
    return 0.0 if i == 0 else part.tests[i, 0].total


def best_first(part):
    return sorted(range(part.n), key=lambda i: -part_total(part, i))


# What is said


class Decision:
    """What is known in one set of queries. Rankings are numbers."""

    def __init__(self, whole, based, k):
        """``whole`` is the family of all pairs, ``based`` that with baselines, or the same without."""
        self.family = based
        self.whole = whole
        self.k = k
        self.part = whole.parts[k]
        self.level = whole.level
        self.rankings = range(self.part.n)
        self.decided = dict(whole.p_adjusted[k])
        if based.baselines:
            self.decide_by_baselines()
        self.better = {
            (i, j): self.decided[i, j] <= self.level and self.part.ahead(i, j)
            for i, j in itertools.permutations(self.rankings, 2)
        }
        self.best_set = {
            i for i in self.rankings if not any(self.better[j, i] for j in self.rankings if j != i)
        }

    def decide_by_baselines(self):
        """Smaller p-values of pairs with baselines count, and what follows from chains of rankings."""
        for pair, p in self.family.p_adjusted[self.k].items():
            if p is not None:
                self.decided[pair] = min(self.decided[pair], p)
        order = best_first(self.part)
        before = None
        while before != self.decided:
            before = dict(self.decided)
            for a, b, c in itertools.combinations(order, 3):
                chain = max(self.decided[a, b], self.decided[b, c])
                smallest = min(self.decided[a, c], chain)
                self.decided[a, c] = self.decided[c, a] = smallest

    def p_adjusted(self, i, j):
        p = self.family.p_adjusted[self.k].get((i, j))
        return math.nan if p is None else p

    def interval(self, i, j):
        ends = self.part.own_interval(i, j)
        rejected = self.part.p_value(i, j) <= self.level
        return excluding_zero(ends, rejected=rejected, ahead=self.part.ahead(i, j))

    def simultaneous(self, i, j):
        p = self.p_adjusted(i, j)
        return (math.nan, math.nan) if math.isnan(p) else self.family.simultaneous(self.k, i, j, p)

    def verdict(self, i, j, margin):
        """What the simultaneous interval of a pair says, if a loss up to the margin does not matter."""
        low, high = self.simultaneous(i, j)
        if low > 0:
            return "better"
        if margin is not None and low > -margin and self.part.largest_loss > margin:
            return "not worse"
        return "worse" if high < 0 else "undecided"

    def verdict_beside_baselines(self, i, margin):
        """Better than all, at least not worse than any, worse than one, or neither."""
        verdicts = {self.verdict(i, j, margin) for j in self.family.baselines}
        if "worse" in verdicts:
            return "worse"
        if "undecided" in verdicts:
            return "undecided"
        return "better" if verdicts == {"better"} else "not worse"

    def decision(self, i, margin):
        """Whether these queries let a ranking pass."""
        if not self.family.baselines:
            passes = self.regret(i) <= margin < self.part.largest_loss
            return "ship" if passes else "undecided"
        verdict = self.verdict_beside_baselines(i, margin)
        return {"worse": "do not ship", "undecided": "undecided"}.get(verdict, "ship")

    def counted(self, i, j):
        """Numbers of queries that a ranking wins, ties and loses against another."""
        values = self.part.values
        d = values[:, i] - values[:, j]
        return int((d > 0).sum()), int((d == 0).sum()), int((d < 0).sum())

    def regret(self, i):
        """The most that a ranking loses against one that may be the best."""
        if self.best_set == {i}:
            return 0.0
        losses = [SMALLEST]
        for j in self.best_set - {i}:
            low, _ = self.whole.simultaneous(self.k, i, j, self.decided[i, j])
            losses.append(math.inf if math.isnan(low) else -low)
        return max(losses)

    def detectable(self, leader):
        """Median over the others of the difference to the leader, or baselines, that is detected with a power of .8.

        Pairs of which so few units differ that the test cannot reject do not count.
        """
        compared = self.family.baselines or [leader]
        others = set(self.rankings) - set(compared)
        tests = [self.part.tests[i, j] for i in compared for j in others]
        # Student's t can reject for any number of units whose differences are not equal.
        errors = [
            own.largest_error()
            for own in tests
            if own.least_p <= self.level or (own.test == "t" and own.error > 0)
        ]
        errors = [error for error in errors if error > 0]
        if not errors:
            return math.nan
        factor = self.family.critical + normal_isf(1 - POWER)
        return factor * float(np.median(errors))

    def queries_needed(self, i, j, difference, power):
        """First the number of units of equal weight, on which the statistic itself depends."""
        pair = self.part.tests[i, j]
        values = self.part.values
        spread = pair.error * math.sqrt(pair.n_effective)
        effect = difference / spread
        largest = np.abs(values[:, i] - values[:, j]).max() / spread
        z_of_power = normal_isf(1 - power)
        needed = 6.0
        for _ in range(100):
            norm = math.sqrt(1 + effect**2 + largest**2 / (2 * needed))
            noise = self.family.critical * norm
            needed = max(6.0, (noise + z_of_power) ** 2 / effect**2)
        return needed * len(values) / pair.n_effective


# From what compare gets


def joint_decision(decisions):
    """One decision from those by each metric, or of the rankings beside a baseline."""
    for one in ("do not ship", "undecided"):
        if one in decisions:
            return one
    return "ship"


def decisions_of(
    values,
    *,
    larger_is_better,
    bounds,
    ids,
    plan,
    baselines=(),
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
    units = hash_units(np.asarray(ids if groups is None else groups))
    sign = 1 if larger_is_better else -1
    ends = sorted(sign * end for end in bounds)

    def part(queries, *, enumerates):
        own = sign * values[queries], weights[queries], units[queries]
        own_folds = None if folds is None else np.asarray(folds)[queries]
        return PartTests(*own, own_folds, plan, ends, enumerates=enumerates)

    def decided(parts):
        whole = Family(parts, (), plan)
        based = Family(parts, baselines, plan) if baselines else whole
        return [Decision(whole, based, k) for k in range(len(parts))]

    found = {None: (decided([part(used, enumerates=True)])[0], used)}
    queries_of = {}
    for slice_ in [] if by is None else sorted(set(by)):
        queries = used & (np.asarray(by) == slice_)
        if queries.any():
            queries_of[slice_] = queries
    parts = [part(queries, enumerates=False) for queries in queries_of.values()]
    in_slices = decided(parts) if parts else []
    for (slice_, queries), decision in zip(queries_of.items(), in_slices, strict=True):
        found[slice_] = decision, queries
    return found
