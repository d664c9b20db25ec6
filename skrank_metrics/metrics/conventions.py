"""The defaults of other libraries, in one table.

The tests compare each entry with the installed library on random queries, including ties, queries without relevant
documents and single-document queries. For libraries that are too large to install, they use recorded values, or the
examples in the documentation of the library.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from skrank_metrics._input.arrays import check_choice

_Defaults = Mapping[str, Any]

# The cutoff in a name: ndcg@k, P_k, MAP:top=k, ndcgAt(k), but not the word in RetrievalMAP(top_k=k).
_RANK = re.compile(r"(?<=[_@=(])k\b(?!=)")

# CatBoost's default border: labels above it are relevant.
_ABOVE_HALF: _Defaults = {"relevance_threshold": math.nextafter(0.5, 1)}
# In TF-Ranking and Rax, labels of at least 1 are relevant.
_FROM_ONE: _Defaults = {"relevance_threshold": 1}


@dataclass(frozen=True)
class Convention:
    """The defaults of another library; metrics are those of this package."""

    peer: str  # the library and the versions that were compared
    names: Mapping[str, str]  # the library's name of each metric
    shared: _Defaults = field(default_factory=dict)  # parameters of all metrics
    own: Mapping[str, _Defaults] = field(
        default_factory=dict
    )  # further parameters of single metrics
    not_imitated: tuple[str, ...] = ()  # differences that parameters cannot reproduce
    differs: Mapping[str, str] = field(
        default_factory=dict
    )  # the same for single metrics, which may have no name


CONVENTIONS: Mapping[str, Convention] = MappingProxyType(
    {
        "sklearn": Convention(
            peer="scikit-learn 1.6 to 1.9",
            names={"ndcg": "ndcg_score", "dcg": "dcg_score"},
            not_imitated=(
                "A query of a single document is an error there.",
                "Unsigned integer scores are sorted by their wrapped negatives there, which is wrong.",
                "With ignore_ties=True, tied documents are in the order of an unstable sort.",
                "With log_base=b, DCG is log2(b) times as large.",
            ),
        ),
        "trec_eval": Convention(
            peer="trec_eval 10, pytrec_eval-terrier 0.5",
            names={
                "ndcg": "ndcg, ndcg_cut_k",
                "map": "map, map_cut_k",
                "mrr": "recip_rank",
                "precision": "P_k",
                "recall": "recall_k",
                "hit_rate": "success_k",
                "r_precision": "Rprec",
                "bpref": "bpref",
                "rbp": "rbp",
            },
            shared={"ties": "stable"},
            own={"map": {"normalizer": "relevant"}, "rbp": {"p": 0.9, "gain": "linear"}},
            not_imitated=(
                "In rbp, divide labels above 1 by the largest one.",
                "Ties are broken by document id, descending; sort the rows in that order.",
                "Scores of trec_eval 9 and pytrec_eval are float32, so close scores tie.",
                "trec_eval leaves topics that are missing from the run out of its mean, unless called with -c.",
            ),
        ),
        "lightgbm": Convention(
            peer="LightGBM 4.3 to 4.7",
            names={"ndcg": "ndcg", "map": "map"},
            shared={"ties": "stable"},
            own={
                "ndcg": {"gain": "exp2", "replace_undefined_by": 1.0},
                "map": {"normalizer": "min", "replace_undefined_by": 1.0},
            },
            not_imitated=(
                "In ndcg, a query without relevant documents adds 1 to the weighted sum, whatever its weight.",
                "label_gain=[0, 1, 2, 3, 4] is gain='linear' here; its default is gain='exp2'.",
            ),
        ),
        "xgboost": Convention(
            peer="XGBoost 3.0 to 3.2",
            names={"ndcg": "ndcg@k", "map": "map@k", "precision": "pre@k"},
            shared={"ties": "stable"},
            own={
                # Names without a cutoff mean @32 there, whatever lambdarank_num_pair_per_sample is.
                "ndcg": {"gain": "exp2", "replace_undefined_by": 1.0, "k": 32},
                "map": {"normalizer": "min", "replace_undefined_by": 1.0, "k": 32},
                "precision": {"divisor": "retrieved", "k": 32},
            },
            not_imitated=(
                "Scores are float32, so close scores tie.",
                "In ndcg, a query without relevant documents adds 1 to the weighted sum, whatever its weight.",
                "A minus at the end of a name, as in ndcg- and map@k-, is replace_undefined_by=0 here.",
                "ndcg_exp_gain=False is gain='linear' here; the metrics of XGBoost 3.0 ignore it.",
            ),
            differs={
                "auc": "auc counts pairs with equal labels as well, in the order of rows, and leaves out queries of "
                "fewer than three documents and all weights."
            },
        ),
        "catboost": Convention(
            peer="CatBoost 1.2",
            names={
                "ndcg": "NDCG:top=k;type=Base",
                "dcg": "DCG:top=k;type=Base",
                "map": "MAP:top=k",
                "mrr": "MRR:top=k",
                "precision": "PrecisionAt:top=k",
                "recall": "RecallAt:top=k",
                "err": "ERR:top=k",
                "pfound": "PFound:top=k",
                "auc": "QueryAUC:type=Classic",
                "pairwise_accuracy": "QueryAUC:type=Ranking",
            },
            shared={"ties": "worst"},
            own={
                "ndcg": {"replace_undefined_by": 1.0},
                "map": {**_ABOVE_HALF},
                "mrr": {**_ABOVE_HALF},
                "precision": {"divisor": "retrieved", **_ABOVE_HALF},
                "recall": {"replace_undefined_by": 1.0, **_ABOVE_HALF},
                "err": {"gain": "linear"},
                "auc": {"ties": "average"},
                "pairwise_accuracy": {"ties": "average"},
            },
            not_imitated=(
                "type=Exp of NDCG and DCG is gain='exp2' here.",
                "MAP, PrecisionAt, RecallAt and QueryAUC ignore group weights there.",
                "A score of NaN has an arbitrary rank there, which depends on the metric; here it is an error.",
                "Labels are float32.",
            ),
        ),
        "ranx": Convention(
            peer="ranx 0.3.21",
            names={
                "ndcg": "ndcg@k",
                "dcg": "dcg@k",
                "map": "map@k",
                "mrr": "mrr@k",
                "precision": "precision@k",
                "recall": "recall@k",
                "f1": "f1@k",
                "hit_rate": "hit_rate@k",
                "r_precision": "r-precision",
            },
            shared={"ties": "stable"},
            own={"map": {"normalizer": "relevant"}},
            not_imitated=(
                "ndcg_burges and dcg_burges are gain='exp2' here; hits is the number of hits, not the hit rate.",
                "In lists of more than 15 documents, the order of tied documents is arbitrary.",
            ),
            differs={
                "rbp": "rbp multiplies by the labels as they are, so graded labels can give values above 1.",
                "bpref": "bpref is nan for a query with relevant documents only, and a query without any can make it 0 "
                "for others.",
            },
        ),
        "ir_measures": Convention(
            peer="ir_measures 0.3.7 to 0.4.3",
            names={
                "ndcg": "nDCG, nDCG@k",
                "map": "AP, AP@k",
                "mrr": "RR, RR@k",
                "precision": "P@k",
                "recall": "R@k",
                "hit_rate": "Success@k",
                "r_precision": "Rprec",
                "bpref": "Bpref",
                "err": "ERR@k",
                "auc": "Accuracy",
            },
            shared={"ties": "stable"},
            own={"map": {"normalizer": "relevant"}},
            not_imitated=(
                "Ties are broken by document id, descending; sort the rows in that order.",
                "Scores are float32, so close scores tie, except in RR@k, ERR@k, Accuracy and nDCG(dcg='exp-log2')@k.",
                "nDCG(dcg='exp-log2')@k is gain='exp2' here, rounded to five decimals there.",
                "With nDCG(gains={...}), unjudged documents can have another gain than those that were judged 0.",
            ),
            differs={
                "mrr": "RR@k breaks ties by document id, ascending; RR without a cutoff descending.",
                "err": "ERR@k is rounded to five decimals.",
                "auc": "Accuracy breaks ties by the order of rows, leaves out queries without relevant documents, and "
                "fails if a query has no others.",
            },
        ),
        "rax": Convention(
            peer="Rax 0.4",
            names={
                "ndcg": "ndcg_metric, ndcg_metric(topn=k)",
                "dcg": "dcg_metric, dcg_metric(topn=k)",
                "map": "ap_metric, ap_metric(topn=k)",
                "mrr": "mrr_metric, mrr_metric(topn=k)",
                "precision": "precision_metric, precision_metric(topn=k)",
                "recall": "recall_metric, recall_metric(topn=k)",
                "pairwise_accuracy": "opa_metric",
            },
            shared={"ties": "stable"},
            own={
                "ndcg": {"gain": "exp2"},
                "dcg": {"gain": "exp2"},
                "map": {"normalizer": "relevant", **_FROM_ONE},
                "mrr": _FROM_ONE,
                "precision": {"divisor": "retrieved", **_FROM_ONE},
                "recall": _FROM_ONE,
                # Pairs of equal scores count as wrong.
                "pairwise_accuracy": {"ties": "worst"},
            },
            not_imitated=(
                "Values, scores and labels are float32, as is the default of JAX.",
                "Documents with a score of minus infinity are not retrieved there; here, that is retrieved=False.",
            ),
        ),
        "spark": Convention(
            peer="pyspark 4.3, mllib.evaluation.RankingMetrics and ml.evaluation.RankingEvaluator",
            names={
                "ndcg": "ndcgAt(k)",
                "map": "meanAveragePrecision, meanAveragePrecisionAt(k)",
                "precision": "precisionAt(k)",
                "recall": "recallAt(k)",
            },
            shared={"ties": "stable"},
            not_imitated=(
                "Documents come in ranked order, without scores; sort the rows in that order.",
                "Names with a cutoff end in AtK in RankingEvaluator, whose k is 10 by default.",
            ),
            differs={
                "ndcg": "ndcgAt ignores grades, even in an RDD that holds them; pass labels of 0 and 1."
            },
        ),
        "tf_ranking": Convention(
            peer="TF-Ranking 0.5.5, the examples of its documentation",
            names={
                "ndcg": "NDCGMetric, NDCGMetric(topn=k)",
                "dcg": "DCGMetric, DCGMetric(topn=k)",
                "map": "MeanAveragePrecisionMetric, MeanAveragePrecisionMetric(topn=k)",
                "mrr": "MRRMetric, MRRMetric(topn=k)",
                "precision": "PrecisionMetric, PrecisionMetric(topn=k)",
                "recall": "RecallMetric, RecallMetric(topn=k)",
                "hit_rate": "HitsMetric, HitsMetric(topn=k)",
                "pairwise_accuracy": "OPAMetric",
            },
            own={
                "ndcg": {"gain": "exp2"},
                "dcg": {"gain": "exp2"},
                "map": {"normalizer": "relevant", **_FROM_ONE},
                "mrr": _FROM_ONE,
                "precision": {"divisor": "retrieved", **_FROM_ONE},
                "recall": _FROM_ONE,
                "hit_rate": _FROM_ONE,
                "pairwise_accuracy": {"ties": "worst"},
            },
            not_imitated=(
                "Ties are broken at random there; here, the value is the expectation.",
                "Weights are per document there, and weight gains as well as queries.",
                "Values, scores and labels are float32.",
            ),
            differs={
                "pairwise_accuracy": "OPAMetric is the mean over pairs, which is average='micro' here."
            },
        ),
        "torchmetrics": Convention(
            peer="TorchMetrics 1.9, the examples of its documentation",
            names={
                "ndcg": "RetrievalNormalizedDCG, RetrievalNormalizedDCG(top_k=k)",
                "map": "RetrievalMAP, RetrievalMAP(top_k=k)",
                "mrr": "RetrievalMRR, RetrievalMRR(top_k=k)",
                "precision": "RetrievalPrecision, RetrievalPrecision(top_k=k)",
                "recall": "RetrievalRecall, RetrievalRecall(top_k=k)",
                "hit_rate": "RetrievalHitRate, RetrievalHitRate(top_k=k)",
                "neg_fall_out": "RetrievalFallOut, RetrievalFallOut(top_k=k)",
                "r_precision": "RetrievalRPrecision",
                "auc": "RetrievalAUROC",
            },
            own={"map": {"normalizer": "hits"}, "neg_fall_out": {"replace_undefined_by": 1.0}},
            not_imitated=(
                "Scores are float32, so close scores tie.",
                "Except in NDCG and AUROC, the order of tied documents is arbitrary there.",
                "In MAP, MRR, precision and recall, relevant documents with a score <= 0 count as non-relevant.",
                "adaptive_k=True is divisor='retrieved' here; empty_target_action is replace_undefined_by.",
                "RetrievalFallOut is the positive value; here, strings and scorers use its negative.",
            ),
            differs={
                "auc": "If a score is outside [0, 1], RetrievalAUROC takes the sigmoid of all scores of the query, in "
                "float32, so large ones tie."
            },
        ),
    }
)


def own_spelling(spec: str, convention: Any, *, any_case: bool = False) -> str | None:
    """Spell another library's name of a metric as this package does; None if it is not one."""
    for pattern, name in _names_of(check_choice(convention, "convention", CONVENTIONS), any_case):
        if match := pattern.fullmatch(spec):
            return name + "".join(f"@{k}" for k in match.groups())
    return None


@functools.cache
def _names_of(convention: str, any_case: bool) -> list[tuple[re.Pattern[str], str]]:
    """Patterns of another library's names that differ from this package's, with the name here."""
    return [
        (
            re.compile(
                _RANK.sub("([1-9][0-9]*)", re.escape(spelled)), re.IGNORECASE if any_case else 0
            ),
            name,
        )
        for name, names in CONVENTIONS[convention].names.items()
        for spelled in names.split(", ")
        if spelled not in (name, f"{name}@k")
    ]


def convention_defaults(convention: Any, metric: str) -> dict[str, Any]:
    """Return the defaults of a metric in another library."""
    chosen = CONVENTIONS[check_choice(convention, "convention", CONVENTIONS)]
    return {**chosen.shared, **chosen.own.get(metric, {})}
