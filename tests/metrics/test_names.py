import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support import fuzz_parser

from skrank_metrics import (
    compare,
    evaluate,
    evaluate_run,
    get_metric,
    make_ranking_scorer,
    map_score,
    ndcg_score,
    ranking_scorers,
)
from skrank_metrics.metrics import get_metrics
from skrank_metrics.metrics.conventions import CONVENTIONS
from skrank_metrics.rankers import lightgbm_metric
from skrank_metrics.sources import RankingAccumulator, evaluate_batches


@pytest.mark.parametrize(
    ("spec", "name", "params"),
    [
        ("ndcg", "ndcg", {}),
        ("ndcg@1000", "ndcg", {"k": 1000}),
        ("ndcg_at_10", "ndcg", {"k": 10}),
        (
            "ndcg(gain=exp2, discount=reciprocal)",
            "ndcg",
            {"gain": "exp2", "discount": "reciprocal"},
        ),
        ("map(relevance_threshold=2.5)", "map", {"relevance_threshold": 2.5}),
        ("mrr(replace_undefined_by=-1e-3)", "mrr", {"replace_undefined_by": -1e-3}),
        ("map(relevance_threshold=None)", "map", {"relevance_threshold": None}),
        ("NDCG(gain=exp2)@10", "ndcg", {"gain": "exp2", "k": 10}),
        ("Hit_Rate_At_3", "hit_rate", {"k": 3}),
    ],
)
def test_reads(spec, name, params):
    bound = get_metric(spec)
    assert bound.record.name == name
    assert bound.params == params


@pytest.mark.parametrize(
    "spec", ["ndcg@10", "map", "ndcg(gain=exp2, ties=worst)@5", "map(relevance_threshold=2)"]
)
def test_writes_what_it_reads(spec):
    assert str(get_metric(spec)) == spec


# No names, between bars.
INVALID = (
    "| ndcg|ndcg |ndcg@|ndcg@1,|ndcg@,1|NDCG(Gain=exp2)|ndcg@0|ndcg@-1|ndcg@1_0|ndcg@010|ndcg@ 10|ndcg@10 |ndcg@10\n|"
    "ndcg@1.5|ndcg@\N{ARABIC-INDIC DIGIT ONE}\N{ARABIC-INDIC DIGIT ZERO}|ndcg@10@10|ndcg()|ndcg(gain)|ndcg(gain=)|"
    "ndcg(gain==exp2)|ndcg(gain=exp2,)|ndcg(gain=exp2|ndcg(gain=exp2)(gain=exp2)|ndcg(gain=exp2, gain=exp2)|"
    "ndcg@10(gain=exp2)|ndcg(k=10)|ndcg(k=10)@10|ndcg(foo=1)|ndcg(ties=wurst)|map(relevance_threshold=high)|"
    "__import__('os')|ndcg(gain=__class__)"
)


@pytest.mark.parametrize("spec", INVALID.split("|"))
def test_refuses(spec):
    with pytest.raises(ValueError, match=r"."):
        get_metric(spec)


@pytest.mark.slow
def test_fuzzed_names_give_a_metric_or_a_value_error():
    outcomes = [fuzz_parser.outcome(spec) for spec in fuzz_parser.specs(5_000)]
    assert {
        outcomes.count(what) > 200 for what in ("a metric", "refused", "refused with a hint")
    } == {True}


def calls_made_by(spec):
    calls = []

    def count(
        frame, event, argument
    ):  # others, such as callbacks of the garbage collector, may come between
        if frame.f_globals.get("__name__", "").startswith("skrank_metrics"):
            calls.append(event)

    sys.setprofile(count)
    try:
        outcome = fuzz_parser.outcome(spec)
    finally:
        sys.setprofile(None)
    assert calls
    return outcome, len(calls)


@pytest.mark.parametrize("piece", ["(", "a=b,", "a", "@", "ndcg(", "1"])
def test_long_strings_are_refused_whatever_their_length(piece):
    assert (
        len({calls_made_by("ndcg(" + piece * length) for length in (1_000, 10_000, 100_000)}) == 1
    )
    with pytest.raises(ValueError, match="at most 64 characters long; got "):
        get_metric(piece * 10_000)


def test_parsing_imports_compiles_and_opens_nothing():
    code = (
        "import sys\nfrom support import fuzz_parser\n"
        "specs, seen = list(fuzz_parser.specs(2_000)), set()\n"
        "sys.addaudithook(lambda event, _: seen.add(event))\n"
        "for spec in specs: fuzz_parser.outcome(spec)\n"
        "found = sorted(seen)\n"
        "compile('0', '', 'eval')\n"
        "print(found, 'compile' in seen)"
    )
    command, here = [sys.executable, "-c", code], Path(__file__).parents[1]
    done = subprocess.run(command, cwd=here, capture_output=True, text=True, check=True)
    assert done.stdout == "[] True\n"


