"""Ways of counting, found by the value that they give."""

import functools
import itertools
import math
from collections import Counter

import numpy as np
import pytest

from skrank_metrics import evaluate, get_metric, make_metric, ndcg_score, with_qid
from skrank_metrics.conventions import match_convention
from skrank_metrics.metrics import get_metric_names
from skrank_metrics.metrics.conventions import CONVENTIONS

D = 1 / math.log2(3)  # discount of the second rank
# Query "a" has grade 1 above grade 2; "b" has no relevant document.
TIES = ("average", "best", "worst", "stable")
Y = [1, 2, 0]
SCORES = [2, 1, 0]
QID = ["a", "a", "b"]
LINEAR = (1 + 2 * D) / (2 + D)
EXP2 = (1 + 3 * D) / (3 + D)


@pytest.fixture(scope="module")
def rows():
    """Queries with ties, without relevant documents and with relevant ones only, and labels between the thresholds."""
    rng = np.random.default_rng(0)
    sizes = rng.choice([1, 12, 40], 25, p=[0.2, 0.6, 0.2])  # few lengths, which are fast
    qid = np.repeat(range(25), sizes)
    labels = rng.integers(0, 5, len(qid)) / 4
    scores = rng.integers(0, 30, len(qid)) / 8
    labels[np.isin(qid, [3, 4, 5])] = 0
    labels[np.isin(qid, [6, 7])] = 1
    return labels, scores, qid


@pytest.fixture(scope="module")
def match_of(rows):
    """The match of a metric with a value, which several libraries share."""
    labels, scores, qid = rows

    @functools.cache
    def match(metric, value):
        return match_convention(labels, scores, qid=qid, value=value, metric=metric)

    return match


@pytest.mark.parametrize(
    ("peer", "name"), [(peer, name) for peer in CONVENTIONS for name in CONVENTIONS[peer].names]
)
@pytest.mark.slow
def test_the_way_of_each_library_is_found_first(peer, name, rows, match_of):
    labels, scores, qid = rows
    metric = get_metric(name, convention=peer)
    value = metric(labels, scores, qid=qid)
    match = match_of(name, value)
    first = next(way for way in match.ways if peer in way.peers)
    assert first in match.matches
    assert all(way.peers for way in match.ways[: match.ways.index(first)])
    assert first.value == pytest.approx(value, abs=1e-12)
    for name, option in first.metric.values.items():
        assert name == "k" or str(option) == str(metric.get(name))
    assert first.metric(labels, scores, qid=qid) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("name", get_metric_names())
def test_every_way_gives_its_value(name, rows):
    labels, scores, qid = (column[rows[2] < 12] for column in rows)
    metric = f"{name}@3" if get_metric(name).record.has_cutoff else name
    value = get_metric(metric)(labels, scores, qid=qid)
    match = match_convention(labels, scores, qid=qid, value=value, metric=metric)
    assert match.matches[0].distance == pytest.approx(0, abs=1e-12)
    distances = [abs(way.distance) for way in match.ways]
    np.testing.assert_allclose(distances, sorted(distances), rtol=0, atol=1e-12)
    for way in match.ways[:5]:
        assert way.metric(labels, scores, qid=qid) == pytest.approx(way.value, abs=1e-12)
        assert way.distance == way.value - value


@functools.cache
def matched(value, **options):
    return match_convention(Y, SCORES, qid=QID, value=value, **options)


def test_all_usual_ways_by_hand():
    match = matched(0.8984, metric="ndcg(discount=log2, ideal=judged)")
    expected = {}
    cutoffs = (1, 3, 5, 10, 20, 32, 50, 100, 1000, None)
    for gain, whole, first in (("linear", LINEAR, 1 / 2), ("exp2", EXP2, 1 / 3)):
        for k, ties in itertools.product(cutoffs, TIES):
            value = first if k == 1 else whole
            way = str(k), gain, ties
            expected[*way, "0.0"] = value / 2
            expected[*way, "1.0"] = (value + 1) / 2
            expected[*way, "nan"] = value
    values = {}
    for way in match.ways:
        names = ("k", "gain", "ties", "replace_undefined_by")
        options = tuple(str(way.metric.get(name)) for name in names)
        if "binary" not in options:
            values[options] = way.value
    assert values == pytest.approx(expected)


