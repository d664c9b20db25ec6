"""Columns whose indexes name other rows, wherever the labels of the rows come from."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

from skrank_metrics import QueryKFold, compare, cross_evaluate, evaluate
from skrank_metrics.sources import RankingAccumulator

ROWS = list("abcdefghijkl")
Y = np.tile([1, 0, 0], 4)
QID = np.repeat([0, 1, 2, 3], 3)
SCORES = np.linspace(0, 1, 12)


def labelled(values, name=None):
    return pd.Series(values, index=ROWS, name=name)


BY = labelled(list("wwwxxxyyyzzz"))
UNLABELLED = {"y_true": Y, "y_score": {"a": SCORES, "b": -SCORES}, "qid": QID}
WEIGHTS = labelled(np.repeat([1.0, 2, 3, 4], 3))
FRAME = pd.DataFrame([[1, 2]] * 3, columns=["b", "a"], index=list("xyz"))


@pytest.mark.parametrize(
    "call",
    [
        lambda by, w: evaluate(Y, SCORES, qid=labelled(QID), by=by),
        lambda by, w: evaluate(Y, labelled(SCORES, "score"), qid=QID, groups=by),
        lambda by, w: RankingAccumulator("mrr").update(labelled(Y), SCORES, qid=QID, by=by),
        lambda by, w: RankingAccumulator("mrr").update(
            labelled(Y), SCORES, qid=QID, sample_weight=w
        ),
        lambda by, w: compare(
            [evaluate(labelled(Y), x, qid=QID, metrics="mrr") for x in (SCORES, -SCORES)], by=by
        ),
        lambda by, w: evaluate(
            Y, {"a": labelled(SCORES, "a"), "b": -SCORES}, qid=QID, sample_weight=w
        ),
        lambda by, w: evaluate(Y, {"a": labelled(SCORES, "a"), "b": -SCORES}, qid=QID, by=by),
        lambda by, w: evaluate(
            Y, {"a": labelled(SCORES, "a"), "b": -SCORES}, qid=QID, by={"g": by}
        ),
        lambda by, w: evaluate(
            Y, {"a": labelled(SCORES, "a"), "b": -SCORES}, qid=QID, documents={"w": w}
        ),
        lambda by, w: evaluate(**UNLABELLED | {"qid": labelled(QID)}, documents={"w": w}),
        lambda by, w: cross_evaluate(
            Ridge(),
            pd.DataFrame({"x": SCORES}, index=ROWS),
            labelled(Y),
            qid=QID,
            cv=QueryKFold(2),
            by={"g": by},
        ),
    ],
)
def test_rows_in_another_order_are_an_error(call):
    call(BY, WEIGHTS)
    with pytest.raises(ValueError, match="same index"):
        call(BY[::-1], WEIGHTS[::-1])


def test_scores_of_models_in_different_orders_are_an_error():
    scores = {"a": labelled(SCORES, "a"), "b": labelled(SCORES, "b")[::-1]}
    with pytest.raises(ValueError, match=r"y_score\['b'\] must have the same index"):
        evaluate(Y, scores, qid=QID)
    with pytest.raises(ValueError, match="same columns"):
        evaluate(FRAME[["a", "b"]], {"a": FRAME, "b": FRAME.to_numpy()}, metrics="mrr")
    with pytest.raises(ValueError, match="same index"):
        evaluate(FRAME.to_numpy(), {"a": FRAME, "b": FRAME[::-1]}, metrics="mrr")
