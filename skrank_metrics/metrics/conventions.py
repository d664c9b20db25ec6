"""The defaults of other libraries, in one table.

The tests compare each entry with the installed library on random queries, including ties, queries without relevant
documents and single-document queries. For libraries that are too large to install, they use recorded values, or the
examples in the documentation of the library.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from skrank_metrics._input.arrays import check_choice
from skrank_metrics.metrics._record import SHARED_DEFAULTS

ConventionName: TypeAlias = Literal[
    "sklearn",
    "trec_eval",
    "lightgbm",
    "xgboost",
    "catboost",
    "ranx",
    "ir_measures",
    "rax",
    "spark",
    "tf_ranking",
    "torchmetrics",
    "quepid",
    "elasticsearch",
    "mlflow",
    "llama_index",
    "recommenders",
    "beir",
]

_Defaults = Mapping[str, Any]

# CatBoost's default border: labels above it are relevant.
_ABOVE_HALF: _Defaults = {"relevance_threshold": math.nextafter(0.5, 1)}
# In TF-Ranking and Rax, labels of at least 1 are relevant.
_FROM_ONE: _Defaults = {"relevance_threshold": 1}
_LIKE_RAX: Mapping[str, _Defaults] = {
    "ndcg": {"gain": "exp2"},
    "dcg": {"gain": "exp2"},
    "map": {"normalizer": "relevant", **_FROM_ONE},
    "mrr": _FROM_ONE,
    "precision": {"divisor": "retrieved", **_FROM_ONE},
    "recall": _FROM_ONE,
    # Pairs of equal scores count as wrong.
    "pairwise_accuracy": {"ties": "worst"},
}


@dataclass(frozen=True)
class Convention:
    """The defaults of another library; metrics are those of this package."""

    peer: str  # the library and the versions that were compared
    names: Mapping[str, str]  # the library's name of each metric
    ties: str = "stable"  # a plain sort by score keeps the order of rows
    # Other parameters, of single metrics.
    own: Mapping[str, _Defaults] = field(default_factory=dict)
    not_imitated: tuple[str, ...] = ()  # differences that parameters cannot reproduce
    # The same for single metrics, which may have no name.
    differs: Mapping[str, str] = field(default_factory=dict)


CONVENTIONS: Mapping[str, Convention] = MappingProxyType(
    {
        "sklearn": Convention(
            peer="scikit-learn 1.6 to 1.9",
            ties="average",
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
            ties="worst",
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
            own=_LIKE_RAX,
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
            ties="average",
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
            own={**_LIKE_RAX, "hit_rate": _FROM_ONE},
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
            ties="average",
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
        "quepid": Convention(
            peer="Quepid 6.4 to 8.0, the code of its scorers",
            names={
                "ndcg": "nDCG@k",
                "dcg": "DCG@k",
                "cg": "CG@k",
                "map": "AP@k",
                "mrr": "RR@k",
                "precision": "P@k",
                "err": "ERR@k",
            },
            own={
                "ndcg": {"gain": "exp2", "ideal": "top"},
                "dcg": {"gain": "exp2"},
                "map": {"normalizer": "relevant"},
                "precision": {"divisor": "retrieved"},
            },
            not_imitated=(
                "Since 2025, the ideal of nDCG@k is that of all rated documents, without the cutoff: ideal='all' here.",
                "In ERR@k, grades end at 3: max_grade=3 here.",
                "A case is scored by the mean over queries with at least one rating.",
            ),
        ),
        "elasticsearch": Convention(
            peer="Elasticsearch 7 to 9, the tests of its ranking evaluation",
            names={
                "ndcg": "dcg(normalize=true)",
                "dcg": "dcg",
                "mrr": "mean_reciprocal_rank",
                "precision": "precision",
                "recall": "recall",
                "err": "expected_reciprocal_rank",
            },
            own={
                # Requests without k return ten hits.
                "ndcg": {"gain": "exp2", "ideal": "shown", "k": 10},
                "dcg": {"gain": "exp2", "k": 10},
                "mrr": {**_FROM_ONE, "k": 10},
                "precision": {"divisor": "retrieved", **_FROM_ONE, "k": 10},
                "recall": {**_FROM_ONE, "k": 10},
                "err": {"k": 10},
            },
            not_imitated=(
                "maximum_relevance of expected_reciprocal_rank is max_grade here.",
                "unknown_doc_rating is the label of documents that nobody rated.",
                "ignore_unlabeled is condense=True here.",
            ),
        ),
        "mlflow": Convention(
            peer="MLflow 2.11 to 3.17",
            names={
                "ndcg": "ndcg_at_k",
                "precision": "precision_at_k",
                "recall": "recall_at_k",
            },
            own={
                "ndcg": {"gain": "binary", "ideal": "shown"},
                "precision": {"divisor": "retrieved"},
            },
            not_imitated=(
                "A query without relevant documents counts as 1 in ndcg_at_k and recall_at_k if nothing was retrieved.",
                "Repeated documents count repeatedly.",
            ),
        ),
        "llama_index": Convention(
            peer="LlamaIndex 0.11 to 0.14",
            names={
                "ndcg": "ndcg",
                "map": "ap",
                "mrr": "mrr",
                "precision": "precision",
                "recall": "recall",
                "hit_rate": "hit_rate",
            },
            own={
                "ndcg": {"gain": "binary", "ideal": "all"},
                "map": {"normalizer": "relevant"},
                "precision": {"divisor": "retrieved"},
            },
            not_imitated=(
                "The cutoff is the length of the list, similarity_top_k of the retriever.",
                "A query without relevant or without retrieved documents is an error there.",
            ),
        ),
        "recommenders": Convention(
            peer="Recommenders 1.2",
            names={
                "ndcg": "ndcg_at_k",
                "map": "map_at_k",
                "precision": "precision_at_k",
                "recall": "recall_at_k",
            },
            own={"ndcg": {"gain": "binary"}},
            not_imitated=(
                "score_type='raw' of ndcg_at_k is gain='linear' here, and 'exp' is gain='exp2'.",
                "map divides by R: map(normalizer=relevant)@k here.",
                "Every item of the truth is relevant, whatever its rating.",
                "Users without recommendations are left out of all means but that of ndcg_at_k.",
                "The order of tied items is arbitrary.",
            ),
            differs={
                "r_precision": "r_precision_at_k leaves out users without a hit among the first R recommendations."
            },
        ),
        "beir": Convention(
            peer="BEIR 2.0 to 2.2",
            names={
                "ndcg": "NDCG@k",
                "map": "MAP@k",
                "mrr": "MRR@k",
                "precision": "P@k",
                "recall": "Recall@k",
                "hit_rate": "Accuracy@k",
            },
            own={"map": {"normalizer": "relevant"}},
            not_imitated=(
                "Values are rounded to five decimals.",
                "R_cap@k is recall(normalizer=min)@k here.",
                "Hole@k is the share of documents that were judged for no query at all; judged@k looks at one query.",
                "Ties are broken by document id, descending, except in MRR@k, R_cap@k and Accuracy@k.",
                "A document with the id of its query is removed from the run.",
                "Queries without a list are left out of the means of NDCG, MAP, P and Recall.",
            ),
        ),
    }
)


def convention_defaults(convention: Any, metric: str) -> dict[str, Any]:
    """Return the defaults of a metric in another library, if they differ from this package's."""
    chosen = CONVENTIONS[check_choice(convention, "convention", CONVENTIONS)]
    # What is the same here is not repeated, since parameters that are set appear in names.
    ties = {} if chosen.ties == SHARED_DEFAULTS["ties"] else {"ties": chosen.ties}
    # What is set for a single metric is more specific.
    return {**ties, **chosen.own.get(metric, {})}
