"""Random rows: what health and inspections say of them, against loops over queries and ranks."""

import numpy as np
import pytest

from skrank_metrics import compare, evaluate, get_metric


def random_rows(random):
    """Labels, scores, ids, masks and weights of queries of unequal lengths, mixed."""
    n = int(random.integers(3, 12))
    query = random.permutation(np.repeat(np.arange(n), random.integers(1, 7, n)))
    size = len(query)
    barren = random.random(n) < 0.3
    options = {
        "retrieved": random.random(size) < 0.85,
        "judged": (random.random(size) < 0.8) & (random.random(n) < 0.9)[query],
        "sample_weight": (random.choice([0.0, 1.0, 3.0], n) + (np.arange(n) == 0))[query],
        "groups": random.integers(0, 3, n)[query],
    }
    options = {name: column for name, column in options.items() if random.random() < 0.5}
    if "judged" in options:
        options["condense"] = bool(random.random() < 0.5)
    y = np.where(barren[query], 0, random.integers(0, 3, size))
    scores = random.integers(0, 3, size) * (random.random(n) < 0.8)[query] / 2
    return y, scores, np.array([f"q{number}" for number in query]), options


def counts_of(y, scores, qid, options):
    """Numbers behind the findings, query by query."""
    everything = np.ones(len(y), dtype=bool)
    retrieved, judged = options.get("retrieved", everything), options.get("judged", everything)
    seen = retrieved & judged if options.get("condense") else retrieved
    counts = dict.fromkeys(("constant", "unjudged", "ranked", "irrelevant", "blank", "tied"), 0)
    for query in set(qid.tolist()):
        own = qid == query
        ranked = scores[own & retrieved]
        counts["constant"] += len(ranked) > 1 and len(set(ranked.tolist())) == 1
        counts["ranked"] += len(ranked)
        counts["unjudged"] += int((own & retrieved & ~judged).sum())
        counts["irrelevant"] += int((own & judged & (y == 0)).sum())
        counts["blank"] += not (own & judged).any()
        counts["tied"] += len(set(scores[own & seen].tolist())) < (own & seen).sum()
    return counts


def queries(number):
    return f"{number} query" if number == 1 else f"{number} queries"


@pytest.mark.parametrize("seed", range(50))
def test_findings_are_loops_over_queries(seed):
    random = np.random.default_rng([seed, 1])
    y, scores, qid, options = random_rows(random)
    names = ["map@3", "recall(replace_undefined_by=1)@2", "mrr(replace_undefined_by=nan)"]
    metrics = random.permutation(names).tolist()[: random.integers(1, 4)]
    report = evaluate(y, scores, qid=qid, metrics=metrics, **options)
    counts = counts_of(y, scores, qid, options)
    expected = []
    if counts["constant"]:
        expected.append(
            f"Constant scores: {queries(counts['constant'])} with the same score for all documents."
        )
    if counts["unjudged"] and (options["condense"] or counts["irrelevant"]):
        s = "" if counts["unjudged"] == 1 else "s"
        way = "are left out" if options["condense"] else "count as not relevant"
        share = counts["unjudged"] / counts["ranked"]
        expected.append(
            f"Unjudged: nobody judged {counts['unjudged']} ranked document{s} ({share:.1%}); they {way}."
        )
    relevant = (y > 0) & options.get("judged", True)
    n_undefined = sum(not relevant[qid == query].any() for query in set(qid.tolist()))
    assert set(report.n_undefined.values()) == {n_undefined}
    for name in metrics if n_undefined else []:
        one = n_undefined == 1
        why = "no relevant document" + " or no judged document" * (counts["blank"] > 0)
        what = {"map@3": "0", names[1]: "1"}.get(name)
        what = f"count{'s' * one} as {what} in" if what else f"{'is' if one else 'are'} left out of"
        expected.append(
            f"{queries(n_undefined)} {'has' if one else 'have'} {why} and {what} {name}."
        )
    skipped = ("Ties", "No grade 0", "Reversed?")
    found = [line for line in report.health.findings if not line.startswith(skipped)]
    assert found == expected
    check_ties(report, (y, scores, qid, options), counts["tied"])


