"""Random rows: what health and inspections say of them, against loops over queries and ranks."""

from collections import Counter

import numpy as np
import pytest

from skrank_metrics import compare, evaluate, get_metric


def random_rows(random):
    """Labels, scores, ids, masks and weights of queries of unequal lengths, mixed."""
    n = int(random.integers(3, 12))
    in_order = np.repeat(np.arange(n), random.integers(1, 7, n))
    query = random.permutation(in_order)
    size = len(query)
    is_barren = random.random(n) < 0.3
    retrieved = random.random(size) < 0.85
    judged = random.random(size) < 0.8
    has_judgments = random.random(n) < 0.9
    weights = random.choice([0.0, 1.0, 3.0], n)
    weights[0] += 1
    groups = random.integers(0, 3, n)
    options = {
        "retrieved": retrieved,
        "judged": judged & has_judgments[query],
        "sample_weight": weights[query],
        "groups": groups[query],
    }
    options = {name: column for name, column in options.items() if random.random() < 0.5}
    if "judged" in options:
        options["condense"] = bool(random.random() < 0.5)
    labels = random.integers(0, 3, size)
    y = np.where(is_barren[query], 0, labels)
    scores = random.integers(0, 3, size) / 2
    has_scores = random.random(n) < 0.8
    qid = np.array([f"q{number}" for number in query])
    return y, scores * has_scores[query], qid, options


def counts_of(y, scores, qid, options):
    """Numbers behind the findings, query by query."""
    everything = np.ones(len(y), dtype=bool)
    retrieved = options.get("retrieved", everything)
    judged = options.get("judged", everything)
    counts = Counter(
        ranked=int(retrieved.sum()),
        unjudged=int((retrieved & ~judged).sum()),
        irrelevant=int((judged & (y == 0)).sum()),
    )
    seen = retrieved
    if options.get("condense"):
        seen = retrieved & judged
    for query in set(qid.tolist()):
        own = qid == query
        ranked = scores[own & retrieved].tolist()
        counted = scores[own & seen].tolist()
        counts["constant"] += len(ranked) > 1 and len(set(ranked)) == 1
        counts["blank"] += not judged[own].any()
        counts["tied"] += len(set(counted)) < len(counted)
    return counts


def unjudged_share(y, scores, qid, options, cutoff):
    """Mean share of the first ranks of a query that nobody judged."""
    metrics = {"judged": f"judged(replace_undefined_by=nan)@{cutoff}"}
    report = evaluate(y, scores, qid=qid, metrics=metrics, **options)
    return 1 - np.nanmean(report.per_query["judged"])


def queries(number):
    return f"{number} query" if number == 1 else f"{number} queries"


@pytest.mark.parametrize("seed", range(50))
def test_findings_are_loops_over_queries(seed):
    random = np.random.default_rng([seed, 1])
    y, scores, qid, options = random_rows(random)
    names = ["map@3", "recall(replace_undefined_by=1)@2", "mrr(replace_undefined_by=nan)"]
    shuffled = random.permutation(names).tolist()
    metrics = shuffled[: random.integers(1, 4)]
    report = evaluate(y, scores, qid=qid, metrics=metrics, **options)
    counts = counts_of(y, scores, qid, options)
    expected = []
    if counts["unjudged"] and (options["condense"] or counts["irrelevant"]):
        cutoffs = [report.metrics[name].k for name in metrics if report.metrics[name].k]
        top = ""
        if cutoffs:
            top = f", {unjudged_share(y, scores, qid, options, max(cutoffs)):.0%} of the top {max(cutoffs)}"
        share = counts["unjudged"] / counts["ranked"]
        way = "count as not relevant. condense=True leaves them out."
        if options["condense"]:
            way = "are left out."
        expected.append(f"Nobody judged {share:.0%} of the ranked documents{top}; they {way}")
    relevant = (y > 0) & options.get("judged", True)
    n_undefined = len(set(qid) - set(qid[relevant]))
    assert set(report.n_undefined.values()) == {n_undefined}
    if n_undefined:
        why = "no relevant document"
        if counts["blank"]:
            why += " or no judged document"
        plural = ("have", "count as 0", "count as 1", "are left out")
        singular = ("has", "counts as 0", "counts as 1", "is left out")
        have, *ways = singular if n_undefined == 1 else plural
        way_of = dict(zip(names, ways, strict=True))
        ids = sorted(set(map(str, qid.tolist())) - set(map(str, qid[relevant].tolist())))
        named = f" ({', '.join(ids)})" if len(ids) <= 4 else ""
        start = f"{queries(n_undefined)}{named} {have} {why} and"
        where = [f" in {name}" if len(metrics) > 1 else "" for name in metrics]
        expected += [
            f"{start} {way_of[name]}{end}." for name, end in zip(metrics, where, strict=True)
        ]
    if counts["constant"]:
        have = "has" if counts["constant"] == 1 else "have"
        expected.append(f"{queries(counts['constant'])} {have} the same score for all documents.")
    skipped = ("tied scores", "No grade 0", "Reversed?")
    lines = report.health.findings
    found = [line for line in lines if not any(words in line for words in skipped)]
    assert found == expected
    check_ties(report, (y, scores, qid, options), counts["tied"])


