"""Where sources of ids and of rows meet: users and queries, qid and the index of y, frames that were sorted apart."""

import re

import numpy as np
import pandas as pd
import pytest
import sklearn
from lightgbm import LGBMRanker
from sklearn.ensemble import BaggingRegressor
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skrank_metrics import (
    QueryKFold,
    QueryRanker,
    cross_evaluate,
    evaluate,
    make_ranking_scorer,
    ndcg_score,
    query_train_test_split,
    ranking_scorers,
    with_qid,
)
from skrank_metrics.datasets import make_ranking
from skrank_metrics.model_selection import search_report
from skrank_metrics.splitters import audit_splits

X, Y, QID = make_ranking(40, random_state=0)
USER = QID // 5  # eight users of five queries each
SCORER = make_ranking_scorer("ndcg@10")
SCORERS = ranking_scorers("ndcg@10", "map")
RANKERS = {
    "Ridge": QueryRanker(Ridge()),
    "LightGBM": QueryRanker(LGBMRanker(n_estimators=5, verbose=-1, n_jobs=1)),
}


# Ids: split by user, rank by query.


def by_hand(model, cv):
    scores = []
    for train, test in cv.split(X, Y, groups=USER):
        fitted = sklearn.base.clone(model).fit(X[train], Y[train], qid=QID[train])
        predicted = fitted.predict(X[test])
        scores.append(ndcg_score(Y[test], predicted, qid=QID[test], k=10))
    return scores


@pytest.mark.parametrize(
    "cv", [QueryKFold(4), GroupKFold(4), LeaveOneGroupOut()], ids=lambda cv: type(cv).__name__
)
@pytest.mark.parametrize("model", RANKERS.values(), ids=RANKERS)
@pytest.mark.slow
def test_groups_of_users_split_and_the_index_of_y_ranks_with_routing_or_without(model, cv):
    y = with_qid(Y, QID)
    expected = by_hand(model, cv)
    off = cross_val_score(model, X, y, groups=USER, cv=cv, scoring=SCORER)
    with sklearn.config_context(enable_metadata_routing=True):
        on = cross_val_score(model, X, y, params={"groups": USER}, cv=cv, scoring=SCORER)
        own = cross_val_score(model, X, y, params={"groups": USER}, cv=cv)  # QueryRanker.score
        both = cross_val_score(
            model, X, Y, params={"groups": USER, "qid": QID}, cv=cv, scoring=SCORER
        )
    for found in (off, on, own, both):
        np.testing.assert_array_equal(found, expected)
    ranked_by_user = []
    for train, test in cv.split(X, Y, groups=USER):
        fitted = Ridge().fit(X[train], Y[train])
        predicted = fitted.predict(X[test])
        ranked_by_user.append(ndcg_score(Y[test], predicted, qid=USER[test], k=10))
    assert np.abs(np.subtract(ranked_by_user, expected)).max() > 0.05, "the difference would show"


def routed(function):
    with sklearn.config_context(enable_metadata_routing=True):
        return function()


# Rows: a shuffled frame, of which one part is sorted without the other.

ORDER = np.random.default_rng(0).permutation(len(Y))
FRAME = pd.DataFrame(X).iloc[ORDER]
LABELS = pd.Series(Y).iloc[ORDER]
IDS = pd.Series(QID).iloc[ORDER]
SORTED = FRAME.sort_index()


def search(model, cv, **options):
    name = next(name for name in model.get_params() if name.endswith("alpha"))
    grid = {name: [1.0, 1e4]}
    return GridSearchCV(model, grid, scoring=SCORER, cv=cv, **options)


def fitted_search():
    return search(QueryRanker(Ridge()), QueryKFold(4)).fit(FRAME, with_qid(LABELS, IDS))


