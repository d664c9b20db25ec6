"""What other libraries make of the same queries.

``python -m support.peers``, where they are installed, adds their values to golden/peers.json, and ``python -m
support.peers by_id`` those of lists by id.
"""

import importlib.metadata
import json
import sys
from pathlib import Path

import numpy as np

GOLDEN = Path(__file__).parents[1] / "golden" / "peers.json"
# Labels as a peer takes them: Rax draws the border of relevance at 1, Spark has no grades.
LABELS = {"rax": lambda labels: labels / 2, "spark": lambda labels: (labels > 0).astype(int)}
PACKAGES = {
    "ranx": "ranx",
    "ir_measures": "ir-measures",
    "rax": "rax",
    "spark": "pyspark",
    "mlflow": "mlflow-skinny",
    "llama_index": "llama-index-core",
    "recommenders": "recommenders",
    "beir": "beir",
}
# What to import, if it is not named like the convention.
MODULES = {
    "mlflow": "mlflow.metrics.metric_definitions",
    "llama_index": "llama_index.core.evaluation.retrieval.metrics",
    "recommenders": "recommenders.evaluation.python_evaluation",
    "beir": "beir.retrieval.evaluation",
}
NAMES = {
    "ranx": (
        "ndcg ndcg@1 ndcg@5 ndcg@20 dcg@5 map map@3 map@20 mrr mrr@2 precision@3 precision@20 recall@3 recall@20 "
        "f1@3 f1@20 hit_rate@2 r-precision"
    ),
    "ir_measures": (
        "nDCG nDCG@1 nDCG@5 nDCG@20 AP AP@3 AP@20 RR RR@2 P@3 P@20 R@3 R@20 Success@2 Rprec Bpref ERR@5 ERR@20 Accuracy"
    ),
    "rax": (
        "ndcg_metric ndcg_metric(topn=5) ndcg_metric(topn=20) dcg_metric(topn=5) ap_metric ap_metric(topn=3) "
        "ap_metric(topn=20) mrr_metric mrr_metric(topn=2) precision_metric(topn=3) precision_metric(topn=20) "
        "recall_metric(topn=3) recall_metric(topn=20) opa_metric"
    ),
    "spark": (
        "ndcgAt(1) ndcgAt(5) ndcgAt(20) meanAveragePrecision meanAveragePrecisionAt(3) meanAveragePrecisionAt(20) "
        "precisionAt(3) precisionAt(20) recallAt(3) recallAt(20)"
    ),
    "mlflow": (
        "ndcg_at_1 ndcg_at_3 ndcg_at_20 precision_at_3 precision_at_20 recall_at_3 recall_at_20"
    ),
    "llama_index": "ndcg ap mrr precision recall hit_rate",
    "recommenders": (
        "ndcg_at_1 ndcg_at_3 ndcg_at_20 map_at_3 map_at_20 precision_at_3 precision_at_20 recall_at_3 recall_at_20"
    ),
    "beir": (
        "NDCG@1 NDCG@3 NDCG@20 MAP@3 MAP@20 P@3 P@20 Recall@3 Recall@20 MRR@2 MRR@20 Accuracy@2"
    ),
}


def queries():
    """Queries of 1 to 13 documents with many ties, some without relevant documents or with relevant ones only."""
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(21), np.tile(np.arange(1, 15, 2), 3))
    labels = rng.integers(0, 4, len(qid))
    scores = rng.integers(1, 7, len(qid)) / 8
    labels[np.isin(qid, [2, 3])] = 0
    labels[qid == 4] = 2
    return labels, scores, qid


# Those that compare what is true with what was returned: a score of minus infinity was not.
OF_RETRIEVAL = ("mlflow", "llama_index", "recommenders", "beir")


def scores_of(convention, scores, qid):
    """The scores as a peer sees them; of every query, at least the first document was retrieved."""
    is_first = np.diff(qid, prepend=-1) != 0
    is_left_out = (np.arange(len(scores)) % 4 == 2) & ~is_first & (convention in OF_RETRIEVAL)
    return np.where(is_left_out, -np.inf, scores)


def runs(labels, scores, qid, ascending=False):
    """Judgements and a run as dictionaries, whose ids order tied documents by row."""
    rows = range(len(qid))
    qrel = {}
    run = {}
    for query, row, label, score in zip(
        qid, rows if ascending else rows[::-1], labels, scores, strict=True
    ):
        qrel.setdefault(str(query + 1), {})[f"{row:04d}"] = int(label)
        if score > -np.inf:
            run.setdefault(str(query + 1), {})[f"{row:04d}"] = float(score)
    return qrel, run


