"""Verdicts, decisions and prints of comparisons: each names its metric, and says what the attributes hold."""

import itertools
import json
import math

import numpy as np
import pytest
from support.shown import html_of

from skrank_metrics import compare, evaluate
from skrank_metrics._output.result import as_text
from skrank_metrics.datasets import make_ranking
from skrank_metrics.reports import RankingReport

X, Y, QID = make_ranking(60, random_state=0)


def of_values(values, **options):
    """Compare rankings given by a dict of values per query for each metric, by name."""
    reports = {}
    for name, columns in values.items():
        n_queries = len(next(iter(columns.values())))
        reports[name] = RankingReport.from_frame({"qid": np.arange(n_queries), **columns})
    return compare(reports, **options)


def noisy(mean, seed=0, n=100, spread=0.05):
    return np.clip(mean + spread * np.random.default_rng(seed).normal(size=n), 0, 1)


@pytest.fixture(scope="module")
def reports():
    metrics = ["ndcg@10", "mrr"]
    features = {"noise": 9, "second": 1, "first": 0}
    return {
        name: evaluate(Y, X[:, column], qid=QID, metrics=metrics)
        for name, column in features.items()
    }


# Skewed differences


def test_the_note_on_skewed_differences_names_the_ranking_that_loses():
    old = np.full(20, 0.5)
    # On 2 queries .1, on the others .003 on average the other way.
    d = np.r_[0.1, 0.1, np.linspace(-0.004, -0.002, 18)]
    for sign, loser in ((1, "old"), (-1, "new")):
        values = {"old": {"mrr": old}, "new": {"mrr": old + sign * d}}
        verdict = of_values(values, baseline="old", margin=0.05).verdict
        assert (
            f"on 2 of 20 queries, {loser} loses {0.1 / 0.003:.1f} times as much as it wins on the others"
            in verdict
        )


# Several metrics


# Margins


def test_all_metrics_guard_a_release():
    values = {
        "old": {"recall@10": noisy(0.50, 1), "mrr": noisy(0.5, 2)},
        "new": {"recall@10": noisy(0.55, 1), "mrr": noisy(0.4, 2)},
    }
    gate = of_values(values, baseline="old", margin=0.01)
    assert gate.decision == "do not ship"
    assert gate.decisions == {"new": "do not ship"}
    assert gate.verdict.startswith(
        "Do not ship new: by recall@10 it is better than old, but by mrr it loses "
    )
    assert gate.by_metric("mrr").decision == "do not ship"
    wide = compare(gate, baseline="old", margin={"recall@10": 0.01, "MRR": 0.2})
    assert wide.plan.margin == {"recall@10": 0.01, "mrr": 0.2}
    assert wide.decision == "ship"
    assert wide.by_metric("mrr").pair().verdict == "small loss"
    alone = compare(gate, "recall@10", baseline="old", margin=0.01)
    assert alone.verdict.startswith("Ship new: it is better than old, by ")


def test_every_other_ranking_must_pass_a_baseline():
    values = {
        "old": {"mrr": noisy(0.5, 1)},
        "good": {"mrr": noisy(0.6, 2)},
        "bad": {"mrr": noisy(0.3, 3)},
        "like": {"mrr": noisy(0.5, 4)},
    }
    gate = of_values(values, baseline="old", margin=0.001)
    expected = {"good": "ship", "like": "undecided", "bad": "do not ship"}
    assert gate.decisions == expected
    assert gate.decision == "do not ship"
    start = (
        "Against old, with a margin of 0.001 (95% confidence): Ship: good (better). Not yet: like "
    )
    assert gate.verdict.startswith(start)
    del values["bad"]
    assert of_values(values, baseline="old", margin=0.001).decision == "undecided"
    del values["like"]
    assert of_values(values, baseline="old", margin=0.001).decision == "ship"


def tens(number):
    """A number rounded up to tens."""
    return f"{math.ceil(number / 10) * 10:,}"