OUT_OF_STEP = {
    "scorers": lambda X, y, qid: [
        s(Ridge().fit(FRAME, LABELS), X, with_qid(y, qid)) for s in SCORERS.values()
    ],
    "score": lambda X, y, qid: (
        QueryRanker(Ridge()).fit(FRAME, LABELS, qid=IDS).score(X, y, qid=qid)
    ),
    "search_report, index": lambda X, y, qid: search_report(fitted_search(), X, with_qid(y, qid)),
    "search_report, qid": lambda X, y, qid: search_report(fitted_search(), X, y, qid=qid),
}


@pytest.mark.parametrize("call", OUT_OF_STEP.values(), ids=OUT_OF_STEP)
@pytest.mark.slow
def test_rows_out_of_step_are_an_error(call):
    call(FRAME, LABELS, IDS)
    with pytest.raises(
        ValueError, match="must have the same index as X; got the same labels in different orders"
    ):
        call(SORTED, LABELS, IDS)
    with pytest.raises(
        ValueError,
        match=r"must have the same index as (X|y); got the same labels in different orders",
    ):
        call(FRAME, LABELS.sort_index(), IDS.sort_index())
    named = FRAME.set_axis([f"row {i}" for i in ORDER])
    with pytest.raises(
        ValueError, match=r"must have the same index as (X|y); got different labels"
    ):
        call(named[1:], LABELS.set_axis(named.index)[:-1], IDS[1:])


CARRIED = with_qid(LABELS, IDS)
PIPELINE = make_pipeline(StandardScaler(), QueryRanker(Ridge()))
SELECTOR = SequentialFeatureSelector(
    Ridge(), n_features_to_select=1, scoring=SCORER, cv=QueryKFold(3)
)
BAGGING = BaggingRegressor(QueryRanker(Ridge()), 2, bootstrap=False)
CARRYING = {
    "search": lambda X, y: search(Ridge(), GroupKFold(4)).fit(
        X, y, groups=y.index.get_level_values(0)
    ),
    "search, QueryRanker": lambda X, y: search(QueryRanker(Ridge()), QueryKFold(4)).fit(X, y),
    "search, Pipeline": lambda X, y: search(PIPELINE, QueryKFold(4)).fit(X, y),
    "cross_val_score": lambda X, y: cross_val_score(QueryRanker(Ridge()), X, y, cv=QueryKFold(4)),
    "scorer": lambda X, y: SCORER(Ridge().fit(FRAME, LABELS), X, y),
    "fit": lambda X, y: QueryRanker(Ridge()).fit(X, y),
    "score": lambda X, y: QueryRanker(Ridge()).fit(FRAME, LABELS, qid=IDS).score(X, y),
    "cross_evaluate": lambda X, y: cross_evaluate(Ridge(), X, y),
    "audit_splits": lambda X, y: audit_splits(QueryKFold(4), X, y),
    "query_train_test_split": lambda X, y: query_train_test_split(X, y),
    "evaluate": lambda X, y: evaluate(y, X[0]),
    "search_report": lambda X, y: search_report(fitted_search(), X, y),
    "Pipeline.fit": PIPELINE.fit,
    "Pipeline.score": lambda X, y: PIPELINE.fit(FRAME, CARRIED).score(X, y),
    "SequentialFeatureSelector": SELECTOR.fit,
    "RFECV": lambda X, y: routed(
        lambda: RFECV(Ridge(), scoring=SCORER, cv=QueryKFold(3)).fit(
            X, y, groups=y.index.get_level_values(0)
        )
    ),
    "Bagging": lambda X, y: routed(lambda: BAGGING.fit(X, y, qid=y.index)),
}


@pytest.mark.parametrize("call", CARRYING.values(), ids=CARRYING)
@pytest.mark.filterwarnings("ignore:.*were also in the training set:UserWarning")
@pytest.mark.slow
def test_a_shuffled_frame_beside_labels_that_counted_their_rows_is_an_error(call):
    y = with_qid(pd.Series(Y), pd.Series(QID))
    with pytest.raises(
        ValueError, match=r"the same index as (X|arrays\[0\]|y_true); got the same labels in diff"
    ):
        call(FRAME, y)
    call(FRAME, y.iloc[ORDER])  # shuffled alike
    call(FRAME, with_qid(Y[ORDER], QID[ORDER]))
    call(FRAME.reset_index(drop=True), with_qid(LABELS, IDS).droplevel(1))
    half = FRAME.index < len(Y) // 2
    call(FRAME[half], y.iloc[ORDER][half])


