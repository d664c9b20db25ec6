"""Random comparisons with every option crossed: they say what the reference says, and never contradict themselves."""

import itertools
import math
import re
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from support.decisions import decisions_of, joint_decision

from skrank_metrics import compare, get_metric, kendall_tau_distance
from skrank_metrics.decisions.plan import Plan
from skrank_metrics.reports import RankingReport

# Metrics by what they are to a comparison: name, metric, bounds, whether larger is better, and undefined values.
METRICS = {
    "mrr": ("mrr", (0.0, 1.0), True, 0.0),
    "beyond": (get_metric("mrr(replace_undefined_by=-1)"), (0.0, 1.0), True, -1.0),
    "left out": (get_metric("map(replace_undefined_by=nan)"), (0.0, 1.0), True, math.nan),
    "distance": (kendall_tau_distance, (0.0, math.inf), False, 0.0),
    "share": (get_metric("fall_out(replace_undefined_by=nan)@5"), (0.0, 1.0), False, math.nan),
    "kendall_tau": ("kendall_tau", (-1.0, 1.0), True, 0.0),
}


def random_values(random, n, m):
    """Values of queries in [0, 1] by ranking: with ties, sparse, two-valued, noisy, lopsided, all equal or constant."""
    kind = random.integers(7)
    shape = n, m
    base = random.random((n, 1))
    shifts = np.r_[0, random.choice([0, 0.05, 0.3], m - 1)]
    if kind == 0:
        noise = random.normal(0, 0.1, shape)
        values = base + noise + shifts
    elif kind == 1:
        noise = random.normal(0, 0.1, shape)
        values = np.round(base + noise + shifts, 1)
    elif kind == 2:
        values = (random.random(shape) < 0.3 + shifts).astype(float)
    elif kind == 3:
        is_changed = random.random(shape) < 0.15
        changes = random.choice([-0.25, 0.25, 0.5], shape)
        values = 0.5 + is_changed * changes
    elif kind == 4:
        noisiness = random.choice([0.01, 0.3], m)
        noise = random.normal(0, 0.3, shape)
        values = base + noisiness * noise + shifts
    elif kind == 5:
        is_low = random.random(shape) < 0.1
        values = 0.5 - np.where(is_low, 0.45, -0.05 - shifts / 5)
    else:
        rounded = np.round(base, 2)
        values = np.repeat(rounded, m, axis=1) + shifts / 3
    return np.clip(values, 0.0, 1.0)


