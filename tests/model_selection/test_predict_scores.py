import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB

from skrank_metrics import make_ranking_scorer, ndcg_score, with_qid
from skrank_metrics.model_selection.scorers import predict_scores

X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
Y = np.array([0, 0, 1, 0, 1, 1])
QID = np.array([0, 1, 0, 1, 0, 1])


@pytest.mark.parametrize(
    ("model", "scores"),
    [
        (LogisticRegression(), lambda model: model.decision_function(X)),
        (GaussianNB(), lambda model: model.predict_proba(X)[:, 1]),
        (Ridge(), lambda model: model.predict(X)),
    ],
)
def test_scores_are_those_that_the_scorers_see(model, scores):
    model.fit(X, Y)
    np.testing.assert_array_equal(predict_scores(model, X), scores(model))
    scored = make_ranking_scorer("ndcg@2")(model, X, with_qid(Y, QID))
    assert ndcg_score(Y, predict_scores(model, X), qid=QID, k=2) == scored


def test_a_score_for_each_class_is_refused():
    model = LogisticRegression().fit(X, [0, 1, 2, 0, 1, 2])
    with pytest.raises(ValueError, match=r"got 3 columns, one per class\. Wrap the model in QueryRanker"):
        predict_scores(model, X)


def test_what_cannot_predict_is_refused():
    with pytest.raises(TypeError, match=r"estimator must have one of decision_function.*got ndarray"):
        predict_scores(X, X)