def test_the_ways_of_libraries_by_hand():
    match = matched(0.8984)
    near = [way.value for way in match.matches]
    assert near == pytest.approx([(EXP2 + 1) / 2] * len(near))
    first = match.matches[0]
    assert first.peers == ("lightgbm", "xgboost")
    assert str(first.metric) == "ndcg(gain=exp2, ties=stable, replace_undefined_by=1.0)"
    by_labels = match_convention(with_qid(Y, QID), SCORES, value=0.8984)
    assert by_labels.matches[0].peers == first.peers
    plain = matched(LINEAR / 2).matches[0]
    assert str(plain.metric) == "ndcg"
    assert "sklearn" in plain.peers


@pytest.mark.parametrize("peer", ["sklearn", "lightgbm", "xgboost", "catboost", "trec_eval"])
def test_users_of_every_library_choose_the_cutoff(peer):
    match = matched(0.8984)
    cutoffs = {way.metric.get("k") for way in match.ways}
    assert {way.metric.get("k") for way in match.ways if peer in way.peers} == cutoffs


@pytest.mark.parametrize("name", ["map", "recall"])
def test_of_equally_near_ways_those_of_libraries_come_first(name):
    labels = [2, 1, 0, 0, 1]
    scores = [3, 2, 1, 0, 0]
    qid = [0, 0, 0, 1, 1]
    match = match_convention(labels, scores, qid=qid, value=0.7, metric=name)
    changes = Counter()
    for one, other in itertools.pairwise(match.ways):
        if abs(one.distance) == pytest.approx(abs(other.distance)):
            changes[bool(one.peers), bool(other.peers)] += 1
    assert changes[True, False] > 0
    assert changes[False, True] == 0


def test_parameters_that_the_metric_sets_are_not_varied():
    match = matched(0.5, metric="ndcg(gain=linear)@1")
    varied = {name for way in match.ways for name in way.metric.params}
    assert varied == {"gain", "k", "discount", "ideal", "ties", "replace_undefined_by"}
    assert {way.metric.get("gain") for way in match.ways} == {"linear"}
    assert {way.metric.k for way in match.ways} == {1}
    judged = [way.value for way in match.ways if way.metric.get("ideal") == "judged"]
    assert list(dict.fromkeys(judged)) == [1 / 2, 1 / 4, 3 / 4]
    bound = get_metric("map", k=1, replace_undefined_by=1.0)
    of_bound = matched(0.5, metric=bound)
    assert {way.metric.k for way in of_bound.ways} == {1}
    assert matched(1, metric=ndcg_score).metric == "ndcg"


@pytest.mark.parametrize(
    ("value", "tolerance"),
    [
        (0.8984, 5e-5),
        (0.898, 5e-4),
        (0.9, 5e-3),
        (1, 5e-3),
        (0.8983461, 1e-6),
        (0.89835, 5e-6),
    ],
)
def test_tolerance_is_half_a_unit_of_the_last_digit(value, tolerance):
    assert matched(value, metric="mrr").tolerance == pytest.approx(tolerance)


@pytest.mark.parametrize(
    ("label", "value", "tolerance"),
    [
        (900.0, 899.8, 0.05),
        (9000.0, 8998, 0.5),
        (90.0, 89, 5e-3 * 89),
        (9000.0, 8999.99999999, 1e-6 * 9000),
    ],
)
def test_tolerance_of_large_values(label, value, tolerance):
    match = match_convention([[label]], [[1.0]], value=value, metric="cg")
    assert match.tolerance == pytest.approx(tolerance)


def test_tolerance_that_is_given():
    value = (EXP2 + 1) / 2
    assert matched(value, tolerance=0).matches[0].value == value
    wide = matched(value, tolerance=0.1)
    assert len(wide.matches) == sum(abs(way.value - value) <= 0.1 for way in wide.ways) > 1