def ranx(name, labels, scores, qid):
    import ranx

    qrel, run = runs(labels, scores, qid)
    found = ranx.Run(run)
    ranx.evaluate(ranx.Qrels(qrel), found, name)
    return [float(found.scores[name][query]) for query in qrel]


def ir_measures(name, labels, scores, qid):
    import ir_measures

    qrel, run = runs(labels, scores, qid, ascending=name.startswith("RR@"))
    judged = qrel
    if name == "Accuracy":
        judged = {
            query: grades
            for query, grades in qrel.items()
            if min(grades.values()) == 0 < max(grades.values())
        }
    ran = {query: run[query] for query in judged}
    values = {
        one.query_id: one.value
        for one in ir_measures.iter_calc([ir_measures.parse_measure(name)], judged, ran)
    }
    return [values.get(query, 0.0) for query in qrel]


def rax(name, labels, scores, qid):
    import jax.numpy as jnp
    import rax

    word, _, topn = name.rstrip(")").partition("(topn=")
    metric, params = getattr(rax, word), {"topn": int(topn)} if topn else {}
    rows = [qid == query for query in np.unique(qid)]
    return [float(metric(jnp.array(scores[row]), jnp.array(labels[row]), **params)) for row in rows]


def spark(name, labels, scores, qid):
    """The mean only, as Spark gives it."""
    from pyspark.mllib.evaluation import RankingMetrics
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    )
    ranked = np.argsort(-scores, kind="stable")
    lists = [
        [
            rows[qid[rows] == query].astype(float).tolist()
            for rows in (ranked, np.flatnonzero(labels > 0))
        ]
        for query in np.unique(qid)
    ]
    metrics = RankingMetrics(session.sparkContext.parallelize(lists))
    word, _, k = name.rstrip(")").partition("(")
    return getattr(metrics, word)(int(k)) if k else getattr(metrics, word)


def _ranked_and_relevant(labels, scores, qid):
    """Of each query, the rows in ranked order and the rows of relevant documents."""
    ranked = np.argsort(-scores, kind="stable")
    ranked = ranked[scores[ranked] > -np.inf]
    for query in np.unique(qid):
        relevant = np.flatnonzero((qid == query) & (labels > 0))
        yield ranked[qid[ranked] == query].tolist(), relevant.tolist()


def mlflow(name, labels, scores, qid):
    import pandas as pd
    from mlflow.metrics import metric_definitions

    word, k = name.rsplit("_", 1)
    function = getattr(metric_definitions, f"_{word}_k_eval_fn")(int(k))
    ranked, relevant = zip(*_ranked_and_relevant(labels, scores, qid), strict=True)
    texts = [pd.Series([list(map(str, rows)) for rows in lists]) for lists in (ranked, relevant)]
    return [float(value) for value in function(*texts).scores]


def llama_index(name, labels, scores, qid):
    from llama_index.core.evaluation.retrieval.metrics import METRIC_REGISTRY

    metric = METRIC_REGISTRY[name]()
    values = []
    for ranked, relevant in _ranked_and_relevant(labels, scores, qid):
        if not relevant:  # an error there
            values.append(0.0)
            continue
        ids = [list(map(str, rows)) for rows in (relevant, ranked)]
        values.append(float(metric.compute(expected_ids=ids[0], retrieved_ids=ids[1]).score))
    return values


def recommenders(name, labels, scores, qid):
    """One user at a time, with ties broken by row before."""
    import pandas as pd
    from recommenders.evaluation import python_evaluation

    word, k = name.rsplit("_", 1)
    values = []
    for ranked, relevant in _ranked_and_relevant(labels, scores, qid):
        if not relevant:  # users of whom nothing is known are left out there
            values.append(0.0)
            continue
        truth = pd.DataFrame(
            {"userID": 1, "itemID": relevant, "rating": labels[relevant].astype(float)}
        )
        ratings = np.arange(len(ranked), 0.0, -1)
        found = pd.DataFrame({"userID": 1, "itemID": ranked, "prediction": ratings})
        function = getattr(python_evaluation, f"{word}_k")
        values.append(float(function(truth, found, k=int(k))))
    return values


def beir(name, labels, scores, qid):
    """The mean only, with five decimals."""
    from beir.retrieval.custom_metrics import mrr, top_k_accuracy
    from beir.retrieval.evaluation import EvaluateRetrieval

    word, k = name.split("@")
    cutoffs = [int(k)]
    if word in ("MRR", "Accuracy"):
        qrel, run = runs(labels, scores, qid, ascending=True)
        return {"MRR": mrr, "Accuracy": top_k_accuracy}[word](qrel, run, cutoffs)[name]
    of_trec_eval = EvaluateRetrieval.evaluate(*runs(labels, scores, qid), cutoffs)
    return {name: value for found in of_trec_eval for name, value in found.items()}[name]