def check_ties(report, given, n_tied):
    """The first mean that the order of ties moves by a tenth of its interval."""
    y, scores, qid, options = given
    ties = [line for line in report.health.findings if "tied scores" in line]
    for name, metric in report.metrics.items():
        extremes = {}
        for policy in ("worst", "best"):
            bound = {name: metric.replace(ties=policy)}
            extremes[policy] = evaluate(y, scores, qid=qid, metrics=bound, **options).mean[name]
        mean = report.mean[name]
        low, high = report.intervals()[name]
        distance = max(abs(mean - value) for value in extremes.values())
        is_shown = distance >= 5e-5
        if not is_shown or distance <= (high - low) / 10:
            continue
        have = "has" if n_tied == 1 else "have"
        assert ties == [
            f"{queries(n_tied)} {have} tied scores, averaged over all orders; single orders give {name} from "
            f"{extremes['worst']:.4f} to {extremes['best']:.4f}."
        ]
        return
    assert ties == []


def value_of(report, query):
    place = report.qid.tolist().index(query)
    return report.per_query["m"][place]


@pytest.mark.parametrize("seed", range(40))
def test_inspections_are_loops_over_ranks(seed):
    random = np.random.default_rng([seed, 2])
    y, scores, qid, options = random_rows(random)
    prices = {"price": random.integers(0, 9, len(y))}
    ties = str(random.choice(["stable", "worst", "best"]))
    k = [None, 2, 4][seed % 3]
    name = ["dcg", "precision", "rbp", "ndcg"][seed % 4]
    metric = get_metric(name).replace(ties=ties)
    if k:
        metric = metric.replace(k=k)
    elif name == "precision":
        metric = metric.replace(k=9)
    of_models = {"a": scores, "b": random.permutation(scores)}
    reports = {
        model: evaluate(y, own, qid=qid, metrics={"m": metric}, documents=prices, **options)
        for model, own in of_models.items()
    }
    query = str(random.choice(qid))
    values = {model: value_of(report, query) for model, report in reports.items()}
    found = reports["a"].inspect(query)
    ((own,),) = found.queries
    columns = own.columns

    everything = np.ones(len(y), dtype=bool)
    judged = options.get("judged", everything)
    inside = qid == query
    ranked = inside & options.get("retrieved", everything)
    if options.get("condense"):
        ranked &= judged
    rows = np.flatnonzero(ranked)
    relevance = np.where(judged, y, 0)
    # To both, a document that nobody judged is below those of label 0.
    by_label = np.where(judged, y, -1)[rows]
    second = {"stable": rows * 0, "worst": by_label, "best": -by_label}[ties]
    in_order = rows[np.lexsort((second, -scores[rows]))]
    shown = in_order[:k] if k else in_order
    labels = np.where(judged, y.astype(float), np.nan)
    same_score = [scores[rows] == score for score in scores[shown]]
    assert columns["row"].tolist() == shown.tolist()
    assert columns["score"].tolist() == scores[shown].tolist()
    assert columns["documents.price"].tolist() == prices["price"][shown].tolist()
    np.testing.assert_array_equal(columns["label"], labels[shown])
    assert columns["tied"].tolist() == [one.sum() > 1 for one in same_score]
    assert list(columns["rank"]) == list(range(1, len(shown) + 1))
    assert own.n_ranked == len(rows)
    is_relevant = inside & (relevance > 0)
    unranked = np.flatnonzero(is_relevant & ~ranked)
    assert own.n_relevant == is_relevant.sum()
    assert sorted(own.unranked) == unranked.tolist()
    assert own.value == pytest.approx(values["a"])
    if own.is_defined and len(shown):
        assert sum(columns["added"]) + own.rest == pytest.approx(values["a"])
    if len(shown):
        assert found.to_frame()["row"].tolist() == shown.tolist()
    both = compare(reports).inspect(qid=query)
    of_both = {one.ranking: one.value for one in both.queries[0]}
    assert of_both == pytest.approx(values)
