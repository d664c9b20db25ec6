"""What passes a gate with a margin: equal rankings, margins that accept any loss, and slices."""

import dataclasses
import math
import pickle

import numpy as np
import pytest
from support.ranks import report_of_ranks

from skrank_metrics import compare
from skrank_metrics.decisions.comparison import Comparison
from skrank_metrics.decisions.plan import Plan
from skrank_metrics.reports import RankingReport

MARGIN = 0.01
# If none of n queries loses, then with 97.5% confidence less than a share x of all queries does, (1 - x)^n = .025.
ENOUGH_EQUAL = math.ceil(math.log(0.025) / math.log(1 - MARGIN))


def gate(old, new=None, margin=MARGIN, **columns):
    """Compare values of mrr per query."""
    qid = np.arange(len(old))
    reports = {}
    for name, values in {"old": old, "new": old if new is None else new}.items():
        reports[name] = RankingReport.from_frame({"qid": qid, "mrr": values, **columns})
    return compare(reports, baseline="old", margin=margin)


def decision_on_equal(**columns):
    (column,) = columns.values()
    return gate(np.full(len(column), 0.5), **columns).decision


# Equal rankings


@pytest.mark.parametrize("n_queries", [6, 40, ENOUGH_EQUAL - 1, ENOUGH_EQUAL])
def test_equal_rankings_pass_if_their_interval_is_within_the_margin(n_queries):
    found = gate(np.full(n_queries, 0.5))
    is_enough = n_queries == ENOUGH_EQUAL == 368
    assert (found.decision == "ship") == is_enough == (found.pair().interval[0] > -MARGIN)
    expected = "Ship new: it is equivalent to old within 0.01 (95% confidence)."
    if not is_enough:
        expected = f"about 370 queries are needed to show it; these are {n_queries}."
    assert found.verdict.endswith(expected)


def test_groups_of_equal_rankings_count_once():
    groups = np.repeat(np.arange(ENOUGH_EQUAL), 2)
    assert decision_on_equal(group=groups) == "ship"
    assert decision_on_equal(group=np.maximum(groups, 1)) == "undecided"


def test_queries_of_weight_0_do_not_count():
    weights = np.repeat([1.0, 0.0], ENOUGH_EQUAL)
    assert decision_on_equal(weight=weights) == "ship"
    assert decision_on_equal(weight=weights[1:]) == "undecided"


def test_equal_losses_in_few_groups_leave_a_gate_undecided():
    old = np.full(40, 0.5)
    found = gate(old, old - 0.005, group=np.arange(40) % 3)
    assert found.decision == "undecided"
    assert found.verdict.startswith("No verdict: the rankings differ on 3 groups, and at least 6")


# Margins that accept any loss


@pytest.mark.parametrize("largest", [0.0, 0.009, 0.2])
def test_a_margin_that_accepts_any_loss_lets_nothing_pass(largest):
    """Nothing can be lost from queries without a hit, and no more than .009 from values of at most .009."""
    found = gate(np.full(2 * ENOUGH_EQUAL, largest))
    assert found.decision == ("ship" if largest > MARGIN else "undecided")
    explained = f"a margin of 0.01 accepts any loss: no query can lose more than {largest:g}"
    assert (explained in found.verdict) == (largest < MARGIN)


def test_margins_of_unbounded_metrics():
    # The relevant document at rank 2 or below: dcg of 1 / log2(rank + 1).
    ranks = {
        "old": [2, 3] * 60,
        "new": [6, 6] * 60,
        "best": [1] * 120,
    }
    reports = {name: report_of_ranks(own, metrics="dcg") for name, own in ranks.items()}
    wide = compare(reports, baseline="old", margin=5)
    assert wide.decisions == {"new": "do not ship", "best": "ship"}
    assert compare(reports, baseline="old", margin=0.5).decisions["new"] == "ship"


def test_negative_distances_have_no_worst_value():
    reports = {n: report_of_ranks([3] * 400, metrics="kendall_tau_distance") for n in ("a", "b")}
    equal = compare(reports, baseline="a", margin=100)
    assert equal.decision == "undecided", "no interval"
    assert "it may be worse by any amount, more than the margin of 100" in equal.verdict
    changed = report_of_ranks([3] * 200 + [2] * 100 + [4] * 100, metrics="kendall_tau_distance")
    assert compare(reports | {"b": changed}, baseline="a", margin=1).decision == "ship"