@pytest.mark.parametrize(
    ("value", "given"),
    [
        ((3 * EXP2 + 1) / 4, {"sample_weight": [3, 3, 1]}),
        # The document of grade 2 counts in the ideal order only.
        ((1 / (3 + D) + 1) / 2, {"retrieved": [True, False, True]}),
        ((D + 1) / 2, {"judged": [False, True, True]}),
    ],
)
def test_weights_and_masks_of_the_matched_mean(value, given):
    match = match_convention(evaluate(Y, SCORES, qid=QID, **given), value=value)
    assert match.matches[0].value == pytest.approx(value)
    assert ("lightgbm", "xgboost") in [way.peers for way in match.matches]


def test_text_names_the_way_and_what_the_data_cannot_distinguish():
    assert str(matched(0.8984)).splitlines() == [
        "ndcg = 0.8984: 171 of 2790 ways of computing it match, within 0.00005",
        "metric                        ways    value  distance  as in",
        "ndcg(gain=exp2, ties=stable,   171  0.89835  -0.00005  lightgbm, xgboost",
        "replace_undefined_by=1.0)",
        "Pass convention='lightgbm' or 'xgboost'.",
    ]


def test_text_if_nothing_or_much_matches(rows):
    nothing = " ".join(str(match_convention(Y, SCORES, qid=QID, value=0.99)).split())
    assert nothing.startswith(
        "ndcg = 0.99: none of 2790 ways of computing it matches, within 0.005 "
    )
    assert "These are the nearest. Check that the value was computed" in nothing
    assert "from these labels, scores, ids and weights." in nothing
    labels, scores, qid = rows
    much = match_convention(labels, scores, qid=qid, value=0.7, tolerance=0.3)
    text = " ".join(str(much).split())
    assert f"{len(much.matches)} of {len(much.ways)} ways of computing it match, within 0.3" in text
    assert len(much.to_frame()) == 5, "the nearest values"


def test_frame_has_the_rows_that_are_printed():
    match = matched(0.8984)
    frame = match.to_frame()
    assert list(frame) == ["metric", "ways", "value", "distance", "peers"]
    (row,) = frame.itertuples(index=False)
    first = match.matches[0]
    assert row.metric == str(first.metric)
    assert row.ways == len(match.matches)
    assert row.value == first.value
    assert row.distance == first.distance
    assert row.peers == "lightgbm, xgboost"
    assert match.to_frame(library="polars")["peers"].to_list() == [row.peers]


def test_what_is_tried_beside_the_conventions():
    match = matched(0.5)
    ideals = {way.metric.get("ideal") for way in match.ways}
    assert ideals == {"judged", "shown", "all", "retrieved", "top", 2.0}
    labels = [0.25, 0.75, 1]
    found = match_convention(labels, [3, 2, 1], qid=[0] * 3, value=0.5, metric="mrr")
    thresholds = {way.metric.get("relevance_threshold") for way in found.ways}
    assert thresholds == {None, math.nextafter(0.5, 1), 1}


def test_higher_grades_are_tried_as_thresholds():
    # The first documents of grade 2 or more are at ranks 2 and 4.
    labels = [[1, 2, 0, 3], [1, 0, 1, 9]]
    scores = [[4, 3, 2, 1]] * 2
    mean = (1 / 2 + 1 / 4) / 2
    match = match_convention(labels, scores, metric="mrr", value=mean)
    assert str(match.matches[0].metric) == "mrr(relevance_threshold=2)"
    thresholds = {way.metric.get("relevance_threshold") for way in match.ways}
    assert thresholds >= {2, 3, 4, 5}


def test_gains_that_the_labels_do_not_allow_are_left_out():
    match = matched(0.5, metric="err")
    assert {way.metric.get("gain") for way in match.ways} == {"binary", "exp2"}
    with pytest.raises(ValueError, match="y_true must be at most 1 for gain='linear'"):
        match_convention(Y, SCORES, qid=QID, value=0.5, metric="err(gain=linear)")