def test_takes_functions_and_bound_metrics_with_parameters():
    assert get_metric(map_score, k=5).params == {"k": 5}
    assert get_metric(get_metric("ndcg"), k=5).k == 5
    assert get_metric("ndcg@10", k=10).k == 10
    assert get_metric("ndcg@1")([0, 1], [2, 1], qid=[1, 1], k=2) == ndcg_score(
        [0, 1], [2, 1], qid=[1, 1], k=2
    )


@pytest.mark.parametrize(
    ("metric", "params"),
    [
        ("ndcg@10", {"k": 5}),
        ("ndcg@10", {"k": None}),
        ("ndcg(ties=worst)@10", {"ties": "best"}),
        (get_metric("ndcg@10"), {"k": 5}),
    ],
)
def test_a_parameter_must_not_contradict_the_metric(metric, params):
    (name,) = params
    with pytest.raises(ValueError, match=f"^{name} must not contradict the metric"):
        get_metric(metric, **params)
    with pytest.raises(ValueError, match=f"^{name} must not contradict the metric"):
        make_ranking_scorer(metric, **params)


@pytest.mark.parametrize(
    ("head", "cutoffs", "own"), [("ndcg_cut_", "5,10", "ndcg"), ("P_", "1, 2,3", "precision")]
)
def test_several_cutoffs_in_the_spelling_of_trec_eval(head, cutoffs, own):
    rows = {"y_true": [0, 1, 1], "y_score": [3, 2, 1], "qid": [0, 0, 0], "convention": "trec_eval"}
    ks = cutoffs.replace(" ", "").split(",")
    expected = evaluate(**rows, metrics=[f"{own}@{k}" for k in ks]).mean.values()
    assert evaluate(**rows, metrics=head + cutoffs).mean == dict(
        zip([head + k for k in ks], expected, strict=True)
    )
    with pytest.raises(ValueError, match="with several cutoffs"):
        get_metric(head + cutoffs, convention="trec_eval")


def test_every_name_in_the_table_of_conventions_is_read():
    for name, convention in CONVENTIONS.items():
        for own, peers in convention.names.items():
            for spelled in peers.split(", "):
                spec, n_cutoffs = re.subn(r"(?<=[_@=(])k\b(?!=)", "7", spelled)
                meant = get_metric(own, convention=name, **({"k": 7} if n_cutoffs else {}))
                assert get_metric(spec, convention=name).definition == meant.definition


@pytest.mark.parametrize("spec", ["recip_ran\N{KELVIN SIGN}", "P_05", "P_5 ", "p_5_", "map_cut_k"])
def test_other_spellings_are_no_names_of_a_convention(spec):
    with pytest.raises(ValueError, match="metric"):
        get_metric(spec, convention="trec_eval")


def test_several_cutoffs_are_several_names_where_a_list_is_taken():
    rows = {"y_true": [0, 1, 1], "y_score": [3, 2, 1], "qid": [0, 0, 0]}
    report = evaluate(**rows, metrics=["recall(normalizer=min)@1,2, 3", "mrr"])
    recalls = {f"recall(normalizer=min)@{k}": value for k, value in ((1, 0), (2, 1 / 2), (3, 1))}
    assert report.mean == recalls | {"mrr": 1 / 2}
    assert list(evaluate(**rows, metrics="NDCG@1,5").mean) == ["NDCG@1", "NDCG@5"]
    assert list(ranking_scorers("ndcg@1,5,10", "map")) == ["ndcg@1", "ndcg@5", "ndcg@10", "map"]
    assert list(ranking_scorers("ndcg@5", "ndcg@1,5")) == ["ndcg@5", "ndcg@1"]
    for needs_one in (get_metric, make_ranking_scorer, lightgbm_metric):
        with pytest.raises(
            ValueError,
            match=r"A single metric is required here; got 'ndcg@1,5' .* Pass one",
        ):
            needs_one("ndcg@1,5")


@pytest.mark.parametrize("metric", [None, 3, print, object(), ["ndcg"]])
def test_refuses_what_is_no_metric(metric):
    with pytest.raises(TypeError, match="metric must be a name like"):
        get_metric(metric)


HINTS = """\
ndcg10 -> 'ndcg@10'
map5 -> 'map@5'
hit_rate_5 -> 'hit_rate'
pre@5 -> 'precision@5', or get_metric('pre@5', convention='xgboost')
PrecisionAt:top=5 -> 'precision@5', or get_metric('PrecisionAt:top=5', convention='catboost')
fallout@5 -> 'fall_out@5'
ngcd@10 -> 'ndcg@10'
ner@5 -> 'err@5'
roc_auc -> 'auc'
average_precision@10 -> 'map@10'
average_precision -> 'map'
averge_precision@3 -> 'map@3'
mean_averge_precision@3 -> 'map@3'
avg_precision -> 'map'
ndgc_at_10 -> 'ndcg@10'"""