SEVERAL = {
    "old": {"mrr": noisy(0.5, 1)},
    "other": {"mrr": noisy(0.4, 2)},
    "good": {"mrr": noisy(0.6, 3)},
    "bad": {"mrr": noisy(0.45, 4)},
    "like": {"mrr": noisy(0.5, 5)},
}


@pytest.mark.option("compare.baseline")
def test_a_ranking_must_pass_all_of_several_baselines():
    gate = of_values(SEVERAL, baseline=["old", "other"], margin=0.001)
    assert gate.decisions == {"good": "ship", "like": "undecided", "bad": "do not ship"}
    assert gate.decision == "do not ship"
    assert "Ship: good (better than old). " in gate.verdict
    assert "Do not ship: bad (worse than old)." in gate.verdict
    only_other = compare(gate, baseline="other", margin=0.001)
    assert set(only_other.decisions.values()) == {"ship"}, "bad passes one of them"


def test_beside_several_baselines_each_row_names_the_one_that_decides():
    found = of_values(SEVERAL, baseline=["old", "other"])
    assert found.verdict == (
        "good is better than each of old and other; like is undecided; bad is worse (95% confidence)."
    )
    rivals = {row.name: row.reference for row in found.standings() if row.status != "baseline"}
    assert rivals == {"good": "old", "bad": "old", "like": "old"}
    pairs = [(pair.first, pair.second) for pair in found.pairs()]
    candidates = [name for name in found.names if name in rivals]
    assert pairs == list(itertools.product(candidates, ("old", "other")))
    usual = found.pair()
    assert usual.first == "good", "the best of each kind"
    assert usual.second == "old", "the best of each kind"
    assert found.outcome().decision.n_tests == 3 * 2
    frame = found.to_frame()
    assert frame["mrr baseline"].dropna().to_dict() == rivals
    baselines = {name: row["mrr"].get("baseline") for name, row in found.to_dict().items()}
    assert baselines == {"old": None, "other": None, **rivals}
    for baselines in (["old", "other"], ["other", "old"]):
        text = str(compare(found, baseline=baselines))
        (line,) = [line for line in text.splitlines() if line.startswith("bad ")]
        assert line.endswith("worse than old")


def test_of_open_baselines_the_one_that_leads_most_decides_in_both_directions():
    means = {"new": 0.5, "near": 0.499, "far": 0.495, "behind": 0.505}
    values = {}
    for seed, (name, mean) in enumerate(means.items()):
        shuffled = np.random.default_rng(seed).permutation(noisy(mean, 1))
        values[name] = {"fall_out@3": shuffled}
    found = of_values(values, baseline=["near", "far", "behind"])
    (row,) = [row for row in found.standings() if row.name == "new"]
    assert row.status == "undecided", "of which smaller values are better"
    assert row.reference == "far", "of which smaller values are better"
    assert row.difference == pytest.approx(0.005)


def test_several_baselines_are_saved_and_one_in_a_list_is_one(tmp_path):
    found = of_values(SEVERAL, baseline=["old", "other"])
    found.save(tmp_path / "comparison.json")
    again = found.load(tmp_path / "comparison.json")
    assert again.plan == found.plan
    assert str(again) == str(found)
    assert compare(found, baseline=["old"]).plan.baseline == "old"


@pytest.mark.parametrize(
    ("baseline", "message"),
    [
        (["old", "x"], "baseline must be one of"),
        (["old", "old"], "baseline must have different names; got 'old' more than once"),
        ([], "baseline must name a ranking; got none"),
        (list(SEVERAL), "baseline must leave a ranking to compare with it; got all: old, other"),
    ],
)
def test_baselines_that_cannot_be(baseline, message):
    with pytest.raises(ValueError, match=message):
        of_values(SEVERAL, baseline=baseline)


