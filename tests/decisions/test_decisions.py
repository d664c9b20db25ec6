"""Random comparisons with every option crossed: they say what the reference says, and never contradict themselves."""

import itertools
import math
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from support.decisions import decisions_of

from skrank_metrics import compare, get_metric, kendall_tau_distance
from skrank_metrics.decisions.plan import Plan
from skrank_metrics.decisions.planning import queries_to_decide
from skrank_metrics.reports import RankingReport
from skrank_metrics.reports.ranking_report import with_queries

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
    baseline = random_baseline(random, m)
    options = {
        "baseline": baseline,
        "margin": None if baseline is None else random_margin(random, kinds),
        "confidence": float(random.choice([0.8, 0.9, 0.95, 0.95, 0.99])),
        "random_state": int(random.integers(1000)),
    }
    return queries, values, options


def random_baseline(random, m):
    """None, one ranking, or several."""
    if random.random() < 0.4:
        return None
    names = [f"m{i}" for i in random.permutation(m)[: random.integers(1, m)]]
    return names[0] if random.random() < 0.5 else names


def random_margin(random, kinds):
    """None, one for all metrics, or one for each."""
    own = random.choice([0.0, 0.05, 0.3, 0.9], len(kinds)).tolist()
    # Names say which is which, not the order, and some metrics may have none.
    by_metric = dict(zip(reversed(kinds), own, strict=True))
    return [None, own[0], by_metric, {kinds[-1]: own[0]}][random.integers(4)]


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
        reports[f"m{i}"] = with_queries(report, folds=folds)
    expected = {}
    plan = Plan(options["baseline"], options["margin"])
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
            baselines=[int(name[1:]) for name in plan.baselines],
            margin=plan.margin_of(kind),
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
        assert same(sign * pair.difference, decision.difference(i, j))
        assert same(pair.p_value, decision.p_value(i, j))
        assert same(pair.p_adjusted, decision.p_adjusted(i, j))
        assert same(pair.interval, turned(decision.interval(i, j), larger))
        assert (pair.wins, pair.ties, pair.losses) == decision.counted(i, j)
        assert len(pair.qid) == len(values)
        assert pair.verdict == decision.verdict(i, j)
    if part.plan.baselines:
        return
    assert {number[name] for name in part.best_set} == decision.best_set
    for name, regret in part.regret.items():
        assert same(regret, decision.regret(number[name]))
    letters = part.letters
    for a, b in itertools.combinations(part.names, 2):
        i = number[a]
        j = number[b]
        is_different = decision.better(i, j) or decision.better(j, i)
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
    best_first = [number[name] for name in part.means()]
    # Of equal baselines, either may be the one that a ranking is compared with.
    if is_distinct(part):
        assert same(part.detectable, decision.detectable(best_first))
    pair = part.pair()
    i = number[pair.first]
    j = number[pair.second]
    if decision.tests[i, j].error == 0 or part.outcome().decision.span < 0.05:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = part.queries_needed(0.05, power=0.7)
    expected = decision.queries_needed(i, j, 0.05, 0.7)
    assert found == pytest.approx(expected, rel=1e-6, abs=1) or min(found, expected) > 1e11


def check_caution(part, decision):
    """The pair that few queries could turn round, and how many queries would decide."""
    number = [int(name[1:]) for name in part.outcome().names]
    ours = part.outcome().decision
    assert ours.n_units == decision.part.n_units
    skew = ours.skew
    tails = decision.tails()
    if not decision.claims_something():
        assert skew is None
    elif skew is None:
        assert not any(ratio > 2 + 1e-9 for ratio in tails.values())
        assert not any(decision.is_equal_claim(i, j) for i, j in decision.intervals)
    else:
        pair = number[skew.first], number[skew.second]
        claimed = [ratio for own, ratio in tails.items() if decision.better(*own)]
        expected = max(claimed or tails.values(), default=0)
        assert decision.is_equal_claim(*pair) or same(skew.ratio, expected)
        n_lost = int((decision.tests[pair].d < 0).sum())
        assert skew.n_tail == n_lost
    for pair in decision.family[:2]:
        i, j = (number.index(own) for own in pair)
        assert queries_to_decide(ours, i, j) == decision.queries_to_decide(*pair)


def check_standings(part, decision, larger):
    number = {name: int(name[1:]) for name in part.names}
    rows = part.standings()
    signed = [row.mean if larger else -row.mean for row in rows]
    assert signed == sorted(signed, reverse=True)
    leader = rows[0].name
    for row in rows:
        i = number[row.name]
        level = abs(row.mean - rows[0].mean) < 1e-9
        assert row.status == decision.status(i) or (level and row.status == "highest")
        if row.status == "baseline" or row.reference == "":
            assert math.isnan(row.difference)
            assert row.status == "baseline" or row.name == leader
            continue
        j = number[row.reference]
        assert row.reference in (part.plan.baselines or [leader])
        assert same(row.interval, turned(decision.interval(i, j), larger))
        assert same(row.difference, decision.difference(i, j) * (1 if larger else -1))
        assert same(row.p_value, decision.p_adjusted(i, j))
        if part.plan.baselines:
            assert decision.verdict(i, j) == row.status
            alike = [b for b in decision.baselines if decision.verdict(i, b) == row.status]
            least = min(decision.difference(i, b) for b in alike)
            assert same(decision.difference(i, j), least), "the least favourable"
        else:
            is_shown = decision.better(j, i)
            assert bool(row.worse_than) == (row.status == "worse" and not is_shown)
            assert not row.worse_than or decision.better(number[row.worse_than], i)