def test_ratios_pooled_over_documents_are_tried():
    # As in implicit: hits of all users, divided by the hits that perfect lists of two would have.
    found = match_convention(
        [1, 0, 1, 1, 0],
        [3, 2, 1, 2, 1],
        qid=[0, 0, 0, 1, 1],
        metric="precision@2",
        value=(1 + 1) / (2 + 1),
    )
    pooled = {"average": "micro", "divisor": "min"}
    assert any(way.metric.values.items() >= pooled.items() for way in found.matches)
    of_ndcg = match_convention([1, 0], [2, 1], qid=[0, 0], value=1)
    assert {way.metric.average for way in of_ndcg.ways} == {"macro"}


def test_no_ideal_grade_is_tried_that_gains_less_than_another():
    metric = get_metric("ndcg", gain=[0, 5, 2])
    found = match_convention([1, 2, 0], [2, 1, 0], qid=["a", "a", "b"], metric=metric, value=0.5)
    assert {way.metric.get("ideal") for way in found.ways}.isdisjoint({1.0, 2.0})


def test_options_of_a_metric_of_your_own_are_left_as_they_are():
    metric = make_metric(
        lambda labels, gain=2: gain * labels[0], name="first_of_mine", bounds=(0, 10)
    )
    match = match_convention([[1, 0], [0, 1]], [[2, 1], [2, 1]], value=1, metric=metric)
    assert match.ways[0].value == 1
    assert {way.metric.get("gain") for way in match.ways} == {2}


def test_memory_is_bounded_by_parts_of_the_ways(rows, monkeypatch):
    labels, scores, qid = rows
    whole = match_convention(labels, scores, qid=qid, value=0.5)
    monkeypatch.setattr("skrank_metrics.conventions._match_convention.MOST_VALUES", 3 * 25)
    parts = match_convention(labels, scores, qid=qid, value=0.5)
    assert [way.value for way in parts.ways] == [way.value for way in whole.ways]
    assert [str(way.metric) for way in parts.ways] == [str(way.metric) for way in whole.ways]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"value": "much"}, TypeError, "value must be a finite number; got 'much'"),
        ({"value": math.nan}, ValueError, "value must be a finite number; got nan"),
        ({"value": [0.9]}, TypeError, "value must be a finite number; got"),
        ({"value": 0.5, "tolerance": -1}, ValueError, r"tolerance must be a number in \[0, inf\)"),
        ({"value": 0.5, "metric": "ndgc"}, ValueError, "Did you mean 'ndcg'"),
        (
            {"value": 0.5, "metric": get_metric("ndcg", average=None)},
            ValueError,
            "average must not be None where a single value",
        ),
        ({"value": 0.5, "qid": None}, TypeError, "query id"),
    ],
)
def test_bad_input(options, error, message):
    with pytest.raises(error, match=message):
        match_convention(Y, SCORES, **{"qid": QID, **options})


def test_no_unlikely_way_is_tried_if_a_likely_one_gives_all_digits(rng):
    qid = np.repeat(np.arange(40), 10)
    rows = {"y_true": rng.integers(0, 5, 400), "y_score": rng.random(400).round(1), "qid": qid}
    lightgbm = get_metric("ndcg@10", convention="lightgbm")
    value = lightgbm(**rows)
    found = match_convention(**rows, metric="ndcg", value=value)
    assert any("lightgbm" in way.peers for way in found.matches)
    # Each cutoff, with one other change, or as a convention has it.
    assert all(
        len(way.metric.params.keys() - {"k", "replace_undefined_by"}) <= 1
        or way.metric.get("ties") != "average"
        for way in found.ways
    )
    every = match_convention(**rows, metric="ndcg", value=round(value, 4))
    assert len(every.ways) > 2 * len(found.ways)
    # A way that nobody takes has to be looked for among all.
    unlikely = get_metric("ndcg(gain=exp2, discount=reciprocal, ties=best)@5")(**rows)
    assert len(match_convention(**rows, metric="ndcg", value=unlikely).ways) == len(every.ways)