def test_the_number_of_queries_that_would_decide_is_printed_if_it_can_be_trusted():
    values = {"old": {"mrr": noisy(0.5, 1)}, "new": {"mrr": noisy(0.5, 2)}}
    gate = of_values(values, baseline="old", margin=0.005)
    needed = gate.queries_needed(0.005)
    assert needed > 100
    assert f"as good as old, about {tens(needed)} queries are needed to show it" in gate.verdict
    few = of_values(
        {name: {"mrr": own["mrr"][:20]} for name, own in values.items()},
        baseline="old",
        margin=0.005,
    )
    assert few.decision == "undecided"
    assert few.verdict.endswith(", more than the margin of 0.005 (95% confidence).")


def test_the_number_of_queries_is_about_the_pairs_that_are_open():
    new = noisy(0.6, 1, spread=0.01)
    old = np.clip(new + noisy(0.0, 2, spread=0.02) - noisy(0.0, 3, spread=0.02), 0, 1)
    values = {"new": new, "old": old, "erratic": noisy(0.3, 4, spread=0.2)}
    gate = of_values(
        {name: {"mrr": own} for name, own in values.items()},
        baseline=["old", "erratic"],
        margin=0.003,
    )
    assert [pair.verdict for pair in gate.pairs()] == ["undecided", "better"]
    needed = gate.queries_needed(0.003, first="new", second="old")
    assert 100 < needed < gate.queries_needed(0.003, first="new", second="erratic")
    assert f"as good as old and erratic, about {tens(needed)} queries are needed" in str(gate)


def test_no_number_of_queries_is_printed_if_there_are_as_many():
    ranks = np.random.default_rng(0).permutation(np.arange(40))
    steps = (ranks - ranks.mean()) / ranks.std()
    # So many queries would show that equal rankings are equal, but the new one may be worse.
    values = {"old": {"mrr": np.full(40, 0.6)}, "new": {"mrr": 0.55 + 0.2 * steps}}
    gate = of_values(values, baseline="old", margin=0.1)
    assert gate.queries_needed(0.1) < 40
    assert gate.decision == "undecided"
    assert gate.verdict.endswith(", more than the margin of 0.1 (95% confidence).")


def test_no_number_of_queries_is_printed_that_holds_for_some_rankings_only():
    old = noisy(0.5, 1)
    few = old.copy()
    few[:2] -= 0.1
    few[2] += 0.1
    values = {"old": old, "new": noisy(0.5, 2), "few": few}
    gate = of_values(
        {name: {"mrr": own} for name, own in values.items()}, baseline="old", margin=0.001
    )
    assert gate.decisions == {"few": "undecided", "new": "undecided"}
    assert "queries are needed" not in str(gate)
    both = of_values(
        {name: {"mrr": values[name]} for name in ("old", "new")}, baseline="old", margin=0.001
    )
    assert "queries are needed to show it" in both.verdict


def test_a_metric_that_only_knows_more_about_the_best_contradicts_nothing():
    close = noisy(0.5, 1, spread=0.02)
    apart = noisy(0.502, 2, spread=0.02) - 0.5
    values = {
        "a": {"map": close + 0.3 + apart, "mrr": close + 0.3 + apart},
        "b": {"map": close + 0.3, "mrr": close + 0.2},
        "c": {"map": close, "mrr": close},
    }
    comparison = of_values(values)
    assert len(comparison.best_set) == 2
    assert comparison.by_metric("mrr").best_set == ("a",)
    assert comparison.names[0] == "a"
    assert comparison.verdict.startswith("By map, a scores highest; b may be as good; c is worse.")
    assert "mrr," not in comparison.verdict


def test_equal_rankings_need_more_queries_if_there_are_more_of_them():
    values = {name: {"mrr": noisy(0.5)} for name in "abcd"}
    gate = of_values(values, baseline="a", margin=0.01)
    # So many queries without a difference exclude, for three pairs together, that more than 1% of them differ.
    needed = math.ceil(math.log(0.05 / 3 / 2) / math.log(1 - 0.01))
    assert needed > math.ceil(math.log(0.05 / 2) / math.log(1 - 0.01)) == 368
    assert f"as good as a, about {tens(needed)} queries are needed to show it" in str(gate)