# Libraries that take judgments and runs by id, with ties and with labels of -1.
NAMES_BY_ID = {
    "trec_eval": "ndcg ndcg_cut_3 map map_cut_3 recip_rank P_3 recall_3 success_1 Rprec bpref",
    "ir_measures": "nDCG nDCG@3 AP AP@3 RR P@3 R@3 Success@1 Rprec Bpref",
    "beir": "NDCG@3 NDCG@10 MAP@3 MAP@10 P@3 Recall@3",
    "ranx": NAMES["ranx"],
}


def lists_by_id(seed=0):
    """Judgments and a run of documents in random order, partly judged; some scores tie in float32 only."""
    rng = np.random.default_rng(seed)
    qrels, run = {}, {}
    for query in range(1, 13):
        documents = rng.permutation([f"{letter}{number}" for letter in "ab" for number in range(7)])
        labels = rng.choice([-1, 0, 0, 1, 2, 3], 9)
        scores = rng.choice([0.1, 0.2, 0.3, 0.3000000001], 11)
        qrels[f"q{query}"] = dict(zip(documents[:9].tolist(), labels.tolist(), strict=True))
        run[f"q{query}"] = dict(zip(documents[3:].tolist(), scores.tolist(), strict=True))
    return qrels, run


def trec_eval_by_id(name, qrels, run):
    import pytrec_eval

    word, _, k = name.rpartition("_")
    measure = f"{word}.{k}" if k.isdigit() else name
    values = pytrec_eval.RelevanceEvaluator(qrels, {measure}).evaluate(run)
    return [values[query][name] for query in qrels]


def ir_measures_by_id(name, qrels, run):
    import ir_measures

    found = ir_measures.iter_calc([ir_measures.parse_measure(name)], qrels, run)
    values = {one.query_id: one.value for one in found}
    return [values[query] for query in qrels]


def beir_by_id(name, qrels, run):
    """The mean only, with five decimals."""
    from beir.retrieval.evaluation import EvaluateRetrieval

    found = EvaluateRetrieval.evaluate(qrels, run, [int(name.partition("@")[2])])
    return {word: value for values in found for word, value in values.items()}[name]


def ranx_by_id(name, qrels, run):
    import ranx

    found = ranx.Run(run)
    ranx.evaluate(ranx.Qrels(qrels), found, name)
    return [float(found.scores[name][query]) for query in qrels]


BY_ID = {
    "trec_eval": trec_eval_by_id,
    "ir_measures": ir_measures_by_id,
    "beir": beir_by_id,
    "ranx": ranx_by_id,
}
# Libraries whose values are recorded, since tests need not have them installed.
RECORDED_BY_ID = ("beir", "ranx")


def main_by_id():
    """Record the values of lists by id."""
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    golden["by_id"] = {}
    for convention in RECORDED_BY_ID:
        golden["by_id"][convention] = {
            name: BY_ID[convention](name, *lists_by_id())
            for name in NAMES_BY_ID[convention].split()
        }
    GOLDEN.write_text(json.dumps(golden, indent=1) + "\n", encoding="utf-8")


PEERS = {
    "ranx": ranx,
    "ir_measures": ir_measures,
    "rax": rax,
    "spark": spark,
    "mlflow": mlflow,
    "llama_index": llama_index,
    "recommenders": recommenders,
    "beir": beir,
}


def main(conventions):
    """Record the values of the given conventions, by default of all."""
    golden = json.loads(GOLDEN.read_text(encoding="utf-8")) if GOLDEN.exists() else {}
    labels, scores, qid = queries()
    golden["queries"] = {"labels": labels.tolist(), "scores": scores.tolist(), "qid": qid.tolist()}
    for convention in conventions or PEERS:
        seen = LABELS.get(convention, np.asarray)(labels)
        golden.setdefault("versions", {})[convention] = importlib.metadata.version(
            PACKAGES[convention]
        )
        golden.setdefault("values", {})[convention] = {
            name: PEERS[convention](name, seen, scores_of(convention, scores, qid), qid)
            for name in NAMES[convention].split()
        }
    GOLDEN.write_text(json.dumps(golden, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main_by_id() if sys.argv[1:] == ["by_id"] else main(sys.argv[1:])
