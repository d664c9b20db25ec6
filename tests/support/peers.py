"""What ranx, ir_measures, Rax and Spark make of the same queries.

``python -m support.peers``, where they are installed, adds their values to golden/peers.json.
"""

import importlib.metadata
import json
import sys
from pathlib import Path

import numpy as np

GOLDEN = Path(__file__).parents[1] / "golden" / "peers.json"
# Labels as a peer takes them: Rax draws the border of relevance at 1, Spark has no grades.
LABELS = {"rax": lambda labels: labels / 2, "spark": lambda labels: (labels > 0).astype(int)}
PACKAGES = {"ranx": "ranx", "ir_measures": "ir-measures", "rax": "rax", "spark": "pyspark"}
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
}


def queries():
    """Queries of 1 to 13 documents with many ties, some without relevant documents or with relevant ones only."""
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(21), np.tile(np.arange(1, 15, 2), 3))
    labels, scores = rng.integers(0, 4, len(qid)), rng.integers(1, 7, len(qid)) / 8
    labels[np.isin(qid, [2, 3])] = 0
    labels[qid == 4] = 2
    return labels, scores, qid


def _runs(labels, scores, qid, ascending=False):
    """Judgements and a run as dictionaries, whose ids order tied documents by row."""
    rows, qrel, run = range(len(qid)), {}, {}
    for query, row, label, score in zip(
        qid, rows if ascending else rows[::-1], labels, scores, strict=True
    ):
        qrel.setdefault(str(query + 1), {})[f"{row:04d}"] = int(label)
        run.setdefault(str(query + 1), {})[f"{row:04d}"] = float(score)
    return qrel, run


def ranx(name, labels, scores, qid):
    import ranx

    qrel, run = _runs(labels, scores, qid)
    found = ranx.Run(run)
    ranx.evaluate(ranx.Qrels(qrel), found, name)
    return [float(found.scores[name][query]) for query in qrel]


def ir_measures(name, labels, scores, qid):
    import ir_measures

    qrel, run = _runs(labels, scores, qid, ascending=name.startswith("RR@"))
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


PEERS = {"ranx": ranx, "ir_measures": ir_measures, "rax": rax, "spark": spark}


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
            name: PEERS[convention](name, seen, scores, qid) for name in NAMES[convention].split()
        }
    GOLDEN.write_text(json.dumps(golden, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