def test_weights_and_groups_out_of_step_are_errors():
    weights = pd.Series(1.0, index=SORTED.index)
    with pytest.raises(ValueError, match="sample_weight must have the same index as"):
        with_qid(LABELS, IDS, sample_weight=weights)
    with pytest.raises(ValueError, match="groups must have the same index as X"):
        cross_evaluate(Ridge(), FRAME, LABELS, qid=IDS, groups=IDS.sort_index())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "cv", "n_jobs"),
    [
        ("groups", GroupKFold(4), 1),
        ("groups", QueryKFold(4), 1),
        ("groups", GroupKFold(4), 2),
        ("sample_weight", GroupKFold(4), 1),
        ("sample_weight", QueryKFold(4), 1),
    ],
)
def test_metadata_out_of_step_are_errors_in_a_search(name, cv, n_jobs):
    metadata = {"groups": IDS, "sample_weight": pd.Series(1.0, index=IDS.index)}
    with sklearn.config_context(enable_metadata_routing=True):
        model = QueryRanker(Ridge()).set_fit_request(sample_weight=True)
        scorer = make_ranking_scorer("ndcg@10").set_score_request(
            qid=True, groups=True, sample_weight=True
        )
        searching = GridSearchCV(
            model, {"estimator__alpha": [1.0]}, scoring=scorer, cv=cv, n_jobs=n_jobs
        )
        searching.fit(FRAME, LABELS, **metadata)
        metadata[name] = metadata[name].sort_index()
        for call in (
            lambda: searching.fit(FRAME, LABELS, **metadata),
            lambda: cross_validate(
                model, FRAME, LABELS, params=metadata, cv=cv, scoring=scorer, n_jobs=n_jobs
            ),
        ):
            with pytest.raises(
                ValueError,
                match=f"{name} must have the same index as X; got the same labels in diff",
            ):
                call()


@pytest.mark.parametrize("index", [[f"row {i}" for i in ORDER], 3 * ORDER, range(7, 7 + len(Y))])
@pytest.mark.slow
def test_a_fresh_series_beside_the_labels_of_a_frame_is_positional(index):
    frame = FRAME.set_axis(index)
    y = pd.Series(Y[ORDER])
    qid = pd.Series(QID[ORDER])
    model = QueryRanker(Ridge())
    cv = QueryKFold(4)
    expected = cross_val_score(
        model, X[ORDER], with_qid(Y[ORDER], QID[ORDER]), cv=cv, scoring=SCORER
    )
    np.testing.assert_allclose(
        cross_val_score(model, frame, with_qid(y, qid), cv=cv, scoring=SCORER), expected
    )
    nested = search(model, cv, error_score="raise")
    with sklearn.config_context(enable_metadata_routing=True):
        for fitted in (
            model,
            make_pipeline(StandardScaler().set_output(transform="pandas"), model),
        ):
            found = cross_val_score(fitted, frame, y, cv=cv, scoring=SCORER, params={"qid": qid})
            np.testing.assert_allclose(found, expected, rtol=1e-2)
        assert np.isfinite(
            cross_val_score(nested, frame, y, cv=cv, scoring=SCORER, params={"groups": qid})
        ).all()
    found = cross_evaluate(model, frame, y, qid=qid, cv=cv, metrics="ndcg@10", groups=qid)
    np.testing.assert_allclose(found.fold_means()["QueryRanker"], expected)
    fitted = model.fit(frame, y, qid=qid)
    assert fitted.score(frame, y, qid=qid) == ndcg_score(
        y, pd.Series(fitted.predict(frame)), qid=qid, k=10
    )
    labelled = pd.Series(
        Y[ORDER], index=index
    )  # the predictions are fresh, and of the rows by position
    assert ndcg_score(labelled, pd.Series(fitted.predict(frame)), qid=qid, k=10) == fitted.score(
        frame, y, qid=qid
    )
    searched = search(model, cv).fit(frame, with_qid(y, qid))
    report = search_report(searched, frame, y, qid=qid)
    assert report.changed == pytest.approx(0, abs=1e-12)


