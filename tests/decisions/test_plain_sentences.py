"""Random comparisons with every option crossed: every sentence and every cell that they print, from plain code."""

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest
from support import sentences
from support.shown import check_frame, html_of, words

from skrank_metrics import compare, evaluate
from skrank_metrics.reports import RankingReport
from skrank_metrics.reports.health import Health

# Metrics by their bounds.
METRICS = {
    "mrr": (0.0, 1.0),
    "ndcg@3": (0.0, 1.0),
    "map(replace_undefined_by=nan)": (0.0, 1.0),
    "mrr(replace_undefined_by=-1)": (0.0, 1.0),
    "fall_out(replace_undefined_by=nan)@5": (0.0, 1.0),
    "kendall_tau": (-1.0, 1.0),
    "dcg@3": (0.0, np.inf),
}
MEDIAN = "recall(average=median,replace_undefined_by=nan)@3"
BOUNDS = METRICS | {MEDIAN: (0.0, 1.0)}
NAMES = ("a", "b", "c, tuned", "a model with a long name", "e", "7", "<b>", "h")
FINDINGS = (
    "Ties: 2% of the documents are tied.",
    "Ties: 3% of the documents are tied.",
    "Constant scores: 1 query.",
    "Unjudged: 3 of 9 returned documents have no label.",
    "1 query has no relevant document.",
)
IN_ORDER = (
    ["x", "y"],
    [2, 10, None],
    ["all", "missing", None],
    [("x", 1), ("x", None), ("y", 2)],
)
# Values without an order are in that of the queries.
SLICES = (*IN_ORDER, [1, "1", None, "x"])