def test_a_single_ranking_cannot_be_decided():
    single = Comparison({"a": report_of_ranks([1, 2])}, ("mrr",), Plan())
    with pytest.raises(ValueError, match="at least two reports to compare; got 1"):
        single.pairs()
    with pytest.raises(ValueError, match=r"needs a margin and a baseline\. Pass margin= and"):
        single.decision  # noqa: B018


# Slices


@pytest.fixture(scope="module")
def by_slice():
    random = np.random.default_rng(0)
    qid = np.arange(240)
    values = {name: random.random(240) for name in ("a", "b", "c")}
    values["b"] = np.clip(values["a"] + random.normal(0.08, 0.2, 240), 0, 1)
    reports = {
        name: RankingReport.from_frame({"qid": qid, "mrr": own, "map": own**2, "by": qid % 6})
        for name, own in values.items()
    }
    return compare(reports, baseline="a", margin=0.02)


def test_a_slice_is_not_decided_without_the_others(by_slice, tmp_path):
    found = by_slice.slices[0]
    message = (
        "A slice of a comparison cannot be {} alone.* pass the .reports of the slice to compare"
    )
    copies = (pickle.loads(pickle.dumps(found)), dataclasses.replace(found))
    for one in (found, found.by_metric("map"), *copies):
        with pytest.raises(ValueError, match=message.format("saved")):
            one.save(tmp_path / "slice.json")
        with pytest.raises(ValueError, match=message.format("decided again")):
            compare(one, confidence=0.9)
        assert not one.slices
    assert not list(tmp_path.iterdir())


def test_slices_are_the_same_after_loading_and_deciding_again(by_slice, tmp_path):
    by_slice.save(tmp_path / "all.json")
    for again in (
        by_slice.load(tmp_path / "all.json"),
        compare(by_slice, baseline="a", margin=0.02),
        pickle.loads(pickle.dumps(by_slice)),
    ):
        for value, found in by_slice.slices.items():
            other = again.slices[value]
            assert other.verdict == found.verdict
            assert other.decisions == found.decisions
            assert [pair.p_adjusted for pair in other.pairs()] == [
                pair.p_adjusted for pair in found.pairs()
            ]


def test_the_reports_of_a_slice_can_be_compared_for_themselves(by_slice, tmp_path):
    alone = compare(by_slice.slices[0].reports, baseline="a", margin=0.02)
    corrected = by_slice.slices[0]
    for one, other in zip(alone.pairs(), corrected.pairs(), strict=True):
        assert one.p_adjusted <= other.p_adjusted
    alone.save(tmp_path / "alone.json")


# Views by another metric


def test_names_are_best_first_by_the_metric_of_a_view():
    spread = np.linspace(0.1, 1, 40)
    factors = {
        "A": (0.9, 0.1),
        "B": (0.8, 0.9),
        "C": (0.7, 0.5),
    }
    reports = {}
    for name, (of_mrr, of_map) in factors.items():
        columns = {"qid": range(40), "mrr": spread * of_mrr, "map": spread * of_map}
        reports[name] = RankingReport.from_frame(columns)
    found = compare(reports)
    by_map = found.by_metric("map")
    alone = compare(reports, "map")
    assert found.names == ("A", "B", "C")
    assert by_map.names == ("B", "C", "A")
    assert by_map.by_metric("mrr").names == found.names
    for named in (by_map.reports, by_map.means(), by_map.regret):
        assert list(named) == list(alone.names)
    pairs = [(pair.first, pair.second) for pair in by_map.pairs()]
    assert pairs == [("B", "C"), ("B", "A"), ("C", "A")]
    for one, other in zip(by_map.pairs(), alone.pairs(), strict=True):
        assert one.interval == pytest.approx(other.interval, rel=1e-12)
    usual = by_map.pair()
    assert usual.first == "B"
    assert usual.second == "C"
    frame = by_map.to_frame()
    assert list(frame.index) == ["B", "C", "A"]
    for name, report in reports.items():
        assert frame.loc[name, "mrr"] == report.mean["mrr"]
        assert frame.loc[name, "map"] == report.mean["map"]
