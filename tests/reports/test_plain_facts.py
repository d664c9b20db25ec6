"""Every number of a report against loops over its queries: weights, groups, slices, averages and undefined values."""

import math

import numpy as np
import pytest
from scipy import stats

from skrank_metrics import evaluate, get_metric
from skrank_metrics.reports import RankingReport
from skrank_metrics.reports.ranking_report import with_queries

# Metrics by the range of their values.
BOUNDS = {
    "mrr": (0.0, 1.0),
    "hit_rate@1": (0.0, 1.0),
    "recall@2": (0.0, 1.0),
    "precision@2": (0.0, 1.0),
    "dcg": (0.0, math.inf),
}
POOLED = ("recall@2", "precision@2")
AVERAGES = ("macro", "macro", "micro", "median", "geometric")


# What the numbers are


def of_query(name, labels):
    """Numerator and denominator of a query, from its labels in ranked order."""
    ranks = [rank for rank, label in enumerate(labels, start=1) if label]
    found = sum(rank <= 2 for rank in ranks)
    if name == "precision@2":
        return (found if ranks else math.nan), 2
    if not ranks:
        return math.nan, 0 if name == "recall@2" else 1
    if name == "recall@2":
        return found, len(ranks)
    if name == "mrr":
        return 1 / ranks[0], 1
    if name == "hit_rate@1":
        return float(ranks[0] == 1), 1
    return sum(1 / math.log2(rank + 1) for rank in ranks), 1


class Units:
    """Values and weights of what is independent, without those that do not count."""

    def __init__(self, values, weights):
        pairs = zip(values, weights, strict=True)
        counted = [(value, weight) for value, weight in pairs if weight > 0 and value == value]
        self.values = np.array([value for value, _ in counted])
        self.weights = np.array([weight for _, weight in counted])

    def mean(self):
        if not len(self.values):
            return math.nan
        return np.average(self.values, weights=self.weights)

    def std(self):
        squares = (self.values - self.mean()) ** 2
        return Units(squares, self.weights).mean() ** 0.5

    def median(self):
        """The value at half of the weight; between two, if one ends there."""
        if not len(self.values):
            return math.nan
        order = np.argsort(self.values)
        half = self.weights.sum() / 2
        up_to = np.cumsum(self.weights[order])
        ends_before = up_to < half - 1e-9
        ends_by_then = up_to <= half + 1e-9
        first = self.values[order[ends_before.sum()]]
        second = self.values[order[ends_by_then.sum()]]
        return (first + second) / 2

    def geometric(self):
        logs = np.log(np.maximum(self.values, 1e-5))
        return math.exp(Units(logs, self.weights).mean())

    def of_groups(self, groups):
        """One unit for each group."""
        values = []
        weights = []
        for group in np.unique(groups):
            own = Units(self.values[groups == group], self.weights[groups == group])
            values.append(own.mean())
            weights.append(own.weights.sum())
        return Units(values, weights)

    def interval(self, bounds, confidence):
        """Student's t with Kish's number of units, and half an observation added at each of two bounds."""
        if len(self.values) < 2:
            return math.nan, math.nan
        low = min(bounds[0], self.values.min())
        high = max(bounds[1], self.values.max())
        mean = self.mean()
        shares = self.weights / self.weights.sum()
        n = 1 / (shares**2).sum()
        squares = n**2 * (shares**2 * (self.values - mean) ** 2).sum()
        if math.isinf(high):
            error = math.sqrt(squares / (n - 1) / n)
            if np.ptp(self.values) < 1e-12:
                return math.nan, math.nan
            half = stats.t.isf((1 - confidence) / 2, n - 1) * error
            return max(low, mean - half), mean + half
        # Agresti and Coull add more, if there is nothing but the bounds.
        at_bounds = np.isclose(self.values, low) | np.isclose(self.values, high)
        z = stats.norm.isf((1 - confidence) / 2)
        added = z**2 if at_bounds.all() else 1.0
        middle = (n * mean + added * (low + high) / 2) / (n + added)
        squares += n * (mean - middle) ** 2
        squares += added / 2 * ((low - middle) ** 2 + (high - middle) ** 2)
        divisor = n + added if at_bounds.all() else n
        error = math.sqrt(squares / divisor / (n + added))
        factor = z if at_bounds.all() else stats.t.isf((1 - confidence) / 2, n)
        return max(low, middle - factor * error), min(high, middle + factor * error)


def expected_facts(case, name, rows, confidence):
    """All facts of some of the queries."""
    average = case["average"][name]
    undefined = case["undefined"][name]
    parts = [of_query(name, case["labels"][row]) for row in rows]
    values = np.array([top / size if size else math.nan for top, size in parts])
    n_undefined = np.isnan(values).sum()
    values[np.isnan(values)] = undefined
    weights = case["weights"][rows]
    own = units = Units(values, weights)
    pooled_weights = weights * [size for _, size in parts]
    if average == "micro":
        units = Units(values, pooled_weights)
        weights = pooled_weights
    means = {"median": own.median, "geometric": own.geometric}
    mean = means.get(average, units.mean)()
    # Queries count, but have nothing to pool.
    if average == "micro" and not pooled_weights.any() and case["weights"][rows].any():
        mean = undefined
    if case["groups"] is not None:
        counted = (weights > 0) & ~np.isnan(values)
        units = units.of_groups(case["groups"][rows][counted])
    low, high = units.interval(BOUNDS[name], confidence)
    if average in means:
        low = high = math.nan
    return {
        "mean": mean,
        "low": low,
        "high": high,
        "std": own.std(),
        "median": own.median(),
        "n_undefined": n_undefined,
    }