def check_gate(comparison, decisions):
    """Decisions by all metrics with a margin, from those of the reference by metric."""
    plan = comparison.plan
    if plan.margin is None:
        return
    expected = {}
    for name in comparison.names:
        if name not in plan.baselines:
            i = int(name[1:])
            guards = [own.gate(i) for own in decisions.values() if own.margin is not None]
            expected[name] = worst(guards)
    assert comparison.decisions == expected
    assert comparison.decision == worst(expected.values())


def worst(decisions):
    for one in ("do not ship", "undecided"):
        if one in decisions:
            return one
    return "ship"


def excludes_zero(interval):
    return interval[0] > 0 or interval[1] < 0


def check_no_contradiction(part, larger):
    """What is said about pairs, the set of the best, letters, regret and in words, held against each other."""
    assert part.verdict
    better = {check_pair(pair, part.plan, larger) for pair in part.pairs()} - {None}
    if part.plan.baselines:
        for what in ("best_set", "regret", "letters"):
            with pytest.raises(ValueError, match="not beside a baseline"):
                getattr(part, what)
        return
    for (a, b), (c, d) in itertools.product(better, repeat=2):
        assert b != c or (a, d) in better, "significantly better is transitive"
    losers = {below for _, below in better}
    assert losers == set(part.names) - set(part.best_set)
    regret = part.regret
    assert all((regret[name] == 0) == (part.best_set == (name,)) for name in part.names)
    ascending = list(regret.values())  # best first
    is_sorted = all(a <= b + 1e-12 for a, b in itertools.pairwise(ascending))
    assert is_sorted or not is_distinct(part), "the leader has the least"


def is_distinct(part):
    """Whether no two means differ by rounding only, which may come in any order."""
    return bool(np.all(np.abs(np.diff(list(part.means().values()))) > 1e-12))


def check_pair(pair, plan, larger):
    """The names of the better and the worse ranking; None if they do not differ significantly."""
    low, high = pair.interval
    assert low <= high
    assert excludes_zero(pair.interval) == (pair.p_adjusted <= plan.level)
    assert pair.p_adjusted >= pair.p_value
    if pair.p_adjusted > plan.level:
        assert pair.verdict in ("undecided", "not worse", "equivalent")
        return None
    if (pair.difference > 0) == larger:
        assert pair.verdict == "better"
        return pair.first, pair.second
    assert pair.verdict in ("worse", "small loss")
    return pair.second, pair.first


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
            }
            if not own.plan.baselines:
                columns[" regret"] = own.regret[name]
                assert facts[f"{metric} letters"] == own.letters[name]
            for column, value in columns.items():
                assert same(facts[f"{metric}{column}"], value), column
            assert facts[f"{metric} status"] == row.status
        n_pairs += len(own.pairs())
    assert len(pairs) == n_pairs
    for row in pairs.to_dict("records"):
        # The pairs are those of all metrics, in the order of the first one.
        pair = comparison.by_metric(row["metric"]).pair(row["first"], row["second"])
        assert row["verdict"] == pair.verdict
        assert row["wins"] == pair.wins
        assert row["ties"] == pair.ties
        assert row["losses"] == pair.losses
        assert same((row["low"], row["high"]), pair.interval)
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
    assert part.outcome().folds_won() == won


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
        for pair in one.pairs():
            again = other.pair(pair.first, pair.second)
            said = pair.p_value, pair.p_adjusted, *pair.interval
            expected = again.p_value, again.p_adjusted, *again.interval
            assert same(said, expected)
            assert pair.verdict == again.verdict
        distinct = {round(mean, 9) for mean in one.means().values()}
        if len(distinct) < len(one.names):
            continue  # whichever comes first leads
        statuses = {row.name: row.status for row in one.standings()}
        assert statuses == {row.name: row.status for row in other.standings()}


def check(seed):
    random = np.random.default_rng(seed)
    queries, values, options = random_comparison(random)
    found = compared(queries, values, options, random)
    if found is None:
        return
    comparison, expected = found
    comparison = taken_through(comparison, random, options)
    if seed < 100:
        for one in (comparison, *comparison.slices.values()):
            check_frames(one)
    check_gate(comparison, {kind: by_slice[None][0] for kind, by_slice in expected.items()})
    for kind, by_slice in expected.items():
        larger = METRICS[kind][2]
        own = comparison.by_metric(kind)
        margin = options["margin"]
        assert own.outcome().margin == (margin.get(kind) if isinstance(margin, dict) else margin)
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
            check_caution(parts[value], decision)
            check_no_contradiction(parts[value], larger)


@pytest.mark.parametrize("seed", range(100))
def test_a_comparison_is_as_the_reference(seed):
    check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 2100))
def test_many_comparisons_are_as_the_reference(seed):
    check(seed)
