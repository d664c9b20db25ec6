"""Random reports: why conventions differ, and which one gives a value, against every way one by one."""

import itertools
import math

import numpy as np
import pytest
from support.random_rows import random_rows, rows_at
from support.shown import words

from skrank_metrics import evaluate, get_metric
from skrank_metrics.conventions import explain_difference, match_convention
from skrank_metrics.metrics.conventions import CONVENTIONS
from skrank_metrics.metrics.names import in_convention

# Parameters in the order of the causes, and the words for them.
WORDS = {
    "k": "cutoff",
    "relevance_threshold": "relevance threshold",
    "gain": "gain",
    "discount": "discount",
    "ideal": "ideal",
    "p": "p",
    "normalizer": "divisor",
    "divisor": "divisor",
    "ties": "ties",
    "replace_undefined_by": "queries without a value",
}
METRICS = (
    "ndcg@2",
    "ndcg",
    "dcg@3",
    "map(relevance_threshold=2)@3",
    "map(average=median)",
    "precision(average=micro)@2",
    "precision@2",
    "recall@2",
    "rbp(gain=binary)@3",
    "mrr",
    "neg_fall_out@2",
    "auc",
    "bpref",
)


def random_report(random):
    """Arguments for a report, one of its slices, or rows without options; and the rows that are meant."""
    rows = random_rows(random)
    plain = {name: rows[name] for name in ("y_true", "y_score", "qid")}
    if random.random() < 0.2:
        return plain, plain
    report = evaluate(**rows, metrics="mrr")
    slices = list(report.slices.values())
    if slices and random.random() < 0.7:
        report = slices[random.integers(len(slices))]
    ids = report.qid.tolist()
    places = [place for place, query in enumerate(rows["qid"].tolist()) if query in ids]
    return {"y_true": report}, rows_at(rows, places)


def mean_by(rows, metric):
    """The mean by a metric; NaN if no query counts."""
    if not np.any(rows.get("sample_weight", 1)):
        return math.nan
    return evaluate(**rows, metrics={"m": metric}).mean["m"]


# Why two conventions differ


def effects_of(rows, first, second, names):
    """The mean effect of each change over all orders of the changes."""
    means = {}
    for n in range(len(names) + 1):
        for changed in itertools.combinations(names, n):
            metric = first.replace(**{name: second.get(name) for name in changed})
            means[frozenset(changed)] = mean_by(rows, metric)
    effects = {name: [] for name in names}
    for order in itertools.permutations(names):
        for place, name in enumerate(order):
            before = frozenset(order[:place])
            effects[name].append(means[before | {name}] - means[before])
    own = {name: math.fsum(steps) / len(steps) for name, steps in effects.items()}
    return own, means[frozenset()], means[frozenset(names)]


def printed_cause(name, first, second):
    old = first.get(name)
    new = second.get(name)
    if name != "replace_undefined_by":
        return f"{WORDS[name]}: {old} -> {new}"
    sign = -1 if first.negative else 1
    return f"queries with {first.undefined} count as {sign * new or 0:g}, not {sign * old or 0:g}"


def number(value, spec):
    """A number as tables write it, without the sign of a negative zero."""
    text = format(value, spec)
    return text.replace("-", "+" if "+" in spec else "") if float(text) == 0 else text


def random_pair(random, name):
    """Two conventions, one of which mostly has settings of its own, or remarks, for a metric."""
    having = [one for one, own in CONVENTIONS.items() if own.own.get(name) or name in own.differs]
    pair = random.choice(list(CONVENTIONS), 2).tolist()
    if having and random.random() < 0.7:
        pair[random.integers(2)] = str(random.choice(having))
    return tuple(pair)


@pytest.mark.parametrize("seed", range(24))
def test_differences_between_conventions_are_their_changes_one_by_one(seed):
    random = np.random.default_rng([seed, 3])
    given, rows = random_report(random)
    name = str(random.choice(METRICS))
    pair = random_pair(random, get_metric(name).record.name)
    first, second = (in_convention(name, convention) for convention in pair)
    changed = [one for one in WORDS if str(first.get(one)) != str(second.get(one))]
    effects, start, end = effects_of(rows, first, second, changed)
    if math.isnan(start) or math.isnan(end):
        return
    found = explain_difference(**given, metric=name, conventions=pair)
    assert found.metric == name
    assert found.conventions == pair
    assert (found.start, found.end) == pytest.approx((start, end), abs=1e-12)
    changes = {one: f"{first.get(one)} -> {second.get(one)}" for one in changed}
    expected = [(WORDS[one], changes[one], effects[one]) for one in changed]
    frame = found.to_frame()
    assert list(frame.columns) == ["cause", "change", "effect"]
    for own, *rows in zip(expected, found.causes, frame.itertuples(), strict=True):
        for row in rows:
            assert (row.cause, row.change) == own[:2]
            assert row.effect == pytest.approx(own[2], abs=1e-12)
    lines = [
        f"{name}: {number(start, '.4f')} by {pair[0]}, {number(end, '.4f')} by {pair[1]} effect"
    ]
    steps = {one: number(effect, "+.4f") for one, effect in effects.items()}
    lines += [f"{printed_cause(one, first, second)} {steps[one]}" for one in changed]
    lines.append(f"gap {number(end - start, '+.4f')}")
    if changed:
        lines.append(f"To get {pair[1]}'s value, pass convention={pair[1]!r}.")
    remarks = []
    for convention in pair:
        remark = CONVENTIONS[convention].differs.get(first.record.name)
        if remark is not None:
            remarks.append(f"Not reproduced from {convention}: {remark}")
    assert found.not_imitated == remarks
    assert words(found) == words(" ".join(lines + remarks))


