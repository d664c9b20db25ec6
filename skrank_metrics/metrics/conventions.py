"""The defaults of other libraries, in one table.

The tests compare each entry with the installed library on random queries, including ties, queries without relevant
documents and single-document queries. For libraries that are too large to install, they use recorded values, or the
examples in the documentation of the library.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from skrank_metrics._input.parameters import check_choice
from skrank_metrics.metrics._record import SHARED_DEFAULTS
from skrank_metrics.metrics.grammar import parse

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


@dataclass(frozen=True)
class Convention:
    """The defaults of another library."""

    peer: str  # the library and the versions that were compared
    metrics: Mapping[str, str]  # the library's names of each metric, spelled with its defaults
    ties: str = "stable"  # a plain sort by score keeps the order of rows
    # The order of tied documents of a library that takes judgments and runs by id, of which negative labels mean "not
    # judged": that of the run, or their ids, descending. Those that sort by id compare scores in float32.
    ties_by_id: Literal["run", "id"] | None = None
    not_imitated: str = (
        ""  # differences that parameters cannot reproduce, a list for the documentation
    )
    # The same for single metrics of this package, which may have no name there.
    differs: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def own(self) -> dict[str, dict[str, Any]]:
        """Other parameters than the ties, by the name of the metric here."""
        return dict(map(parse, self.metrics))

    @cached_property
    def names(self) -> dict[str, str]:
        """The library's names of each metric, by its name here."""
        return dict(zip(self.own, self.metrics.values(), strict=True))


