"""Calls as users write them. mypy and pyright must refuse each line with an ignore, and accept all others.

Both report an ignore that is not needed. ``test_front_door.py`` checks that the same lines fail at run time.
"""

from collections.abc import Callable
from datetime import date
from typing import Any, Literal, assert_type

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skrank_metrics import (
    QueryKFold,
    compare,
    evaluate,
    get_metric,
    make_ranking_scorer,
    map_score,
    ndcg_score,
    precision_at_k_score,
    with_qid,
)
from skrank_metrics.decisions import Comparison
from skrank_metrics.reports import RankingReport

FloatArray = NDArray[np.float64]
labels = [2, 0, 1]
scores = [0.9, 0.8, 0.1]
ids = ["a", "a", "b"]
y: NDArray[np.int64] = np.array(labels)
columns = {"y": labels, "score": scores, "query": ids}
frame = pd.DataFrame(columns)

# What comes out.
assert_type(ndcg_score(labels, scores, qid=ids), float)
assert_type(ndcg_score(labels, scores, qid=ids, average="macro"), float)
assert_type(ndcg_score(labels, scores, qid=ids, average=None), FloatArray)
assert_type(precision_at_k_score(labels, scores, qid=ids, k=10, average="micro"), float)
assert_type(evaluate(labels, scores, qid=ids, metrics=["ndcg@10", "map"]), RankingReport)
board = evaluate(labels, {"a": scores, "b": scores}, qid=ids)
assert_type(board, Comparison)
gate = compare(board, "mrr", baseline="a", margin={"mrr": 0.01})
assert_type(gate, Comparison)
assert_type(gate.decision, Literal["ship", "do not ship", "undecided"])
slices = compare(board.reports, "map", by=ids, baseline=["a"])
assert_type(slices, Comparison)
unnamed = compare(list(board.reports.values()), ["map", "mrr"])
assert_type(unnamed, Comparison)
assert_type(board.best_set, tuple[str, ...])

# What goes in: lists, arrays, Series, in one dimension or two.
ndcg_score(y, np.array(scores), qid=np.array(ids))
ndcg_score(
    frame["y"],
    frame["score"],
    qid=frame["query"],
    sample_weight=np.ones(3),
)
labelled = with_qid(frame["y"], frame["query"])
ndcg_score(labelled, frame["score"])
ndcg_score([labels], [scores])
ndcg_score(np.array([labels]), np.array([scores]))
unknown = float("nan")
ndcg_score([[1.0, unknown]], [scores[:2]], judged=[[True, False]])
days = [
    date(2026, 1, 1),
    date(2026, 1, 1),
    date(2026, 1, 2),
]
ndcg_score(labels, scores, qid=days, retrieved=[True, True, False])

# Options.
ndcg_score(
    labels,
    scores,
    qid=ids,
    k=10,
    ties="worst",
    replace_undefined_by=np.nan,
    gain="exp2",
    discount="reciprocal",
)
ndcg_score(labels, scores, qid=ids, gain=[0, 1, 3.5])
ndcg_score(labels, scores, qid=ids, gain=np.array([0, 1, 3]))
ndcg_score(labels, scores, qid=ids, gain=np.sqrt, discount=lambda ranks: np.log2(ranks + 1))
map_score(labels, scores, qid=ids, normalizer="relevant", relevance_threshold=2)

# What leads on from a metric.
metric: Callable[..., Any] = ndcg_score
make_ranking_scorer(ndcg_score, k=10)
bound = get_metric("ndcg@10")
assert_type(bound(labels, scores, qid=ids), float | FloatArray)
QueryKFold(n_splits=5, shuffle=True, random_state=0)

# What is refused.
ndcg_score(labels, scores, qid=ids, kk=3)  # type: ignore[call-overload]
ndcg_score(labels, scores, qid=ids, k="10")  # type: ignore[call-overload]
ndcg_score(labels, scores, qid=ids, k=2.5)  # type: ignore[call-overload]
ndcg_score(labels, scores, qid=ids, ties="wrong")  # type: ignore[call-overload]
ndcg_score(labels, scores, qid=ids, average="micro")  # type: ignore[call-overload]
ndcg_score(labels, scores, qid=ids, gain="exp")  # type: ignore[arg-type]
ndcg_score(labels, scores, qid=ids, relevance_threshold=1)  # type: ignore[call-overload]
ndcg_score(labels, scores, ids)  # type: ignore[call-overload]
ndcg_score(labels)  # type: ignore[call-overload]
map_score(labels, scores, qid=ids, normalizer="min(k, R)")  # type: ignore[call-overload]
precision_at_k_score(labels, scores, qid=ids, average="samples")  # type: ignore[call-overload]
QueryKFold(splits=5)  # type: ignore[call-arg]
