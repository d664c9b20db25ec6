"""Every number of queries that a verdict prints, and the difference that can be shown, as the reference plans them."""

import math
import re

import numpy as np
import pytest
from support.decisions import decisions_of, joint_decision

from skrank_metrics import compare
from skrank_metrics.reports import RankingReport

# Metrics by their bounds and whether larger is better.
METRICS = {
    "mrr": ((0.0, 1.0), True),
    "kendall_tau": ((-1.0, 1.0), True),
    "fall_out": ((0.0, 1.0), False),
    "dcg": ((0.0, math.inf), True),
}


def planned(decision, i, j, margin):
    """The number of queries that would show that a ranking is not worse; None if it is not known, or not larger."""
    part = decision.part
    n_queries = len(part.values)
    if not margin or margin >= part.span:
        return None
    pair = part.tests[i, j]
    wins, _, losses = decision.counted(i, j)
    needed = 0
    if wins + losses >= 30 and pair.error > 0:
        needed = decision.queries_needed(i, j, margin, 0.8)
    if wins + losses == 0 and math.isfinite(part.span):
        # So many queries hold one that differs, unless they are fewer than a share of margin / span.
        level = decision.level / 2 / decision.family.n_tests
        units = math.log(level) / math.log(1 - margin / part.span)
        needed = units * n_queries / pair.n_effective
    needed = math.ceil(needed - 1e-9)
    return needed if needed > n_queries else None


def planned_of_metric(decision, undecided, margin):
    """The number that holds for all rankings that are undecided; None without one."""
    baselines = decision.family.baselines
    pairs = [(i, j) for i in undecided for j in baselines]
    open_pairs = [pair for pair in pairs if decision.verdict(*pair, margin) == "undecided"]
    needed = [planned(decision, *pair, margin) for pair in open_pairs]
    return None if None in needed else max(needed)


def expected_numbers(decisions, margin):
    """The numbers of queries and the largest losses that are printed, metric by metric."""
    first = next(iter(decisions.values()))
    undecided = []
    for i in set(first.rankings) - set(first.family.baselines):
        by_metric = [own.decision(i, margin) for own in decisions.values()]
        if joint_decision(by_metric) == "undecided":
            undecided.append(i)
    queries = []
    losses = []
    for own in decisions.values():
        names = [i for i in undecided if own.verdict_beside_baselines(i, margin) == "undecided"]
        if names and own.part.largest_loss <= margin:
            losses.append(own.part.largest_loss)
        elif names:
            queries.append(planned_of_metric(own, names, margin))
    return [number for number in queries if number is not None], losses


def random_values(random, n, m):
    """Rankings of which many differ little, and some not at all."""
    noisiness = random.choice([0.0, 0.02, 0.2], m)
    noise = noisiness * random.normal(0, 1, (n, m))
    base = random.choice([0.5, 1.0]) * random.random((n, 1))
    is_changed = random.random((n, m)) < random.choice([0.1, 0.6, 1.0])
    return np.clip(base + noise * is_changed, 0.0, 1.0)


def random_decisions(random):
    """A comparison, and what the reference decides by metric."""
    n = int(random.choice([12, 40, 70, 120]))
    m = int(random.integers(2, 6))
    names = random.choice(list(METRICS), random.integers(1, 3), replace=False).tolist()
    queries = {"qid": np.arange(n)}
    if random.random() < 0.5:
        queries["weight"] = random.choice([0.0, 1.0, 1.0, 2.0, 5.0], n)
    if random.random() < 0.3:
        queries["group"] = random.integers(0, n // 2, n)
    baselines = random.permutation(m)[: random.integers(1, max(2, m - 1))].tolist()
    options = {
        "baseline": [f"m{i}" for i in baselines],
        "margin": float(random.choice([0.0, 0.005, 0.02, 0.1, 0.9])),
        "correction": [None, "max", "holm"][random.integers(3)],
        "confidence": float(random.choice([0.8, 0.95, 0.99])),
        "test": str(random.choice(["t", "permutation"])),
        "random_state": 0,
    }
    values = {name: random_values(random, n, m) for name in names}
    reports = {}
    for i in range(m):
        columns = queries | {name: own[:, i] for name, own in values.items()}
        reports[f"m{i}"] = RankingReport.from_frame(columns, metrics=names)
    decisions = {}
    for name, own in values.items():
        bounds, larger = METRICS[name]
        found = decisions_of(
            own,
            larger_is_better=larger,
            bounds=bounds,
            ids=queries["qid"],
            plan=options,
            baselines=baselines,
            weights=queries.get("weight"),
            groups=queries.get("group"),
        )
        decisions[name] = found[None][0]
    return compare(reports, **options), decisions


def printed(pattern, text):
    """The numbers in all sentences of a kind."""
    flowing = " ".join(text.split())
    return [float(number.replace(",", "")) for number in re.findall(pattern, flowing)]


@pytest.mark.parametrize("seed", range(40))
def test_printed_numbers_are_those_of_the_reference(seed):
    comparison, decisions = random_decisions(np.random.default_rng(seed))
    queries, losses = expected_numbers(decisions, comparison.plan.margin)
    for text in (comparison.verdict, str(comparison)):
        found = printed(r"about ([\d,]+) queries would", text)
        assert found == pytest.approx(queries, rel=1e-6, abs=1)
        found = printed(r"no query can lose more than ([\d.]+\d)", text)
        assert found == pytest.approx(losses, rel=1e-3)
    first = next(iter(decisions.values()))
    n_queries = len(first.part.values)
    shown = printed(rf"{n_queries} queries can show differences of ([\d.]+) or", str(comparison))
    largest = first.detectable(first.family.baselines[0])
    is_said = len(first.best_set) > 1 and not math.isnan(largest)
    expected = [largest] if is_said else []
    assert shown == pytest.approx(expected, rel=0.05)