def random_queries(random, n, m):
    """Columns of queries: ids, and each of the others or not."""
    queries = {"qid": random.permutation(n) + 5}
    if random.random() < 0.35:
        queries["weight"] = random.choice([0.0, 1.0, 1.0, 3.5], n)
        queries["weight"][0] = 1.0
    if random.random() < 0.25:
        queries["group"] = random.integers(0, max(1, n // 2), n)
    if random.random() < 0.4:
        values = SLICES[random.integers(len(SLICES))]
        # The tests of many slices of many rankings take long.
        if n >= 50 and m <= 3 and random.random() < 0.6:
            values = list(range(30))
        places = random.integers(0, len(values), n)
        queries["by"] = np.empty(n, dtype=object)
        queries["by"][:] = [values[place] for place in places]
    if random.random() < 0.2:
        queries["fold"] = random.integers(0, 4, n)
    return queries


def random_values(random, n, m):
    """Rankings that are equal, or differ a little or much, on some or all queries; some share their values."""
    if random.random() < 0.15:
        return np.zeros((n, m))
    base = random.choice([0.3, 0.7]) * random.random((n, 1)) + 0.1
    shifts = random.choice([0.0, 0.02, 0.15, 0.4], m)
    noisiness = random.choice([0.0, 0.01, 0.01, 0.2], m)
    noise = noisiness * random.normal(0, 1, (n, m))
    is_changed = random.random((n, m)) < random.choice([0.1, 1.0, 1.0])
    values = np.clip(base + (shifts + noise) * is_changed, 0.0, 1.0)
    values[:, m - 1] = values[:, 0] if random.random() < 0.2 else values[:, m - 1]
    return values


def random_options(random, names, metrics):
    baseline = random.permutation(names)[: random.integers(1, len(names))].tolist()
    margins = random.choice([0.0, 0.003, 0.05, 0.6, 0.95], len(metrics)).tolist()
    is_tested = MEDIAN not in metrics
    by_metric = dict(zip(metrics, margins, strict=True))
    return {
        "baseline": [None, baseline[0], baseline][random.integers(3)],
        "margin": [None, margins[0], by_metric, by_metric][random.integers(4)]
        if is_tested
        else None,
        "test": str(random.choice(["permutation", "permutation", "t"])),
        "correction": [None, "max", "max", "holm", "bh"][random.integers(5)],
        "confidence": float(random.choice([0.8, 0.95, 0.975, 0.999])),
    }


def from_values(random, names, metrics):
    """Reports of values per query, with findings as if they came from documents."""
    n = int(random.choice([1, 6, 25, 60, 60, 120]))
    queries = random_queries(random, n, len(names))
    folds = queries.pop("fold", None)
    values = {metric: random_values(random, n, len(names)) for metric in metrics}
    for metric in metrics:
        if random.random() < 0.5:
            undefined = (random.random((n, len(names))) < 0.1) & (np.arange(n) > 0)[:, None]
            values[metric][undefined] = np.nan
    reports = {}
    for i, name in enumerate(names):
        columns = {metric: own[:, i] for metric, own in values.items()}
        report = RankingReport.from_frame(queries | columns, metrics=metrics)
        report = replace(report.with_queries(folds=folds))
        n_found = random.integers(0, 4)
        found = random.permutation(FINDINGS)[:n_found].tolist()
        report.__dict__["health"] = Health(tuple(found))
        reports[name] = report
    return reports


def from_documents(random, names, metrics):
    """A comparison of scores of documents."""
    n = int(random.choice([4, 20, 50]))
    queries = random_queries(random, n, len(names))
    of_row = np.repeat(np.arange(n), random.integers(2, 8, n))
    rows = {name: own[of_row] for name, own in queries.items()}
    labels = random.integers(0, 3, len(of_row)) * (random.random(len(of_row)) < 0.4)
    labels[0] = 1
    scores = {}
    for name in names:
        noise = random.normal(0, random.choice([0.1, 1.0]), len(of_row))
        scores[name] = labels * random.choice([0.0, 0.5, 1.0]) + noise
        if random.random() < 0.3:
            scores[name] = np.round(scores[name])
    judged = random.random(len(of_row)) < 0.8
    judged[0] = True
    return evaluate(
        labels,
        scores,
        qid=rows["qid"],
        metrics=metrics,
        sample_weight=rows.get("weight"),
        by=rows.get("by"),
        groups=rows.get("group"),
        judged=judged if random.random() < 0.3 else None,
    )


def without_plans(verdict):
    """A verdict without numbers of queries that would decide, which test_plain_planning checks."""
    return re.sub(r" If they are equal, about [\d,]+ queries would probably show it\.", "", verdict)


def check_said(comparison, bounds, n_parts=1):
    facts = sentences.all_facts(comparison, bounds)
    verdict = sentences.verdict(facts)
    assert without_plans(comparison.verdict) == verdict
    notes = sentences.notes(comparison, facts)
    if facts[0].tested:
        notes[notes.index(sentences.how(facts[0], 1))] = sentences.how(facts[0], n_parts)
    assert comparison.notes() == notes
    for own in facts:
        if own.tested:
            sentences.check_letters(own)
    if comparison.plan.margin is not None and len(comparison.names) > 1:
        assert comparison.decisions == sentences.decisions(facts)
    assert comparison.to_dict() == sentences.as_dict(comparison, facts)
    check_print(comparison, facts, notes, bounds)
    check_order_of_pairs(comparison, facts)
    check_frame(comparison.to_frame(), sentences.as_columns(comparison, facts))
    tables, lines = html_of(comparison.details())
    tested = [own for own in facts if own.tested]
    assert tables == list(map(sentences.table_of_details, tested))
    explained = [sentences.EXPLANATION] if tested else []
    assert lines == [sentences.brief(comparison), *explained, *notes]


def check_pair(comparison, *names):
    """The print of two rankings, and the queries on which they differ most."""
    pair = comparison.pair(*names)
    tables, lines = html_of(pair)
    rows = []
    for which, interval, p in (
        ("this pair alone", pair.interval, pair.p_value),
        ("with all pairs", pair.simultaneous, pair.p_adjusted),
    ):
        cells = [sentences.number(pair.difference, "+"), sentences.ends(interval, "+")]
        rows.append([which, *cells, sentences.p_text(p)])
    assert tables == [[["", f"{pair.first} - {pair.second}", "interval", "p"], *rows]]
    queries = sentences.of_queries(pair.n_queries)
    wins = f"{pair.first} is better on {pair.wins} of {queries}, {pair.second} on {pair.losses}."
    title = f"{pair.metric}: {pair.first} against {pair.second}: {pair.verdict}"
    assert lines == [title, wins]
    both = f"{pair.first} - {pair.second} by {pair.metric}"
    assert repr(pair) == f"<Pair: {both}, {sentences.number(pair.difference, '+')}, {pair.verdict}>"
    if comparison.reports[pair.first].has_documents:
        size = dict(zip(pair.qid.tolist(), np.abs(pair.differences).tolist(), strict=True))
        shown = [queries[0].qid for queries in comparison.inspect(None, *names).queries]
        # Of equal ones, the first.
        assert shown == sorted(size, key=lambda query: -size[query])[:3]


def check_order_of_pairs(comparison, facts):
    """By all metrics in the order of the first one; beside baselines, all others with each of them."""
    baselines = facts[0].baselines
    candidates = [name for name in comparison.names if name not in baselines]
    pairs = list(itertools.combinations(comparison.names, 2))
    if baselines:
        pairs = list(itertools.product(candidates, baselines))
    frame = comparison.to_frame(pairs=True)
    found = list(zip(frame["metric"], frame["first"], frame["second"], strict=True))
    tested = [own.metric for own in facts if own.tested]
    assert found == [(metric, *pair) for metric in tested for pair in pairs]
    if facts[0].tested:
        assert [(pair.first, pair.second) for pair in comparison.pairs()] == pairs


def check_order_of_slices(slices):
    """In ascending order if there is one; missing values are last."""
    if None in slices:
        assert list(slices)[-1] is None
    for values in (*IN_ORDER, range(30)):
        if set(slices) <= set(values):
            assert list(slices) == [value for value in values if value in slices]


def check_print(comparison, facts, notes, bounds):
    first = [comparison.verdict] if comparison.verdict else []
    tables, below = sentences.table_of_slices(comparison, bounds)
    expected = [*first, sentences.brief(comparison), *sentences.most_important(notes), *below]
    found, lines = html_of(comparison)
    assert lines == expected
    assert found == [sentences.table_of_rankings(facts), *tables]
    text = words(comparison)
    place = 0
    for line in expected:
        place = text.index(words(line), place) + len(words(line))


def check(seed):
    random = np.random.default_rng(seed)
    names = random.permutation(NAMES)[: random.choice([1, 2, 2, 3, 4, 5, 6, 8])].tolist()
    metrics = random.choice(list(METRICS), random.integers(1, 4), replace=False).tolist()
    if random.random() < 0.25:
        metrics[random.integers(len(metrics))] = MEDIAN
    if len(names) == 1:
        comparison = from_documents(random, names, metrics)
    else:
        make = from_documents if random.random() < 0.25 else from_values
        options = random_options(random, names, metrics)
        comparison = compare(make(random, names, metrics), **options)
    assert list(comparison.reports[comparison.names[0]].metrics) == metrics
    for metric in random.permutation(metrics).tolist():
        view = comparison.by_metric(metric)
        check_said(view, BOUNDS)
        if view.tested:
            check_pair(view)
            check_pair(view, view.names[-1], view.names[0])
    slices = view.slices
    check_order_of_slices(slices)
    for value in list(slices)[:2]:
        check_said(slices[value], BOUNDS, n_parts=len(slices))


# These have every kind of sentence.
@pytest.mark.parametrize("seed", range(60, 108))
def test_all_that_is_said_follows_from_the_numbers(seed):
    check(seed)