# Which convention gives a value


CUTOFFS = (None, 1, 3, 5, 10, 20, 50, 100, 1000)
TRIED = {
    "k": CUTOFFS,
    "gain": ("binary", "linear", "exp2"),
    "discount": ("log2", "jarvelin", "reciprocal"),
    "ideal": ("judged", "shown", "all", "retrieved", "top"),
    "normalizer": ("min", "relevant", "hits", "k"),
    "divisor": ("k", "retrieved", "min"),
    "ties": ("average", "best", "worst", "stable"),
    "replace_undefined_by": (0.0, 1.0, math.nan),
}
MATCHED = ("mrr", "map@3", "precision@2", "recall", "ndcg(ties=worst)@2", "dcg@3", "fall_out@2")
POOLED = ("precision", "recall", "fall_out")


def ways_of(bound, rows):
    """All combinations of parameters, as text, that are tried."""
    peers = {}
    for peer, convention in CONVENTIONS.items():
        if bound.record.name in convention.names:
            peers[peer] = in_convention(bound, peer)
    is_judged = rows.get("judged", np.ones(len(rows["y_true"]), dtype=bool))
    largest = np.where(is_judged, rows["y_true"], 0).max()
    names = [name for name in WORDS if name in bound.values and name not in bound.params]
    choices = {}
    for name in names:
        values = [
            bound.get(name),
            *TRIED.get(name, ()),
            *(peer.get(name) for peer in peers.values()),
        ]
        if name == "relevance_threshold":
            values += [grade for grade in range(2, 6) if grade <= largest]
        if name == "ideal":
            values.append(float(largest))
        choices[name] = list({str(value): value for value in values}.values())
    if bound.record.name.removeprefix("neg_") in POOLED:
        choices["average"] = ["macro", "micro"]
    ways = {}
    for combination in itertools.product(*choices.values()):
        options = dict(zip(choices, combination, strict=True))
        if is_tried(bound, options):
            ways[tuple(map(str, combination))] = options
    return list(choices), peers, ways


def is_tried(bound, options):
    unusual = {name for name, value in options.items() if str(value) != str(bound.get(name))}
    if unusual >= {"ideal", "discount"}:
        return False
    if options.get("ideal") == 0.0:
        return False
    try:
        bound.replace(**options)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.slow
def test_matches_are_all_ways_one_by_one(seed):
    random = np.random.default_rng([seed, 4])
    given, rows = random_report(random)
    bound = get_metric(MATCHED[seed % len(MATCHED)])
    names, peers, expected = ways_of(bound, rows)
    sought = list(expected.values())[random.integers(len(expected))]
    value = mean_by(rows, bound.replace(**sought))
    if math.isnan(value):
        value = 0.5
    digits = int(random.integers(2, 6))
    value = float(round(value, digits))
    match = match_convention(**given, value=value, metric=bound)
    # Others are those of ARHR.
    own_ways = [way for way in match.ways if way.metric.record is bound.record]
    assert len(own_ways) == len(match.ways) or bound.record.name == "mrr"
    found = {tuple(str(way.metric.get(name)) for name in names): way for way in own_ways}
    assert len(found) == len(own_ways)
    missing = expected.keys() - found.keys()
    assert found.keys() <= expected.keys()
    for way in random.permutation(sorted(missing))[:5].tolist():
        assert math.isnan(mean_by(rows, bound.replace(**expected[tuple(way)])))

    tolerance = max(1e-6, 0.5 * 10.0 ** -len(repr(value).partition(".")[2].rstrip("0")))
    scale = max(1.0, abs(value))
    tolerance = min(max(tolerance, 1e-6 * scale), 5e-3 * scale)
    assert match.tolerance == pytest.approx(tolerance)
    for own, way in found.items():
        assert way.distance == way.value - value
        alike = []
        for peer, metric in peers.items():
            pairs = zip(names, own, strict=True)
            if all(str(metric.get(name)) == text for name, text in pairs if name != "k"):
                alike.append(peer)
        assert way.peers == tuple(alike)
    keys = [
        (round(abs(way.distance), 12), not way.peers, len(way.metric.params)) for way in match.ways
    ]
    assert keys == sorted(keys)
    places = random.integers(len(match.ways), size=6).tolist()
    for place in [0, *places]:
        way = match.ways[place]
        assert way.value == pytest.approx(mean_by(rows, way.metric), abs=1e-12)
    check_table(match, bound)


def check_table(match, bound):
    """The nearest five values, with the conventions of all their ways."""
    matches = [way for way in match.ways if abs(way.distance) <= match.tolerance + 1e-12]
    assert match.matches == matches
    shown = {}
    for way in matches or match.ways:
        shown.setdefault(round(way.value, 12), []).append(way)
    frame = match.to_frame()
    of_value = list(shown.values())[:5]
    assert len(frame) == len(of_value)
    for row, ways in zip(frame.itertuples(), of_value, strict=True):
        peers = {peer for way in ways for peer in way.peers}
        assert row.metric == str(ways[0].metric)
        assert row.ways == len(ways)
        assert row.value == ways[0].value
        assert row.distance == ways[0].distance
        assert row.peers == ", ".join(peer for peer in CONVENTIONS if peer in peers)
    text = words(match)
    n_matches = len(matches) or "none"
    verb = "match" if len(matches) > 1 else "matches"
    within = np.format_float_positional(match.tolerance, trim="-")
    of_all = f"{n_matches} of {len(match.ways)} ways of computing it {verb}"
    assert text.startswith(f"{bound} = {match.value:.10g}: {of_all}, within {within} ")
    assert ("These are the nearest. Check that" in text) == (not matches)