def random_queries(random, n):
    """Columns of queries: ids, and each of the others or not."""
    numbers = np.arange(n)
    names = np.array([f"q{number}" for number in numbers])
    ids = random.choice([numbers, 100 * numbers + 7, names])
    queries = {"qid": random.permutation(ids)}
    if random.random() < 0.35:
        few_values = random.random() < 0.5
        spread = [0.0, 1.0, 2.0, 9.0] if few_values else random.exponential(1, 5) + 0.01
        queries["weight"] = random.choice(spread, n)
        queries["weight"][0] += 1.0  # not all are 0
    if random.random() < 0.3:
        queries["group"] = random.integers(0, max(2, n // 3), n)
    if random.random() < 0.3:
        names = ["x", "y", "z"]
        n_slices = random.integers(1, 4)
        queries["by"] = random.choice(names[:n_slices], n)
    if random.random() < 0.15:
        n_folds = random.integers(2, 6)
        queries["fold"] = random.integers(0, n_folds, n)
    return queries


def random_comparison(random):
    """Columns of queries, values by metric, and options of compare."""
    few = random.integers(1, 9)
    some = random.integers(5, 20)
    many = random.integers(15, 61)
    n = int(random.choice([few, some, many]))
    m = int(random.choice([2, 2, 3, 4, 6, random.integers(2, 13)]))
    n_metrics = int(random.integers(1, 3))
    kinds = random.choice(list(METRICS), n_metrics, replace=False).tolist()
    queries = random_queries(random, n)
    values = {}
    for kind in kinds:
        values[kind] = random_values(random, n, m)
        if random.random() < 0.3:
            everywhere = random.random((n, 1)) < 0.2
            somewhere = random.random((n, m)) < 0.1
            undefined = everywhere | (somewhere & (random.random() < 0.5))
            values[kind][undefined] = np.nan
    options = {
        "baseline": random_baseline(random, m),
        "margin": random_margin(random, kinds),
        "test": "t" if random.random() < 0.3 else "permutation",
        "correction": [None, "max", "max", "holm", "bh"][random.integers(5)],
        "confidence": float(random.choice([0.8, 0.9, 0.95, 0.95, 0.99])),
        "random_state": int(random.integers(1000)),
    }
    return queries, values, options


def random_baseline(random, m):
    """None, one ranking, or several."""
    if random.random() < 0.6:
        return None
    names = [f"m{i}" for i in random.permutation(m)[: random.integers(1, m)]]
    return names[0] if random.random() < 0.5 else names


def random_margin(random, kinds):
    """None, one for all metrics, or one for each."""
    own = random.choice([0.0, 0.05, 0.3, 0.9], len(kinds)).tolist()
    # Names say which is which, not the order.
    by_metric = dict(zip(reversed(kinds), own, strict=True))
    return [None, None, own[0], by_metric][random.integers(4)]


def taken_through(comparison, random, options):
    """The same comparison: as it is, decided again, or saved and loaded."""
    way = random.integers(3)
    if way == 1:
        return compare(comparison, **options)
    if way == 2:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "comparison.json"
            comparison.save(path)
            return comparison.load(path)
    return comparison


def compared(queries, values, options, random):
    """The comparison, and the decisions of the reference by metric and slice; None if no query counts."""
    m = next(iter(values.values())).shape[1]
    reports = {}
    folds = queries.get("fold")
    ids = {name: own for name, own in queries.items() if name != "fold"}
    for i in range(m):
        columns = ids | {kind: own[:, i] for kind, own in values.items()}
        if folds is None:  # reports may have the queries in other orders
            rows = random.permutation(len(columns["qid"]))
            columns = {name: own[rows] for name, own in columns.items()}
        metrics = {kind: METRICS[kind][0] for kind in values}
        report = RankingReport.from_frame(columns, metrics=metrics)
        reports[f"m{i}"] = report.with_queries(folds=folds)
    expected = {}
    for kind, own in values.items():
        _, bounds, larger, undefined = METRICS[kind]
        filled = np.where(np.isnan(own), undefined, own)
        weights = queries.get("weight", np.ones(len(own)))
        if not (~np.isnan(filled).any(axis=1) & (weights > 0)).any():
            return None
        expected[kind] = decisions_of(
            filled,
            larger_is_better=larger,
            bounds=bounds,
            ids=queries["qid"],
            plan=options,
            baselines=[int(name[1:]) for name in Plan(options["baseline"]).baselines],
            weights=queries.get("weight"),
            groups=queries.get("group"),
            by=queries.get("by"),
            folds=folds,
        )
    return compare(reports, **options), expected


def same(found, expected):
    """Whether numbers, or two tuples of them, are equal but for rounding."""
    ours = np.atleast_1d(found)
    theirs = np.atleast_1d(expected)
    assert ours.shape == theirs.shape
    return all(map(same_number, ours.tolist(), theirs.tolist()))


def same_number(found, expected):
    # This is asked often, and pytest.approx takes long.
    if math.isnan(expected):
        return math.isnan(found)
    return math.isclose(found, expected, rel_tol=1e-6, abs_tol=1e-9)


def turned(interval, larger_is_better):
    """An interval of differences in the direction of the metric."""
    low, high = interval
    return (low, high) if larger_is_better else (-high, -low)


def check_as_reference(part, decision, larger):
    """All numbers of a comparison by its first metric, in all queries or in a slice."""
    number = {name: int(name[1:]) for name in part.names}
    values = decision.part.values
    weights = decision.part.weights
    sign = 1 if larger else -1
    for name, mean in part.means().items():
        expected = np.average(values[:, number[name]], weights=weights)
        assert same(sign * mean, expected)
    for pair in part.pairs():
        i = number[pair.first]
        j = number[pair.second]
        interval = decision.interval(i, j)
        simultaneous = decision.simultaneous(i, j)
        assert same(sign * pair.difference, decision.part.tests[i, j].mean)
        assert same(pair.p_value, decision.part.p_value(i, j))
        assert same(pair.p_adjusted, decision.p_adjusted(i, j))
        assert same(pair.interval, turned(interval, larger))
        assert same(pair.simultaneous, turned(simultaneous, larger))
        assert (pair.wins, pair.ties, pair.losses) == decision.counted(i, j)
        assert pair.n_queries == len(values)
        assert pair.verdict == decision.verdict(i, j, part.outcome().margin)
    assert {number[name] for name in part.best_set} == decision.best_set
    for name, regret in part.regret.items():
        assert same(regret, decision.regret(number[name]))
    for name, j in number.items():
        ahead = {number[other] for other in part.outcome().better_than(name)}
        assert ahead == {i for i in decision.rankings if i != j and decision.better[i, j]}
    letters = part.letters
    for a, b in itertools.combinations(part.names, 2):
        is_different = decision.decided[number[a], number[b]] <= decision.level
        shared = set(letters[a]) & set(letters[b])
        assert bool(shared) != is_different


def check_default_pair(part):
    """By default, the best is compared with the best baseline, or the next best."""
    best_first = list(part.means())
    baselines = [name for name in best_first if name in part.plan.baselines]
    first, *others = [name for name in best_first if name not in baselines]
    second = baselines[0] if baselines else others[0]
    pair = part.pair()
    assert pair.first == first
    assert pair.second == second


def check_queries(part, larger):
    """The queries that the first of two rankings loses and wins, the largest first."""
    differences = part.pair().differences
    lead = differences if larger else -differences
    for rows, signed in ((part.worst(4), -lead), (part.best(4), lead)):
        descending = sorted(signed[signed > 0].tolist(), reverse=True)
        assert [abs(row.difference) for row in rows] == descending[:4]


def check_planning(part, decision):
    number = {name: int(name[1:]) for name in part.names}
    means = part.means()
    leader = next(iter(means))
    leaders = [name for name, mean in means.items() if same(mean, means[leader])]
    is_clear = part.plan.baselines or len(leaders) == 1
    expected = decision.detectable(number[leader])
    assert same(part.detectable, expected) or not is_clear
    pair = part.pair()
    i = number[pair.first]
    j = number[pair.second]
    if decision.part.tests[i, j].error == 0:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = part.queries_needed(0.05, power=0.7)
    expected = decision.queries_needed(i, j, 0.05, 0.7)
    assert found == pytest.approx(expected, rel=1e-6, abs=1)


def check_standings(part, decision, larger):
    number = {name: int(name[1:]) for name in part.names}
    rows = part.standings()
    signed = [row.mean if larger else -row.mean for row in rows]
    assert signed == sorted(signed, reverse=True)
    means = part.means()
    for row in rows:
        i = number[row.name]
        assert same(row.regret, decision.regret(i))
        if row.name in part.plan.baselines:
            assert row.status == "baseline"
            continue
        if part.plan.baselines:
            pair = part.pair(row.name, row.rival)
            assert row.status == decision.verdict_beside_baselines(i, part.outcome().margin)
            assert row.status == pair.verdict
            assert row.p_value == pair.p_adjusted
            assert same((row.difference, *row.interval), (pair.difference, *pair.simultaneous))
            against = [part.pair(row.name, name) for name in part.plan.baselines]
            alike = [other.difference for other in against if other.verdict == pair.verdict]
            assert pair.difference == (min(alike) if larger else max(alike)), "the least favourable"
            continue
        leads = row.name == rows[0].name
        expected = "leads" if leads else "may be best"
        if i not in decision.best_set:
            expected = "worse"
        elif len(decision.best_set) == 1:
            expected = "best"
        assert row.status == expected
        mean_of_rival = row.mean - row.difference
        others = [name for name in part.names if name != row.name]
        rivals = [name for name in others if same(means[name], mean_of_rival)]
        pairs = [part.pair(row.name, name) for name in rivals]
        alike = [pair for pair in pairs if pair.p_adjusted == row.p_value]
        expected = [pytest.approx(pair.simultaneous, nan_ok=True) for pair in alike]
        assert row.interval in expected


def check_gate(comparison, decisions):
    """Decisions by all metrics, from those of the reference by metric."""
    plan = comparison.plan
    if plan.margin is None:
        return
    expected = {}
    for name in comparison.names:
        if name not in plan.baselines:
            i = int(name[1:])
            by_metric = [own.decision(i, plan.margin_of(kind)) for kind, own in decisions.items()]
            expected[name] = joint_decision(by_metric)
    assert comparison.decisions == expected
    overall = joint_decision(expected.values())
    if not plan.baselines:
        overall = "ship" if "ship" in expected.values() else "undecided"
    assert comparison.decision == overall


def excludes_zero(interval):
    return interval[0] > 0 or interval[1] < 0


def check_no_contradiction(part, larger):
    """What is said about pairs, the set of the best, letters, regret and in words, held against each other."""
    assert part.verdict
    better = {check_pair(pair, part.plan, larger) for pair in part.pairs()} - {None}
    letters = part.letters
    inside = part.best_set
    for above, below in better:
        assert below not in inside
        assert not set(letters[above]) & set(letters[below])
    if len(inside) == 1:
        (best,) = inside
        others = "".join(letters[name] for name in part.names if name != best)
        assert not set(letters[best]) & set(others)
    regret = part.regret
    assert all((regret[name] == 0) == (inside == (name,)) for name in part.names)
    if len(part.names) == 2:
        means = part.means()
        first, second = sorted(means, key=means.get, reverse=larger)
        assert regret[first] <= regret[second] or means[first] == means[second]
    if not part.plan.baselines:
        check_best(part, {below for _, below in better})


def check_pair(pair, plan, larger):
    """The names of the better and the worse ranking; None if they do not differ significantly."""
    for interval, p in ((pair.interval, pair.p_value), (pair.simultaneous, pair.p_adjusted)):
        assert math.isnan(interval[0]) == math.isnan(interval[1])
        assert excludes_zero(interval) == (p <= plan.level)
        assert math.isnan(interval[0]) or interval[0] <= interval[1]
    assert pair.p_adjusted >= pair.p_value
    low, high = pair.simultaneous
    assert math.isnan(low) or low <= pair.interval[0] <= pair.interval[1] <= high
    if pair.p_adjusted > plan.level:
        assert pair.verdict in ("undecided", "not worse")
        return None
    if (pair.difference > 0) == larger:
        assert pair.verdict == "better"
        return pair.first, pair.second
    assert pair.verdict in ("worse", "not worse")
    return pair.second, pair.first


def check_best(part, losers):
    """The set of the best, the status of rankings and the verdict, if there is no baseline."""
    rows = part.standings()
    inside = part.best_set
    assert rows[0].name in inside
    assert losers == set(part.names) - set(inside), "no ranking leaves that no pair separates"
    claims = (
        f"confidence, {rows[0].name} is best",
        f"By {part.metrics[0]}, {rows[0].name} is best (",
    )
    assert any(claim in part.verdict for claim in claims) == (len(inside) == 1)
    assert excludes_zero(rows[0].interval) == (rows[0].status == "best")
    for row in rows[1:]:
        is_worse = row.status == "worse"
        assert excludes_zero(row.interval) == is_worse
        assert (row.p_value <= part.plan.level) == is_worse


def check_frames(comparison):
    """The columns of frames are what the methods of each metric say."""
    frame = comparison.to_frame()
    pairs = comparison.to_frame(pairs=True)
    assert frame.index.tolist() == list(comparison.names)
    n_pairs = 0
    for metric in comparison.metrics:
        own = comparison.by_metric(metric)
        rows = {row.name: row for row in own.standings()}
        for name in comparison.names:
            row = rows[name]
            facts = frame.loc[name]
            ends = comparison.reports[name].intervals(own.plan.confidence)[metric]
            columns = {
                "": own.means()[name],
                " low": ends[0],
                " high": ends[1],
                " difference": row.difference,
                " difference low": row.interval[0],
                " difference high": row.interval[1],
                " p": row.p_value,
                " regret": own.regret[name],
            }
            for column, value in columns.items():
                assert same(facts[f"{metric}{column}"], value), column
            words = facts[f"{metric} status"], facts[f"{metric} letters"]
            assert words == (row.status, own.letters[name])
        n_pairs += len(own.pairs())
    assert len(pairs) == n_pairs
    for row in pairs.to_dict("records"):
        # Of all metrics, in the order of the first one.
        pair = comparison.by_metric(row["metric"]).pair(row["first"], row["second"])
        assert row["verdict"] == pair.verdict
        assert row["wins"] == pair.wins
        assert row["ties"] == pair.ties
        assert row["losses"] == pair.losses
        ends = (row["low"], row["high"], row["simultaneous low"], row["simultaneous high"])
        assert same(ends, (*pair.interval, *pair.simultaneous))
        numbers = (row["difference"], row["p_value"], row["p_adjusted"])
        assert same(numbers, (pair.difference, pair.p_value, pair.p_adjusted))


def check_folds(part, decision, folds):
    """Folds in which one ranking alone has the best weighted mean."""
    won = dict.fromkeys(part.names, 0)
    for fold in np.unique(folds):
        own = folds == fold
        values = decision.part.values[own]
        weights = decision.part.weights[own]
        means = np.average(values, axis=0, weights=weights)
        best = np.flatnonzero(np.isclose(means, means.max(), rtol=1e-12, atol=0))
        if len(best) == 1:
            won[f"m{best[0]}"] += 1
    assert part.outcome().sample.folds_won() == won


def check_views(comparison, kind):
    """A slice by a metric says what the comparison by the metric says of the slice."""
    own = comparison.by_metric(kind)
    for value in own.slices.keys() & comparison.slices.keys():
        one = own.slices[value]
        of_slice = comparison.slices[value]
        other = of_slice.by_metric(kind)
        assert other.names == of_slice.names == comparison.names
        assert one.names == own.names
        assert other.metrics[0] == kind
        assert one.means() == other.means()
        assert set(one.best_set) == set(other.best_set)
        assert one.regret == pytest.approx(other.regret, rel=1e-9)
        for pair in one.pairs():
            again = other.pair(pair.first, pair.second)
            said = pair.p_value, pair.p_adjusted, *pair.interval, *pair.simultaneous
            expected = again.p_value, again.p_adjusted, *again.interval, *again.simultaneous
            assert same(said, expected)
            assert pair.verdict == again.verdict
        distinct = {round(mean, 9) for mean in one.means().values()}
        if len(distinct) < len(one.names):
            continue  # whichever comes first leads
        statuses = {row.name: row.status for row in one.standings()}
        assert statuses == {row.name: row.status for row in other.standings()}
        # Names may be in another order, and only the first of many are listed.
        unnamed = (re.sub(r"\bm\d+", "", part.verdict) for part in (one, other))
        words, expected = (sorted(re.findall(r"[\w.]+", text)) for text in unnamed)
        assert words == expected


def check(seed):
    random = np.random.default_rng(seed)
    queries, values, options = random_comparison(random)
    found = compared(queries, values, options, random)
    if found is None:
        return
    comparison, expected = found
    comparison = taken_through(comparison, random, options)
    if seed < 60:
        for one in (comparison, *comparison.slices.values()):
            check_frames(one)
    check_gate(comparison, {kind: by_slice[None][0] for kind, by_slice in expected.items()})
    for kind, by_slice in expected.items():
        larger = METRICS[kind][2]
        own = comparison.by_metric(kind)
        margin = options["margin"]
        assert own.outcome().margin == (margin[kind] if isinstance(margin, dict) else margin)
        assert own.names == own.outcome().ranked, "best first"
        assert set(own.slices) == set(by_slice) - {None}
        check_views(comparison, kind)
        parts = {None: own} | own.slices
        for value, (decision, used) in by_slice.items():
            if "fold" in queries:
                check_folds(parts[value], decision, queries["fold"][used])
            check_as_reference(parts[value], decision, larger)
            check_standings(parts[value], decision, larger)
            check_default_pair(parts[value])
            check_queries(parts[value], larger)
            check_planning(parts[value], decision)
            check_no_contradiction(parts[value], larger)


@pytest.mark.parametrize("seed", range(60))
def test_a_comparison_is_as_the_reference(seed):
    check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 450))
def test_many_comparisons_are_as_the_reference(seed):
    check(seed)