def check_ties(report, given, n_tied):
    """The first mean that the order of ties moves by a tenth of its interval."""
    y, scores, qid, options = given
    ties = [line for line in report.health.findings if line.startswith("Ties")]
    for name, metric in report.metrics.items():
        extremes = {}
        for policy in ("worst", "best"):
            bound = {name: metric.replace(ties=policy)}
            extremes[policy] = evaluate(y, scores, qid=qid, metrics=bound, **options).mean[name]
        mean, (low, high) = report.mean[name], report.intervals()[name]
        distance = max(abs(mean - value) for value in extremes.values())
        if not distance >= 5e-5 or distance <= (high - low) / 10:
            continue
        assert ties == [
            f"Ties: {queries(n_tied)} with documents of equal scores; {name} is {mean:.4f}, and would be "
            f"{extremes['worst']:.4f} with tied documents in ascending order of their labels and "
            f"{extremes['best']:.4f} in descending order."
        ]
        return
    assert ties == []


@pytest.mark.parametrize("seed", range(40))
def test_inspections_are_loops_over_ranks(seed):
    random = np.random.default_rng([seed, 2])
    y, scores, qid, options = random_rows(random)
    prices = {"price": random.integers(0, 9, len(y))}
    ties, k = str(random.choice(["stable", "worst", "best"])), [None, 2, 4][seed % 3]
    name = ["dcg", "precision", "rbp", "ndcg"][seed % 4]
    params = {"ties": ties} | ({"k": k} if k else {"k": 9} if name == "precision" else {})
    metric = get_metric(name).replace(**params)
    reports = {
        model: evaluate(y, own, qid=qid, metrics={"m": metric}, documents=prices, **options)
        for model, own in (("a", scores), ("b", random.permutation(scores)))
    }
    query = str(random.choice(qid))
    everything = np.ones(len(y), dtype=bool)
    judged = options.get("judged", everything)
    ranked = options.get("retrieved", everything) & (qid == query)
    if options.get("condense"):
        ranked &= judged
    rows = np.flatnonzero(ranked)
    labels = np.where(judged, y, 0)
    second = {"stable": rows * 0, "worst": labels[rows], "best": -labels[rows]}[ties]
    expected = rows[np.lexsort((second, -scores[rows]))]
    found = reports["a"].inspect(query)
    ((own,),) = found.queries
    shown = expected[:k] if k else expected
    columns = own.columns
    assert columns["row"].tolist() == shown.tolist()
    assert columns["score"].tolist() == scores[shown].tolist()
    assert columns["documents.price"].tolist() == prices["price"][shown].tolist()
    np.testing.assert_array_equal(
        columns["label"], np.where(judged, y.astype(float), np.nan)[shown]
    )
    tied = [(scores[rows] == score).sum() > 1 for score in scores[shown]]
    assert columns["tied"].tolist() == tied
    assert list(columns["rank"]) == list(range(1, len(shown) + 1))
    assert own.n_ranked == len(rows)
    assert own.n_relevant == (labels[qid == query] > 0).sum()
    unranked = np.flatnonzero((qid == query) & ~ranked & (labels > 0))
    assert sorted(own.unranked) == unranked.tolist()
    value = reports["a"].per_query["m"][reports["a"].qid.tolist().index(query)]
    assert own.value == pytest.approx(value)
    if own.is_defined and len(shown):
        assert sum(columns["added"]) + own.rest == pytest.approx(value)
    if len(shown):
        assert found.to_frame()["row"].tolist() == shown.tolist()
    both = compare(reports).inspect(qid=query)
    assert {one.ranking: one.value for one in both.queries[0]} == pytest.approx(
        {
            model: report.per_query["m"][report.qid.tolist().index(query)]
            for model, report in reports.items()
        }
    )