@pytest.mark.parametrize(
    ("margin", "error", "message"),
    [
        (1, ValueError, "margin must be less than 1, the range of ndcg@10; got 1"),
        ({"ndcg@10": 0.1, "mrr": 5}, ValueError, "less than 1, the range of mrr; got 5"),
        (
            {"ndcg@10": 0.1, "mrr": -1},
            ValueError,
            r"margin\['mrr'\] must be a number in \[0, inf\); got -1",
        ),
        (
            {"ndcg@10": 0.1, "mrr": 0.1, "map": 0.1},
            ValueError,
            "the metric in margin must be one of",
        ),
        (
            {"ndcg@10": 0.1, "mrr": 0.01, "recip_rank": 0.3},
            ValueError,
            "margin must have one number per metric; got ndcg@10, mrr, recip_rank",
        ),
        ({}, ValueError, "margin must hold a number for some metric; got an empty dict"),
        ("0.1", TypeError, "margin must be a number"),
    ],
)
def test_margins_that_make_no_sense_are_refused(reports, margin, error, message):
    with pytest.raises(error, match=message):
        compare(reports, baseline="noise", margin=margin)


def test_metrics_that_cannot_be_tested_have_no_margin(reports):
    median = {
        name: evaluate(Y, X[:, column], qid=QID, metrics=["mrr", "mrr(average=median)"])
        for name, column in (("a", 0), ("b", 1))
    }
    with pytest.raises(ValueError, match="metric must be a mean over queries; got 'mrr"):
        compare(median, baseline="a", margin=0.1)
    gate = compare(median, baseline="a", margin={"mrr": 0.1})
    assert gate.by_metric("mrr(average=median)").outcome().margin is None


# The print


def test_the_table_shows_what_the_attributes_hold(reports):
    comparison = compare(reports)
    (table,), _ = html_of(comparison)
    assert str(comparison).startswith(comparison.verdict[:40])
    assert table[0] == ["", "ndcg@10", "minus first", "95% interval", "status", "mrr"]
    leader, *others = comparison.standings()
    by_mrr = comparison.by_metric("mrr").means()
    assert table[1][:5] == [leader.name, f"{leader.mean:.4f}", "", "", leader.status]
    for row, one in zip(table[2:], others, strict=True):
        name, mean, behind, interval, status, mrr = row
        low, high = one.interval
        assert name == one.name
        assert mean == f"{one.mean:.4f}"
        assert behind == f"{one.difference:+.4f}"
        assert interval == f"[{low:+z.4f}, {high:+z.4f}]"
        assert status == one.status
        assert mrr == f"{by_mrr[one.name]:.4f}"
        assert (high < 0) == (status == "worse")
    beside = compare(reports, "mrr", baseline="noise", confidence=0.9)
    (table,), _ = html_of(beside)
    assert table[0] == ["", "mrr", "minus noise", "90% interval", "status"]
    for row, one in zip(table[1:-1], beside.standings(), strict=False):
        name, mean, difference, interval, status = row
        low, high = one.interval
        assert name == one.name
        assert mean == f"{one.mean:.4f}"
        assert difference == f"{one.difference:+.4f}"
        assert interval == f"[{low:+z.4f}, {high:+z.4f}]"
        assert status == one.status


def test_ends_of_intervals_next_to_0_show_their_side():
    assert as_text((1e-300, 0.5)) == "[1.0e-300, 0.5000]"
    assert as_text((-1e-6, 0.5)) == "[-0.000001, 0.5000]"
    assert as_text((0.0, np.inf)) == "[0.0000, inf]"
    assert as_text((np.nan, np.nan)) == "none"