@pytest.mark.parametrize("line", HINTS.splitlines())
def test_unknown_names_lead_to_known_ones(line):
    name, meant = line.split(" -> ")
    with pytest.raises(ValueError, match=r"^Unknown metric '|^A metric name") as caught:
        get_metric(name)
    assert f" Did you mean {meant}?" in str(caught.value)
    for hint in re.findall(r"'([^']+)'", meant.partition(", or get_metric")[0]):
        get_metric(hint)


@pytest.mark.parametrize("name", ["ndcg@0", "NDCG@010", "map@2.0", "map@5,"])
def test_a_known_name_with_a_bad_cutoff_is_not_corrected(name):
    with pytest.raises(ValueError, match="with k >= 1; got") as caught:
        get_metric(name)
    assert "Did you mean" not in str(caught.value)


def test_the_count_of_hits_of_ranx_is_not_taken_for_the_hit_rate():
    with pytest.raises(ValueError, match=r"^Unknown metric 'hits'\. Known: ") as raised:
        get_metric("hits@5", convention="ranx")
    assert "hit_rate@5" not in str(raised.value)


ROWS = {"y_true": [0, 1, 0, 0], "y_score": [3.0, 3.0, 1.0, 0.0], "qid": ["a", "a", "b", "b"]}


@pytest.mark.option("get_metrics.convention")
def test_several_metrics_with_the_same_settings():
    metrics = get_metrics("mrr", "recall@1,2", ties="worst", replace_undefined_by=0.25)
    assert list(metrics) == ["mrr", "recall@1", "recall@2"]
    expected = {"mrr": (1 / 2 + 1 / 4) / 2, "recall@1": 1 / 8, "recall@2": (1 + 1 / 4) / 2}
    assert evaluate(**ROWS, metrics=metrics).mean == expected
    # A count has a value for every query, so there is none to replace.
    assert "neg_kendall_tau_distance" in get_metrics(
        "neg_kendall_tau_distance", replace_undefined_by=np.nan
    )
    in_lightgbm = get_metrics("ndcg@10", "map", convention="lightgbm")
    for name, metric in in_lightgbm.items():
        assert metric.definition == get_metric(name, convention="lightgbm").definition
    assert list(get_metrics("P_1,5", convention="trec_eval")) == ["P_1", "P_5"]


def test_what_get_metrics_returns_is_accepted_wherever_metrics_are():
    metrics = get_metrics("mrr", ties="worst")
    run = {"a": {"x": 3.0, "y": 3.0}, "b": {"x": 1.0}}
    assert evaluate_run({"a": ["y"], "b": ["y"]}, run, metrics).mean == {"mrr": 1 / 4}
    accumulator = RankingAccumulator(metrics)
    assert accumulator.update(**ROWS).result().mean == {"mrr": 1 / 4}
    columns = {"label": "y_true", "score": "y_score", "qid": "qid"}
    assert evaluate_batches([ROWS], **columns, metrics=metrics).mean == {"mrr": 1 / 4}
    assert list(ranking_scorers(metrics)) == ["mrr"]
    reports = [evaluate(**ROWS, metrics=metrics), evaluate(**ROWS, metrics=metrics)]
    assert list(compare(reports, metrics).metrics) == ["mrr"]
    with pytest.raises(ValueError, match=r"metric 'mrr\(ties=best\)' is missing"):
        compare(reports, get_metrics("mrr", ties="best"))


@pytest.mark.parametrize(
    ("metrics", "params", "error", "message"),
    [
        ([], {}, ValueError, "metrics must name at least one metric; got none"),
        (["mrr"], {"k": 3}, TypeError, "k must be part of the names"),
        (["mrr"], {"gain": "exp2"}, TypeError, "unexpected parameter 'gain'"),
        ([["mrr"]], {}, TypeError, "metric must be a name like"),
        (["mrr(ties=best)"], {"ties": "worst"}, ValueError, "ties must not contradict the metric"),
    ],
)
def test_bad_arguments_of_get_metrics(metrics, params, error, message):
    with pytest.raises(error, match=message):
        get_metrics(*metrics, **params)