# Errors say what is so.


def message_of(call):
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    return str(caught.value).strip().splitlines()[-1]


CLAIM = re.compile(
    r"needs the query id of each document \(qid\), and got none\. (groups= reaches only the splitter\. )?"
    r"Pass with_qid\(y, qid\) as y(, or in a direct call "
    r"(qid|groups)=<one query id per document>)?\."
)
ROUTED = re.compile(
    r"and got none\. Pass groups=qid to fit of a search, params={'groups': qid} to cross_validate, or in a direct call "
    r"qid=<one query id per document>\. A scorer on which set_score_request was called needs qid=True and groups=True "
    r"in that call, too\.$"
)


def test_ids_that_do_not_arrive_without_routing_name_the_way_out():
    y = with_qid(Y, QID)
    rfecv = RFECV(Ridge(), scoring=SCORER, cv=GroupKFold(4))
    for call in (
        lambda: search(QueryRanker(Ridge()), GroupKFold(4)).fit(X, Y, groups=QID),
        lambda: cross_val_score(
            QueryRanker(Ridge()), X, Y, groups=QID, cv=QueryKFold(4), scoring=SCORER
        ),
        lambda: cross_val_score(Ridge(), X, Y, groups=QID, cv=QueryKFold(4), scoring=SCORER),
        lambda: search(QueryRanker(Ridge()), QueryKFold(4)).fit(X, Y, qid=QID),
    ):
        assert CLAIM.search(message_of(call))
    for call in (
        lambda: rfecv.fit(X, y, groups=QID),
        lambda: BaggingRegressor(QueryRanker(Ridge())).fit(X, y),
    ):
        message = message_of(call)
        assert "RFECV and ensembles drop the index of y" in message
        assert "sklearn.set_config(enable_metadata_routing=True)" in message
    search_by_groups = search(QueryRanker(Ridge()), GroupKFold(4))
    message = message_of(lambda: search_by_groups.fit(X, Y, groups=QID))
    assert "groups= reaches only the splitter" in message
    assert "To keep groups=, call sklearn.set_config(enable_metadata_routing=True)." in message
    message = message_of(lambda: QueryRanker(Ridge()).fit(X, Y))
    assert "groups=" not in message
    assert "ensembles" not in message
    for call in (
        lambda: routed(lambda: QueryRanker(Ridge()).fit(X, Y)),
        lambda: routed(lambda: QueryRanker(Ridge()).fit(X, Y, qid=QID).score(X, Y)),
        lambda: routed(lambda: search(Ridge(), KFold(4)).fit(X, Y)),
    ):
        assert ROUTED.search(message_of(call))
    assert message_of(lambda: ndcg_score(Y, X[:, 0])) == (
        "A 1-D y_true needs the query id of each document (qid), and got none. Pass qid=<one query id per document>, "
        "or labels that carry the ids: with_qid(y, qid)."
    )


def test_missing_ids_in_the_score_of_a_ranker_end_a_search_too():
    fitted = QueryRanker(Ridge()).fit(X, Y, qid=QID)

    class Fitted(QueryRanker):
        def fit(self, X, y):
            self.__dict__.update(vars(fitted))
            return self

    grid = {"random_state": [0, 1]}
    with pytest.raises(TypeError, match=r"QueryRanker\.score needs the query id of each document"):
        GridSearchCV(Fitted(Ridge()), grid, cv=KFold(4)).fit(X, Y)
