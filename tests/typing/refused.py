"""Wrong calls, one a line: mypy and pyright must refuse each. Both report an ignore that is not needed."""

from skrank_metrics import (
    QueryKFold,
    compare,
    cross_evaluate,
    evaluate,
    evaluate_lists,
    evaluate_run,
    get_metric,
    make_ranking_scorer,
    ranking_scorers,
    with_qid,
)
from skrank_metrics.conventions import explain_difference, match_convention
from skrank_metrics.metrics import get_metrics
from skrank_metrics.rankers import builtin_metric
from skrank_metrics.sources import RankingAccumulator, evaluate_batches

labels = [2, 0, 1]
scores = [0.9, 0.8, 0.1]
ids = ["a", "a", "b"]
qrels = {"q": {"d": 1}}
run = {"q": {"d": 0.5}}
report = evaluate(labels, scores, qid=ids)
reports = [report, report]

# Calls that are right.
evaluate_run(qrels, run, ["mrr", "P@5"], missing="skip", duplicates="first")
evaluate_lists([[1, 0, 0], [0, 1]], ["mrr", "hit_rate@5"])
evaluate(labels, scores, qid=ids, metrics=get_metrics("ndcg@10", ties="worst"))
compare(reports, baseline="0", margin=0.01).verdict.split()
make_ranking_scorer("ndcg@10", convention="lightgbm", retrieved="scored")
batches = evaluate_batches("rows.parquet", label="y", score="s", qid="q")
batches.mean.values()
board = evaluate_batches("rows.parquet", label="y", score=["s", "t"], qid="q")
board.verdict.split()

# Calls that are wrong.
evaluate("y", 7)  # type: ignore[call-overload]
evaluate(labels, "score", qid=ids)  # type: ignore[arg-type]
evaluate(labels, scores, qid=ids, metrics=3)  # type: ignore[call-overload]
evaluate(labels, scores, qid=ids, convention="lightgmb")  # type: ignore[call-overload]
evaluate(labels, scores, qid=ids, ties="worst")  # type: ignore[call-overload]
evaluate(labels, scores, qid=ids, condense="yes")  # type: ignore[call-overload]
evaluate(labels, scores, ids)  # type: ignore[call-overload]
evaluate_lists([1, 0, 1], "mrr")  # type: ignore[list-item]
evaluate_lists([[1, 0]], "mrr", convention="beer")  # type: ignore[arg-type]
evaluate_run(1, 2, missing="zeros")  # type: ignore[call-overload]
evaluate_run({}, 2)  # type: ignore[call-overload]
evaluate_run(qrels, run, missing="zeros")  # type: ignore[call-overload]
evaluate_run(qrels, run, duplicates="last")  # type: ignore[call-overload]
evaluate_run(qrels, run, convention="trec")  # type: ignore[call-overload]
batches.foo  # type: ignore[attr-defined]
board.foo  # type: ignore[attr-defined]
evaluate_batches("rows.parquet", label="y", score="s", qid="q", order="any")  # type: ignore[call-overload]
evaluate_batches("rows.parquet", label="y", score=3, qid="q")  # type: ignore[call-overload]
compare(reports, test="t")  # type: ignore[call-arg]
compare(reports, margin="0.01")  # type: ignore[arg-type]
compare(reports, baseline=["0", 1])  # type: ignore[list-item]
compare(report)  # type: ignore[arg-type]
compare(reports).foo  # type: ignore[attr-defined]
report.foo  # type: ignore[attr-defined]
get_metric("ndcg", convention="lightgmb")  # type: ignore[arg-type]
get_metric(10)  # type: ignore[arg-type]
get_metrics("ndcg", 10)  # type: ignore[arg-type]
make_ranking_scorer(3)  # type: ignore[arg-type]
make_ranking_scorer("ndcg", retrieved="some")  # type: ignore[arg-type]
ranking_scorers("ndcg", convention="sk")  # type: ignore[arg-type]
with_qid(labels, 3)  # type: ignore[arg-type]
builtin_metric("ndcg", "lightgbm")  # type: ignore[arg-type]
match_convention(labels, scores, qid=ids, value=[0.5])  # type: ignore[arg-type]
explain_difference(labels, scores, qid=ids, conventions=("sklearn", "lgbm"))  # type: ignore[arg-type]
QueryKFold(5, stratify="labels")  # type: ignore[arg-type]
cross_evaluate(3, [[1.0]], [1], qid=["a"])  # type: ignore[arg-type]
RankingAccumulator(3)  # type: ignore[arg-type]