# Random reports


def random_case(random):
    n = int(random.integers(1, 20))
    names = random.permutation(list(BOUNDS))[: random.integers(1, 4)].tolist()
    share = random.choice([0.1, 0.3, 0.7])
    sizes = random.integers(1, 6, n)
    weights = np.ones(n)
    is_weighted = random.random() < 0.6
    if is_weighted:
        weights = random.choice([0.0, 0.5, 1.0, 1.0, 3.0, 7.25], n)
        weights[random.integers(n)] = 2.0
    averages = {}
    for name in names:
        allowed = [one for one in AVERAGES if one != "micro" or name in POOLED]
        averages[name] = str(random.choice(allowed))
    return {
        "labels": [(random.random(size) < share).astype(int) for size in sizes],
        "weights": weights,
        "is_weighted": is_weighted,
        "groups": random.integers(0, max(2, n // 2), n) if random.random() < 0.5 else None,
        "by": random.choice(["x", "y", "z"], n) if random.random() < 0.5 else None,
        "average": averages,
        "undefined": {name: float(random.choice([0.0, math.nan, -1.0])) for name in names},
    }


def metrics_of(case):
    metrics = {}
    for name, average in case["average"].items():
        undefined = case["undefined"][name]
        metrics[name] = get_metric(name, average=average, replace_undefined_by=undefined)
    return metrics


def from_rows(case, random):
    """The report of documents in any order."""
    sizes = [len(labels) for labels in case["labels"]]
    qid = np.repeat(np.arange(len(sizes)), sizes)
    columns = {
        "y_true": np.concatenate(case["labels"]),
        "y_score": np.concatenate([-np.arange(size) for size in sizes]),
        "qid": qid,
    }
    columns |= {name: column[qid] for name, column in columns_of(case, "sample_weight", "groups")}
    rows = random.permutation(len(qid))
    shuffled = {name: column[rows] for name, column in columns.items()}
    return evaluate(**shuffled, metrics=metrics_of(case))


def from_values(case, random):
    """The report of a frame of values."""
    n = len(case["labels"])
    columns = {"qid": np.arange(n)}
    columns |= dict(columns_of(case, "weight", "group"))
    for name in case["average"]:
        parts = [of_query(name, labels) for labels in case["labels"]]
        columns[name] = np.array([top / size if size else math.nan for top, size in parts])
    rows = random.permutation(n)
    shuffled = {name: column[rows] for name, column in columns.items()}
    return RankingReport.from_frame(shuffled, metrics=metrics_of(case))


def columns_of(case, weight, group):
    """The optional columns of queries by these names."""
    given = {weight: case["weights"] if case["is_weighted"] else None}
    given |= {group: case["groups"], "by": case["by"]}
    return [(name, column) for name, column in given.items() if column is not None]


def check_part(found, expected):
    for name, number in expected.items():
        assert found[name] == pytest.approx(number, rel=1e-9, abs=1e-9, nan_ok=True), name


def check_report(report, case):
    """The frame of means, both dicts, and what the report itself says."""
    rows_of = {"all": np.arange(len(case["labels"]))}
    parts = {"all": report} | report.slices
    if case["by"] is not None:
        rows_of |= {str(one): np.flatnonzero(case["by"] == one) for one in np.unique(case["by"])}
    assert parts.keys() == rows_of.keys()
    nested = report.to_dict()
    flat = report.to_dict(flat=True)
    frame = report.to_frame("means")
    assert len(frame) == len(parts) * len(case["average"])
    for line in frame.to_dict("records"):
        name = line["metric"]
        where = line.get("slice", "all")
        rows = rows_of[where]
        part = parts[where]
        assert line["n_queries"] == part.n_queries == len(rows)
        expected = expected_facts(case, name, rows, 0.95)
        check_part(line, expected)
        check_attributes(part, name, expected)
        narrow = expected_facts(case, name, rows, 0.7)
        ends = narrow["low"], narrow["high"]
        assert part.intervals(0.7)[name] == pytest.approx(ends, nan_ok=True)
        own = nested[name] if where == "all" else nested[name]["slices"][where]
        in_dict = {one: number for one, number in own.items() if one in expected}
        if math.isnan(expected["low"]):
            del expected["low"], expected["high"]
        assert in_dict.keys() == expected.keys()
        check_part(in_dict, expected)
        key = name.replace("@", "_at_")
        end = "" if where == "all" else f"_slice_{where}"
        for one, number in in_dict.items():
            flat_name = f"{key}_{one}".removesuffix("_mean")
            assert flat.pop(flat_name + end) == pytest.approx(number, nan_ok=True)
    assert not flat


def check_attributes(part, name, expected):
    for one in ("mean", "std", "n_undefined"):
        by_metric = getattr(part, one)
        assert by_metric[name] == pytest.approx(expected[one], abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("seed", range(60))
def test_facts_are_those_of_loops(seed, tmp_path):
    random = np.random.default_rng(seed)
    case = random_case(random)
    is_pooled = "micro" in case["average"].values()
    make = from_rows if is_pooled or random.random() < 0.5 else from_values
    report = make(case, random)
    if random.random() < 0.3:
        folds = random.integers(0, 3, report.n_queries)
        report = with_queries(report, folds=folds)
    if random.random() < 0.5:
        report.save(tmp_path / "report.json")
        report = RankingReport.load(tmp_path / "report.json")
    check_report(report, case)