CONVENTIONS: Mapping[str, Convention] = MappingProxyType(
    {
        "sklearn": Convention(
            peer="scikit-learn 1.6 to 1.9",
            ties="average",
            metrics={
                "ndcg": "ndcg_score",
                "dcg": "dcg_score",
            },
            not_imitated="""
                - A query of a single document is an error there.
                - Unsigned integer scores are sorted by their wrapped negatives there, which is wrong.
                - With ignore_ties=True, tied documents are in the order of an unstable sort.
                - With log_base=b, DCG is log2(b) times as large.
            """,
        ),
        "trec_eval": Convention(
            peer="trec_eval 10, pytrec_eval-terrier 0.5",
            ties_by_id="id",
            metrics={
                "ndcg": "ndcg, ndcg_cut_k",
                "map(normalizer=relevant)": "map, map_cut_k",
                "mrr": "recip_rank",
                "precision": "P_k",
                "recall": "recall_k",
                "hit_rate": "success_k",
                "r_precision": "Rprec",
                "bpref": "bpref",
                "rbp(p=0.9, gain=linear)": "rbp",
            },
            not_imitated="""
                - In rbp, divide labels above 1 by the largest one.
                - Ties are broken by document id, descending, which rows do not have; sort them in that order.
                - Scores of trec_eval 9 and pytrec_eval are float32, so close scores tie.
                - trec_eval leaves topics that are missing from the run out of its mean, unless called with -c.
            """,
        ),
        "lightgbm": Convention(
            peer="LightGBM 4.3 to 4.7",
            metrics={
                "ndcg(gain=exp2, replace_undefined_by=1.0)": "ndcg",
                "map(replace_undefined_by=1.0)": "map",
            },
            not_imitated="""
                - In ndcg, a query without relevant documents adds 1 to the weighted sum, whatever its weight.
                - label_gain=[0, 1, 2, 3, 4] is gain='linear' here; its default is gain='exp2'.
            """,
        ),
        "xgboost": Convention(
            peer="XGBoost 3.0 to 3.2",
            metrics={
                # Names without a cutoff mean @32 there, whatever lambdarank_num_pair_per_sample is.
                "ndcg(gain=exp2, replace_undefined_by=1.0)@32": "ndcg@k",
                "map(replace_undefined_by=1.0)@32": "map@k",
                "precision(divisor=retrieved)@32": "pre@k",
            },
            not_imitated="""
                - Scores are float32, so close scores tie.
                - In ndcg, a query without relevant documents adds 1 to the weighted sum, whatever its weight.
                - A minus at the end of a name, as in ndcg- and map@k-, is replace_undefined_by=0 here.
                - ndcg_exp_gain=False is gain='linear' here; the metrics of XGBoost 3.0 ignore it.
            """,
            differs={
                "auc": "auc counts pairs with equal labels as well, in the order of rows, and leaves out queries "
                "of fewer than three documents and all weights.",
            },
        ),
        "catboost": Convention(
            peer="CatBoost 1.2",
            ties="worst",
            metrics={
                # Labels above 0.5, CatBoost's default border, are relevant.
                "ndcg(replace_undefined_by=1.0)": "NDCG:top=k;type=Base",
                "dcg": "DCG:top=k;type=Base",
                "map(relevance_threshold=0.5000000000000001)": "MAP:top=k",
                "mrr(relevance_threshold=0.5000000000000001)": "MRR:top=k",
                "precision(divisor=retrieved, relevance_threshold=0.5000000000000001)": "PrecisionAt:top=k",
                "recall(replace_undefined_by=1.0, relevance_threshold=0.5000000000000001)": "RecallAt:top=k",
                "err(gain=linear)": "ERR:top=k",
                "pfound": "PFound:top=k",
                "auc(ties=average)": "QueryAUC:type=Classic",
                "pairwise_accuracy(ties=average)": "QueryAUC:type=Ranking",
            },
            not_imitated="""
                - type=Exp of NDCG and DCG is gain='exp2' here.
                - MAP, PrecisionAt, RecallAt and QueryAUC ignore group weights there.
                - A score of NaN has an arbitrary rank there, which depends on the metric; here it is an error.
                - Labels are float32.
            """,
        ),
        "ranx": Convention(
            peer="ranx 0.3.21",
            ties_by_id="run",
            metrics={
                "ndcg": "ndcg@k",
                "dcg": "dcg@k",
                "map(normalizer=relevant)": "map@k",
                "mrr": "mrr@k",
                "precision": "precision@k",
                "recall": "recall@k",
                "f1": "f1@k",
                "hit_rate": "hit_rate@k",
                "r_precision": "r-precision",
            },
            not_imitated="""
                - ndcg_burges and dcg_burges are gain='exp2' here; hits is the number of hits, not the hit rate.
                - In lists of more than 15 documents, the order of tied documents is arbitrary.
            """,
            differs={
                "rbp": "rbp multiplies by the labels as they are, so graded labels can give values above 1.",
                "bpref": "bpref is nan for a query with relevant documents only, and a query without any can make it"
                " 0 for others.",
            },
        ),
        "ir_measures": Convention(
            peer="ir_measures 0.3.7 to 0.4.3",
            ties_by_id="id",
            metrics={
                "ndcg": "nDCG, nDCG@k",
                "map(normalizer=relevant)": "AP, AP@k",
                "mrr": "RR, RR@k",
                "precision": "P@k",
                "recall": "R@k",
                "hit_rate": "Success@k",
                "r_precision": "Rprec",
                "bpref": "Bpref",
                "err": "ERR@k",
                "auc": "Accuracy",
            },
            not_imitated="""
                - Ties are broken by document id, descending, which rows do not have; sort them in that order.
                - Scores are float32, so close scores tie, except in RR@k, ERR@k, Accuracy and nDCG(dcg='exp-log2')@k.
                - nDCG(dcg='exp-log2')@k is gain='exp2' here, rounded to five decimals there.
                - With nDCG(gains={...}), unjudged documents can have another gain than those that were judged 0.
            """,
            differs={
                "mrr": "RR@k breaks ties by document id, ascending; RR without a cutoff descending.",
                "err": "ERR@k is rounded to five decimals.",
                "auc": "Accuracy breaks ties by the order of rows, leaves out queries without relevant documents, "
                "and fails if a query has no others.",
            },
        ),
        "rax": Convention(
            peer="Rax 0.4",
            metrics={
                # Labels of at least 1 are relevant, and pairs of equal scores count as wrong.
                "ndcg(gain=exp2)": "ndcg_metric, ndcg_metric(topn=k)",
                "dcg(gain=exp2)": "dcg_metric, dcg_metric(topn=k)",
                "map(normalizer=relevant, relevance_threshold=1)": "ap_metric, ap_metric(topn=k)",
                "mrr(relevance_threshold=1)": "mrr_metric, mrr_metric(topn=k)",
                "precision(divisor=retrieved, relevance_threshold=1)": "precision_metric, precision_metric(topn=k)",
                "recall(relevance_threshold=1)": "recall_metric, recall_metric(topn=k)",
                "pairwise_accuracy(ties=worst)": "opa_metric",
            },
            not_imitated="""
                - Values, scores and labels are float32, as is the default of JAX.
                - Documents with a score of minus infinity are not retrieved there; here, that is retrieved=False.
            """,
        ),
        "spark": Convention(
            peer="pyspark 4.3, mllib.evaluation.RankingMetrics and ml.evaluation.RankingEvaluator",
            metrics={
                "ndcg": "ndcgAt(k)",
                "map": "meanAveragePrecision, meanAveragePrecisionAt(k)",
                "precision": "precisionAt(k)",
                "recall": "recallAt(k)",
            },
            not_imitated="""
                - Documents come in ranked order, without scores; sort the rows in that order.
                - Names with a cutoff end in AtK in RankingEvaluator, whose k is 10 by default.
            """,
            differs={
                "ndcg": "ndcgAt ignores grades, even in an RDD that holds them; pass labels of 0 and 1.",
            },
        ),
        "tf_ranking": Convention(
            peer="TF-Ranking 0.5.5, the examples of its documentation",
            ties="average",
            metrics={
                # These are the gains of Rax.
                "ndcg(gain=exp2)": "NDCGMetric, NDCGMetric(topn=k)",
                "dcg(gain=exp2)": "DCGMetric, DCGMetric(topn=k)",
                "map(normalizer=relevant, relevance_threshold=1)": "MeanAveragePrecisionMetric, "
                "MeanAveragePrecisionMetric(topn=k)",
                "mrr(relevance_threshold=1)": "MRRMetric, MRRMetric(topn=k)",
                "precision(divisor=retrieved, relevance_threshold=1)": "PrecisionMetric, PrecisionMetric(topn=k)",
                "recall(relevance_threshold=1)": "RecallMetric, RecallMetric(topn=k)",
                "hit_rate(relevance_threshold=1)": "HitsMetric, HitsMetric(topn=k)",
                "pairwise_accuracy(ties=worst)": "OPAMetric",
            },
            not_imitated="""
                - Ties are broken at random there; here, the value is the expectation.
                - Weights are per document there, and weight gains as well as queries.
                - Values, scores and labels are float32.
            """,
            differs={
                "pairwise_accuracy": "OPAMetric is the mean over pairs, which is average='micro' here.",
            },
        ),
        "torchmetrics": Convention(
            peer="TorchMetrics 1.9, the examples of its documentation",
            ties="average",
            metrics={
                "ndcg": "RetrievalNormalizedDCG, RetrievalNormalizedDCG(top_k=k)",
                "map(normalizer=hits)": "RetrievalMAP, RetrievalMAP(top_k=k)",
                "mrr": "RetrievalMRR, RetrievalMRR(top_k=k)",
                "precision": "RetrievalPrecision, RetrievalPrecision(top_k=k)",
                "recall": "RetrievalRecall, RetrievalRecall(top_k=k)",
                "hit_rate": "RetrievalHitRate, RetrievalHitRate(top_k=k)",
                "neg_fall_out(replace_undefined_by=1.0)": "RetrievalFallOut, RetrievalFallOut(top_k=k)",
                "r_precision": "RetrievalRPrecision",
                "auc": "RetrievalAUROC",
            },
            not_imitated="""
                - Scores are float32, so close scores tie.
                - Except in NDCG and AUROC, the order of tied documents is arbitrary there.
                - In MAP, MRR, precision and recall, relevant documents with a score <= 0 count as non-relevant.
                - adaptive_k=True is divisor='retrieved' here; empty_target_action is replace_undefined_by.
                - RetrievalFallOut is the positive value; here, strings and scorers use its negative.
            """,
            differs={
                "auc": "If a score is outside [0, 1], RetrievalAUROC takes the sigmoid of all scores of the query,"
                " in float32, so large ones tie.",
            },
        ),
        "quepid": Convention(
            peer="Quepid 6.4 to 8.0, the code of its scorers",
            metrics={
                "ndcg(gain=exp2, ideal=top)": "nDCG@k",
                "dcg(gain=exp2)": "DCG@k",
                "cg": "CG@k",
                "map(normalizer=relevant)": "AP@k",
                "mrr": "RR@k",
                "precision(divisor=retrieved)": "P@k",
                "err": "ERR@k",
            },
            not_imitated="""
                - Since 2025, the ideal of nDCG@k is that of all rated documents, without the cutoff: ideal='all'
                  here.
                - In ERR@k, grades end at 3: max_grade=3 here.
                - A case is scored by the mean over queries with at least one rating.
            """,
        ),
        "elasticsearch": Convention(
            peer="Elasticsearch 7 to 9, the tests of its ranking evaluation",
            metrics={
                # Requests without k return ten hits.
                "ndcg(gain=exp2, ideal=shown)@10": "dcg(normalize=true)",
                "dcg(gain=exp2)@10": "dcg",
                "mrr(relevance_threshold=1)@10": "mean_reciprocal_rank",
                "precision(divisor=retrieved, relevance_threshold=1)@10": "precision",
                "recall(relevance_threshold=1)@10": "recall",
                "err@10": "expected_reciprocal_rank",
            },
            not_imitated="""
                - maximum_relevance of expected_reciprocal_rank is max_grade here.
                - unknown_doc_rating is the label of documents that nobody rated.
                - ignore_unlabeled is condense=True here.
            """,
        ),
        "mlflow": Convention(
            peer="MLflow 2.11 to 3.17",
            metrics={
                "ndcg(gain=binary, ideal=shown)": "ndcg_at_k",
                "precision(divisor=retrieved)": "precision_at_k",
                "recall": "recall_at_k",
            },
            not_imitated="""
                - A query without relevant documents counts as 1 in ndcg_at_k and recall_at_k if nothing was
                  retrieved.
                - Repeated documents count repeatedly.
            """,
        ),
        "llama_index": Convention(
            peer="LlamaIndex 0.12.52 to 0.14",
            metrics={
                "ndcg(gain=binary, ideal=all)": "ndcg",
                "map(normalizer=relevant)": "ap",
                "mrr": "mrr",
                "precision(divisor=retrieved)": "precision",
                "recall": "recall",
                "hit_rate": "hit_rate",
            },
            not_imitated="""
                - The cutoff is the length of the list, similarity_top_k of the retriever.
                - Before 0.12.52, the ideal of ndcg took all retrieved documents for relevant: ideal=1 here.
                - A query without relevant or without retrieved documents is an error there.
            """,
        ),
        "recommenders": Convention(
            peer="Recommenders 1.2",
            metrics={
                "ndcg(gain=binary)": "ndcg_at_k",
                "map": "map_at_k",
                "precision": "precision_at_k",
                "recall": "recall_at_k",
            },
            not_imitated="""
                - score_type='raw' of ndcg_at_k is gain='linear' here, and 'exp' is gain='exp2'.
                - map divides by R: map(normalizer=relevant)@k here.
                - Every item of the truth is relevant, whatever its rating.
                - Users without recommendations are left out of all means but that of ndcg_at_k.
                - The order of tied items is arbitrary.
            """,
            differs={
                "r_precision": "r_precision_at_k leaves out users without a hit among the first R recommendations.",
            },
        ),
        "beir": Convention(
            peer="BEIR 2.0 to 2.2",
            ties_by_id="id",
            metrics={
                "ndcg": "NDCG@k",
                "map(normalizer=relevant)": "MAP@k",
                "mrr": "MRR@k",
                "precision": "P@k",
                "recall": "Recall@k",
                "hit_rate": "Accuracy@k",
            },
            not_imitated="""
                - Values are rounded to five decimals.
                - R_cap@k is recall(normalizer=min)@k here.
                - Hole@k is the share of documents that were judged for no query at all; judged@k looks at one query.
                - Ties are broken by document id, descending, which rows do not have; sort them in that order.
                - Scores are float32, so close scores tie, except in MRR@k, R_cap@k and Accuracy@k.
                - A document with the id of its query is removed from the run.
                - Queries without a list are left out of the means of NDCG, MAP, P and Recall.
            """,
            differs={
                "mrr": "MRR@k breaks ties by the order of the run.",
                "hit_rate": "Accuracy@k breaks ties by the order of the run.",
            },
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