@pytest.mark.parametrize("n_rankings", [2, 5, 40])
@pytest.mark.parametrize(
    "options", [{}, {"baseline": "ranking 1"}, {"baseline": "ranking 1", "margin": 0.01}]
)
def test_prints_are_short(n_rankings, options):
    values = {
        f"ranking {i}": {"ndcg@10": noisy(0.5 - i / 200, i), "mrr": noisy(0.5 + i / 200, i)}
        for i in range(n_rankings)
    }
    lines = str(of_values(values, **options)).splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 24 - 5 + n_rankings


@pytest.mark.parametrize("baseline", ["lambdamart_production", "models/production/" * 5])
def test_a_long_name_of_a_baseline_leaves_room_for_its_table(baseline):
    values = {
        "new": {"ndcg@10": noisy(0.5, 1), "mrr": noisy(0.5, 1)},
        baseline: {"ndcg@10": noisy(0.5, 2), "mrr": noisy(0.5, 2)},
    }
    comparison = of_values(values, baseline=baseline)
    heads = html_of(comparison)[0][0][0]
    assert heads == ["", "ndcg@10", "minus baseline", "95% interval", "status", "mrr"]
    assert "95% interval  status" in str(comparison), "in one block"


def test_names_are_escaped(reports):
    two = compare({"<b>\x1b": reports["first"], "c": reports["second"]}, "mrr")
    assert "<b>\\x1b" in two.verdict
    assert ">&lt;b&gt;\\x1b<" in two._repr_html_()


def test_a_dict_for_json_has_what_the_standings_have(reports):
    comparison = compare(reports, baseline="noise")
    found = comparison.to_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert list(found) == list(comparison.names)
    for metric in comparison.metrics:
        for row in comparison.by_metric(metric).standings():
            known = found[row.name][metric]
            assert known["mean"] == row.mean
            assert known["status"] == row.status
            if row.status != "baseline":
                assert known["difference"] == row.difference
                assert (known["low"], known["high"]) == row.interval


@pytest.mark.option("Comparison.to_dict.flat")
def test_a_flat_dict_has_one_level_of_numbers():
    values = {"old": {"mrr@10": noisy(0.5, 1)}, "new one": {"mrr@10": noisy(0.55, 2)}}
    found = of_values(values, baseline="old")
    flat = found.to_dict(flat=True)
    (row,) = [row for row in found.standings() if row.name == "new one"]
    start = "new_x20_one_mrr_at_10"
    assert flat == {
        "old_mrr_at_10": found.means()["old"],
        start: row.mean,
        f"{start}_difference": row.difference,
        f"{start}_low": row.interval[0],
        f"{start}_high": row.interval[1],
        f"{start}_p": row.p_value,
    }
    both = {"mrr": noisy(0.5, 1), "b_mrr": noisy(0.5, 2)}
    twice = {"a": both, "a_b": both}
    with pytest.raises(ValueError, match="gives the key 'a_b_mrr' of another one"):
        of_values(twice).to_dict(flat=True)


def test_effects_are_mean_differences_in_standard_deviations():
    values = {"old": {"mrr": noisy(0.5, 1)}, "new": {"mrr": noisy(0.55, 2)}}
    differences = values["new"]["mrr"] - values["old"]["mrr"]
    frame = of_values(values, baseline="old").to_frame()
    effect = differences.mean() / differences.std(ddof=1)
    assert frame.loc["new", "mrr effect"] == pytest.approx(effect, rel=0.01)
    assert np.isnan(frame.loc["old", "mrr effect"])
    pairs = of_values(values, baseline="old").to_frame(pairs=True)
    assert pairs["effect"].tolist() == [frame.loc["new", "mrr effect"]]
    same = {"a": {"mrr": np.full(9, 0.5)}, "b": {"mrr": np.full(9, 0.6)}}
    assert np.isnan(of_values(same).to_frame().loc["a", "mrr effect"]), "no spread"