@pytest.mark.parametrize(
    ("metrics", "error", "message"),
    [
        ({}, ValueError, "metrics must name at least one metric; got none"),
        ({3: "mrr"}, TypeError, "metrics must be keyed by strings; got 3"),
        ({"qid": "mrr"}, ValueError, "must not be named like another column of reports, qid"),
        ({"ndcg@10": "map"}, ValueError, "must not hold 'map' under the name 'ndcg@10'"),
        ({"ndcg@10": "ndcg@5"}, ValueError, "must not hold 'ndcg@5' under the name 'ndcg@10'"),
        ({"mrr(ties=best)": "mrr(ties=worst)"}, ValueError, "a different metric"),
        (
            {"mean": get_metric("mrr", average=None)},
            ValueError,
            "average must not be None where a single value",
        ),
    ],
)
def test_bad_dicts_of_metrics(metrics, error, message):
    with pytest.raises(error, match=message):
        evaluate(**ROWS, metrics=metrics)


def test_metrics_under_names_of_the_users_own():
    report = evaluate(**ROWS, metrics={"at worst": "mrr(ties=worst)", "mrr": "mrr(ties=best)"})
    assert report.mean == {"at worst": 1 / 4, "mrr": 1 / 2}


OF_PEERS = """\
P@5 -> precision@5
R@5 -> recall@5
RR -> mrr
RR@10 -> mrr@10
Rprec -> r_precision
success@5 -> hit_rate@5
hit@5 -> hit_rate@5
HR@5 -> hit_rate@5
recip_rank -> mrr
P_5 -> precision@5
recall_5 -> recall@5
success_5 -> hit_rate@5
ndcg_cut_10 -> ndcg@10
nDCG@10 -> ndcg@10
R_cap@5 -> recall(normalizer=min)@5
AP -> map
mean_average_precision -> map
reciprocal_rank@3 -> mrr@3
gmap -> map(average=geometric)
P(relevance_threshold=2)@5 -> precision(relevance_threshold=2)@5
AP(normalizer=relevant)@5 -> map(normalizer=relevant)@5"""


@pytest.mark.parametrize("line", OF_PEERS.splitlines())
def test_names_of_peers_for_the_same_number(line):
    name, meant = line.split(" -> ")
    assert str(get_metric(name)) == meant
    assert get_metric(name).definition == get_metric(meant).definition
    assert list(get_metrics(name)) == [name]


def test_names_of_peers_with_several_cutoffs():
    assert list(get_metrics("P_1,5", "R@1,5")) == ["P_1", "P_5", "R@1", "R@5"]


@pytest.mark.parametrize("name", ["AP@10", "map_cut_10", "ap@10"])
def test_average_precision_of_peers_has_another_divisor_at_a_cutoff(name):
    with pytest.raises(ValueError, match="divides by the number of relevant documents") as caught:
        get_metric(name)
    assert "Pass convention='trec_eval', or 'map(normalizer=relevant)@10'" in str(caught.value)
    assert get_metric(name, convention="trec_eval").get("normalizer") == "relevant"
    assert get_metric("AP@10", convention="ir_measures").get("normalizer") == "relevant"
    assert get_metric("map_cut_10", convention="ranx").get("normalizer") == "relevant"


def test_short_queries_are_left_out_and_counted():
    rows = {"y_true": [1, 0, 0, 1, 0, 0], "y_score": [3, 2, 1, 2, 1, 3], "qid": [1, 1, 2, 3, 3, 3]}
    report = evaluate(
        **rows, metrics=get_metrics("mrr", "neg_kendall_tau_distance", min_documents=2)
    )
    assert report.per_query["mrr"].tolist() == [1, 0, 1 / 2]
    assert report.n_undefined == {"mrr": 1, "neg_kendall_tau_distance": 1}
    assert "1 query (2) has fewer than 2 documents" in str(report.health)
    name = "ndcg(min_documents=3, replace_undefined_by=nan)"
    assert evaluate(**rows, metrics=name).mean == {name: pytest.approx(1 / np.log2(3))}
    shown = [True, False, True, True, False, False]
    judged = get_metric("mrr(min_documents=3)", replace_undefined_by=np.nan)
    assert judged(**rows, retrieved=shown) == 1, "documents that were not retrieved count"


def test_several_names_in_one_text_are_a_list():
    with pytest.raises(ValueError, match=r"Pass a list: \['ndcg@10', 'map'\]\.$"):
        get_metric("ndcg@10,map")
    with pytest.raises(ValueError, match=r"Pass a list: \['P@5', 'map'\]\.$"):
        get_metric("P@5, map")
    with pytest.raises(ValueError, match=r"got 'ndcg@10,'\.$"):
        get_metric("ndcg@10,")


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("gm_map", "map(average=geometric)"),
        ("gm_bpref", "bpref(average=geometric)"),
        ("set_P", "precision(divisor=retrieved)"),
        ("set_recall", "recall"),
        ("set_F", "f1(divisor=retrieved)"),
    ],
)
def test_measures_of_trec_eval_over_the_whole_list(name, own):
    assert get_metric(name).definition == get_metric(own).definition
