import copy
import re
from dataclasses import replace

import numpy as np
import pytest
import sklearn
from joblib import parallel_config
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401  makes the halving search importable
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    KFold,
    LeaveOneGroupOut,
    RandomizedSearchCV,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.fixes import parse_version
from support.shown import words

from skrank_metrics import (
    PredefinedQuerySplit,
    QueryKFold,
    QueryRanker,
    RepeatedQueryKFold,
    compare,
    cross_evaluate,
    evaluate,
    kendall_tau_distance,
    make_ranking_scorer,
    ranking_scorers,
    with_qid,
)
from skrank_metrics._output.result import Table
from skrank_metrics.datasets import make_ranking
from skrank_metrics.displays import CVResultsDisplay
from skrank_metrics.model_selection import RacingSearchCV, search_report, within_noise
from skrank_metrics.model_selection._search_report import SearchReport, expected_score
from skrank_metrics.reports.ranking_report import with_queries

X, Y, QID = make_ranking(60, random_state=0)
GRID = {"estimator__alpha": [1.0, 1e4, 1e12]}


def ridge_search(kind=GridSearchCV, **options):
    options = {
        "scoring": ranking_scorers("ndcg@10", "map"),
        "refit": "ndcg@10",
        "cv": QueryKFold(3),
        **options,
    }
    return kind(QueryRanker(Ridge()), options.pop("grid", GRID), **options)


def reported(search, *rows, **options):
    return search_report(search, *rows, **{"verbose": 0, **options})


@pytest.fixture(scope="module")
def search():
    noise = np.random.default_rng(0).normal(size=(len(X), 30)) * 100
    X_noisy = np.column_stack([X, noise])
    return ridge_search().fit(X_noisy, with_qid(Y, QID)), X_noisy


@pytest.fixture(scope="module")
def found(search):
    return reported(*search, Y, qid=QID)


def test_candidates_are_those_of_the_search_compared_as_cross_evaluate_does(search, found):
    results = search[0].cv_results_
    order = np.argsort(-results["mean_test_ndcg@10"])
    assert list(found.params.values()) == [results["params"][row] for row in order]
    assert list(found.params) == [f"#{row + 1}" for row in order]
    for metric in ("ndcg@10", "map"):
        by_fold = [results[f"split{fold}_test_{metric}"] for fold in range(3)]
        folds = np.column_stack(by_fold)[order]
        np.testing.assert_allclose(
            list(found.by_metric(metric).fold_means().values()), folds, rtol=0, atol=1e-12
        )
        if metric == "ndcg@10":
            assert found.naive_score == pytest.approx(folds.mean(axis=1).max())
            assert found.expected_score == pytest.approx(expected_score(folds))
    assert found.changed == pytest.approx(0, abs=1e-12), (
        "fitted again on the same folds, the scores are the same"
    )
    models = {
        name: QueryRanker(Ridge(params["estimator__alpha"]))
        for name, params in found.params.items()
    }
    expected = cross_evaluate(
        models, search[1], Y, qid=QID, cv=QueryKFold(3), metrics=["ndcg@10", "map"]
    )
    assert found.verdict == expected.verdict
    assert found.to_frame(pairs=True).equals(expected.to_frame(pairs=True))
    assert found.not_compared == {}


def test_reads_well_and_converts(found):
    found = replace(found, naive_score=found.expected_score + 0.01)
    text = words(found.details())
    best = next(iter(found.params))
    assert words(found).startswith(found.verdict)
    assert f"{best} is best in " in text
    scores = f"{found.expected_score:.3f} on new queries, not {found.naive_score:.4f}"
    assert f"Expect about {scores}: {best} was chosen because" in words(found)
    assert "Fitted again" not in text
    assert max(map(len, str(found).splitlines())) <= 80
    frame = found.to_frame()
    assert frame["estimator__alpha"].to_dict() == {
        n: p["estimator__alpha"] for n, p in found.params.items()
    }


class Column(RegressorMixin, BaseEstimator):
    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        return self

    def predict(self, X):
        return X[:, self.column]


def test_parameters_are_those_of_each_candidate_in_any_order():
    # Column 0 is right on the one query of the first fold, column 1 on four of the five of the second.
    y = np.array([1, 0] * 6)
    qid = np.repeat(range(6), 2)
    right = np.array([[1, 0]] + [[0, 1]] * 4 + [[0, 0]])
    X = np.where(right[qid] == y[:, None], 2.0, 1.0)
    search = GridSearchCV(
        Column(),
        {"column": [0, 1]},
        scoring=make_ranking_scorer("mrr"),
        cv=PredefinedQuerySplit([0] * 2 + [1] * 10),
    ).fit(X, with_qid(y, qid))
    found = reported(search, X, y, qid=qid)
    columns = [found.params[name]["column"] for name in found.names]
    assert found.to_frame()["column"].tolist() == columns
    assert list(found.params) != list(found.names), "by the mean over folds, and over queries"


def test_expected_score_chooses_on_the_other_folds():
    # In fold 0, the first candidate is the best on folds 1 and 2; in folds 1 and 2, the second is best on the others.
    scores = np.array([[0.2, 0.9, 0.8], [0.9, 0.8, 0.7], [0.1, 0.1, 0.1]])
    assert expected_score(scores) == pytest.approx((0.2 + 0.8 + 0.7) / 3)


@pytest.mark.parametrize(("n_best", "naive"), [(0, 0.013), (1, 0.0)])
def test_expected_score_is_not_flattered(n_best, naive):
    # 20 candidates whose scores differ by chance, or of which one is clearly the best: 0.5 is what the best scores.
    rng = np.random.default_rng(0)
    bias = []
    for _ in range(40):
        values = (
            rng.normal(size=(5, 20)) * 0.02 + 0.5 - 0.1 * (np.arange(20) >= n_best) * bool(n_best)
        )
        of_best = values.mean(axis=0).max() - 0.5
        corrected = expected_score(values.T) - 0.5
        bias.append((of_best, corrected))
    naively, expected = np.mean(bias, axis=0)
    assert naively == pytest.approx(naive, abs=0.005)
    assert expected == pytest.approx(0, abs=0.004)


def test_grids_with_different_parameters():
    grids = [{"estimator__alpha": [1.0, 1e12]}, {"estimator__solver": ["svd"]}]
    search = ridge_search(grid=grids).fit(X, with_qid(Y, QID))
    found = reported(search, X, Y, qid=QID)
    assert set(found.params) == {"#1", "#2", "#3"}
    frame = found.to_frame()
    assert frame["estimator__solver"].notna().sum() == 1
    assert frame["estimator__alpha"].notna().sum() == 2


@pytest.mark.option("search_report.n_candidates")
def test_only_so_many_are_compared(search):
    found = reported(*search, Y, qid=QID, n_candidates=2)
    *compared, other = found.params
    assert set(found.reports) == set(compared)
    assert found.not_compared == {other: "not among the best 2"}
    assert "Not compared: 1 not among the best 2." in words(found)
    optimistic = replace(found, naive_score=found.expected_score + 0.01)
    assert "#1 was chosen because it did well on these." in words(optimistic)
    equal = replace(found, naive_score=found.expected_score)
    assert "looks better" not in words(equal)
    # If the candidate that is left out is the best on the other folds, but not on the first, it would be chosen there.
    altered = copy.deepcopy(search[0])
    row = altered.cv_results_["params"].index(found.params[other])
    for fold, change in enumerate((-9, 1, 1)):
        altered.cv_results_[f"split{fold}_test_ndcg@10"][row] += change
    assert reported(altered, search[1], Y, qid=QID, n_candidates=2).expected_score < 0
    assert reported(altered, search[1], Y, qid=QID).changed == pytest.approx(9)


@pytest.mark.slow
@pytest.mark.option("search_report.metric", "search_report.qid")
def test_other_metrics_and_the_one_of_within_noise():
    search = ridge_search(
        refit=within_noise("map", prefer="-estimator__alpha", test_ratio=1 / 2)
    ).fit(X, with_qid(Y, QID))
    assert reported(search, X, Y, qid=QID).metrics[0] == "map"
    assert reported(search, X, with_qid(Y, QID), metric="ndcg@10").metrics[0] == "ndcg@10"
    unsaid = ridge_search(refit=False).fit(X, with_qid(Y, QID))
    with pytest.raises(
        ValueError, match=r"metric must be one of \['ndcg@10', 'map'\] if refit did not name one"
    ):
        reported(unsaid, X, Y, qid=QID)
    with pytest.raises(ValueError, match=r"metric.*'mrr'"):
        reported(search, X, Y, qid=QID, metric="mrr")


@pytest.mark.parametrize("kind", [GridSearchCV, RacingSearchCV])
def test_of_a_distance_the_smallest_is_the_best(kind):
    search = ridge_search(kind, scoring=make_ranking_scorer(kendall_tau_distance), refit=True)
    found = reported(search.fit(X, with_qid(Y, QID)), X, Y, qid=QID)
    assert found.changed == pytest.approx(0, abs=1e-12)
    assert found.metrics == ("neg_kendall_tau_distance",)
    assert found.params[found.names[0]] == search.best_params_
    means = found.means()
    assert means[found.names[0]] == pytest.approx(search.best_score_, rel=1e-9), (
        "three folds of as many queries"
    )
    assert all(mean <= 0 for mean in means.values())
    assert found.pair(*found.names[:2]).difference >= 0


@pytest.mark.filterwarnings(
    "ignore:\\s*[0-9] fits failed", "ignore:One or more of the test scores are non-finite"
)
def test_failed_candidates_are_last_and_not_fitted_again():
    grid = {"estimator__alpha": [-1.0, 1e12, 1.0]}
    search = ridge_search(grid=grid).fit(X, with_qid(Y, QID))
    found = reported(search, X, Y, qid=QID)
    assert list(found.params)[-1] == "#1"
    assert found.not_compared == {"#1": "failed"}
    assert "Not compared: 1 failed." in words(found)
    search = ridge_search(grid={"estimator__alpha": [-1.0, 1.0]}).fit(X, with_qid(Y, QID))
    assert list(reported(search, X, Y, qid=QID).reports) == ["#2"]
    for fold in range(3):
        search.cv_results_[f"split{fold}_test_ndcg@10"][:] = np.nan
    with pytest.raises(ValueError, match="search must have a candidate with a score in every fold"):
        reported(search, X, Y, qid=QID)


def test_numbers_are_those_of_the_rows_of_the_search(search, found, tmp_path):
    rows = search[0].cv_results_["params"]
    assert found.params == {f"#{row + 1}": params for row, params in enumerate(rows)}
    assert set(found.names) == {"#1", "#2", "#3"} == set(found.to_frame().index)
    assert found.pair("#1", "#2").first == "#1"
    by_map = reported(*search, Y, qid=QID, metric="map")
    assert by_map.params == found.params, "a number means the same candidate by every metric"
    found.save(tmp_path / "found.json")
    assert SearchReport.load(tmp_path / "found.json").params == found.params
    labels = CVResultsDisplay(search[0]).candidates
    assert labels == [
        f"{name} alpha={params['estimator__alpha']:g}" for name, params in found.params.items()
    ]


def report_of(candidates):
    """A report of candidates that rank alike."""
    params = {f"#{number}": params for number, params in enumerate(candidates, start=1)}
    report = evaluate([1, 0] * 2, [2, 1] * 2, qid=[0, 0, 1, 1], metrics="mrr")
    report = with_queries(report, folds=np.array([0, 1]))
    return SearchReport(dict.fromkeys(params, report), ("mrr",), params=params)


def tables_of(candidates):
    """The printed tables of a report."""
    sections = report_of(candidates)._sections()
    return [section for section in sections if isinstance(section, Table)]


def test_a_parameter_may_have_the_name_of_a_column():
    frame = report_of([{"mrr": 1, "n_queries": 5}, {"mrr": 3, "n_queries": 6}]).to_frame()
    assert frame[["mrr", "n_queries"]].to_numpy().tolist() == [[1, 2], [1, 2]]
    assert frame[["param mrr", "param n_queries"]].to_numpy().tolist() == [[1, 5], [3, 6]]


def test_the_print_has_one_table_of_the_parameters_that_vary(search, found):
    lines = str(found).splitlines()
    heads = [line.strip() for line in lines].index("alpha")
    first_row = heads + 1
    rows_of_table = lines[first_row : first_row + 3]
    table = [tuple(line.split()) for line in rows_of_table]
    alphas = {name: f"{found.params[name]['estimator__alpha']:g}" for name in found.names}
    assert table == list(alphas.items())
    assert "alpha=" not in str(found)


@pytest.mark.parametrize(
    ("candidates", "expected"),
    {
        "what is equal is left out": ([{"a": 1, "b": 2}, {"a": 1, "b": 3}], ["", "b"]),
        "what some lack varies": ([{"a": 1, "b": 2}, {"a": 1}], ["", "b"]),
        "heads are the last word": ([{"x__a": 1}, {"x__a": 2}], ["", "a"]),
        "unless it has two meanings": (
            [{"x__a": 1, "y__a": 1}, {"x__a": 2, "y__a": 2}],
            ["", "x__a", "y__a"],
        ),
        "nothing varies": ([{"a": 1}], None),
    }.values(),
)
def test_columns_of_the_table_of_parameters(candidates, expected):
    tables = tables_of(candidates)
    assert [list(table.columns) for table in tables[1:]] == ([expected] if expected else [])


def test_values_in_the_table_of_parameters():
    values = {
        1e9: "1e+09",
        1 / 3: "0.3333333333333333",
        len: "len",
        None: "None",
        "x" * 70: "x" * 37 + "...",
    }
    candidates = [*({"a": value} for value in values), {"a": Ridge(2)}, {}]
    _, table = tables_of(candidates)
    assert [text for _, text in table.rows] == [*values.values(), "Ridge(alpha=2)", ""]


@pytest.mark.slow
@pytest.mark.option("search_report.n_jobs", "search_report.verbose")
def test_jobs_and_progress(capsys):
    search = ridge_search().fit(X, with_qid(Y, QID))
    for n_jobs, verbose in ((None, 0), (1, 0), (1, 1), (2, 10)):
        with parallel_config("threading"):
            found = search_report(search, X, Y, qid=QID, n_jobs=n_jobs, verbose=verbose)
        assert found.changed < 1e-12
        out, shown = capsys.readouterr()
        assert not out
        assert shown == ("9 of 9 models fitted (100%), 0 s left\n" if verbose else "")


def test_candidates_are_compared_as_compare_does(search, found):
    plan = {"baseline": "#2", "margin": 0.01}
    other = compare(found, **plan, confidence=0.9, random_state=3)
    assert type(other) is SearchReport
    assert (other.params, other.expected_score) == (found.params, found.expected_score)
    assert {pair.second for pair in other.pairs()} == {"#2"}


def test_other_folds_or_rows_than_in_the_search_are_said(search):
    drawn = ridge_search(
        RandomizedSearchCV, n_iter=2, random_state=0, cv=QueryKFold(3, shuffle=True)
    )
    assert "folds or models are random" in words(
        reported(drawn.fit(X, with_qid(Y, QID)), X, Y, qid=QID)
    )
    half = slice(len(X) // 2)
    found = reported(search[0], search[1][half], Y[half], qid=QID[half])
    assert found.changed > 0.01
    assert (
        f"Fitted again, fold scores differ from the search by up to {found.changed:.4f}:"
        in words(found)
    )


def test_the_folds_of_a_search_without_cv_are_those_of_scikit_learn():
    # KFold(5) keeps twenty queries of 8 whole.
    long = np.flatnonzero(np.bincount(QID) >= 8)[:20]
    rows = np.concatenate([np.flatnonzero(query == QID)[:8] for query in long])
    features, grades, qid = X[rows], Y[rows], QID[rows]
    search = ridge_search(cv=None).fit(features, with_qid(grades, qid))
    found = reported(search, features, grades, qid=qid)
    assert found.changed == pytest.approx(0, abs=1e-12)


@pytest.mark.slow
def test_another_number_of_folds_than_in_the_search():
    rows = QID < 12
    search = ridge_search(cv=LeaveOneGroupOut()).fit(
        X[rows], with_qid(Y[rows], QID[rows]), groups=QID[rows]
    )
    fewer = QID < 8
    message = "X, y and qid must be those of the search; got data that its cv splits into 8 folds, .* search had 12"
    with pytest.raises(ValueError, match=message):
        reported(search, X[fewer], Y[fewer], qid=QID[fewer])


def test_of_halving_the_last_rung_is_compared():
    options = {
        "resource": "estimator__max_iter",
        "max_resources": 4,
        "min_resources": 2,
        "refit": True,
        "factor": 2,
    }
    options |= {
        "scoring": make_ranking_scorer("ndcg@10"),
        "grid": {"estimator__alpha": [1.0, 1e4, 1e9, 1e12]},
    }
    search = ridge_search(HalvingGridSearchCV, **options).fit(X, with_qid(Y, QID))
    found = reported(search, X, Y, qid=QID)
    assert len(found.params) == len(found.reports) == 2
    assert {params["estimator__max_iter"] for params in found.params.values()} == {4}
    assert found.changed == pytest.approx(0, abs=1e-12)


def test_what_is_no_fitted_search_or_lacks_its_data():
    with pytest.raises(
        TypeError, match="search must be a fitted GridSearchCV or similar; got QueryRanker"
    ):
        reported(QueryRanker(Ridge()), X, Y, qid=QID)
    with pytest.raises(NotFittedError, match="GridSearchCV instance is not fitted yet"):
        reported(ridge_search(), X, Y, qid=QID)
    twice = race(GRID, cv=RepeatedQueryKFold(2, n_repeats=2, random_state=0))
    for search in (ridge_search().fit(X, with_qid(Y, QID)), twice):
        with pytest.raises(TypeError, match="X and y must be the data of the search"):
            reported(search)


@pytest.mark.parametrize(
    ("options", "change", "message"),
    [
        (
            {"scoring": "r2", "refit": True},
            {},
            "search must rank by a scorer of skrank_metrics, as ranking_scorers; got",
        ),
        ({}, {"n_candidates": 1}, "n_candidates must be an int >= 2; got 1"),
        (
            {"cv": QueryKFold(3).split(X, Y, QID)},
            {},
            "cv must yield at least one pair of train and test; got none",
        ),
        ({"cv": KFold(3)}, {}, r"cv must keep every query whole; got KFold\(n_splits=3"),
        (
            {"cv": RepeatedQueryKFold(3, n_repeats=2, random_state=0)},
            {},
            r"every query at most once; got RepeatedQueryKFold.* which tests each 2 times. Use QueryKFold",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:The folds cut queries:UserWarning")
def test_bad_input(options, change, message):
    search = ridge_search(**options).fit(X, with_qid(Y, QID))
    with pytest.raises(ValueError, match=message):
        reported(search, X, Y, **{"qid": QID, **change})


# What the search scored with.

BINARY = (Y > 1).astype(int)
CLASSIFIERS = [{"C": [1e-4], "class_weight": [{1: 10}]}, {"C": [1.0]}]


@pytest.mark.parametrize(
    ("given", "best"), [("predict", 1.0), (("decision_function", "predict"), 1e-4)]
)
def test_candidates_are_compared_by_the_response_method_of_the_scorer(given, best):
    # By its labels, which tie most documents, the first candidate is far worse; by its scores, it is better.
    scorer = make_ranking_scorer("ndcg@10", response_method=given)
    search = GridSearchCV(LogisticRegression(), CLASSIFIERS, scoring=scorer, cv=QueryKFold(3))
    found = reported(search.fit(X, with_qid(BINARY, QID)), X, BINARY, qid=QID)
    assert found.params[found.names[0]]["C"] == best
    assert found.changed < 1e-12


WEIGHTS = np.where(QID % 4 == 0, 20.0, 0.25)
NOISY = np.column_stack([X, np.random.default_rng(0).normal(size=(len(X), 20)) * 3])
WEIGHED = with_qid(Y, QID, sample_weight=WEIGHTS)
SCORES_WITH_WEIGHTS_OF_FIT = parse_version(sklearn.__version__) >= parse_version(
    "1.7"
)  # without routing
RIDGE = QueryRanker(Ridge())
OF_STEP = "queryranker__sample_weight"
PIPELINE = make_pipeline(FunctionTransformer(), RIDGE)


@pytest.mark.slow
@pytest.mark.parametrize("routing_at_report", [False, True])
@pytest.mark.parametrize(
    ("model", "name", "of_index", "of_score"),
    [
        (RIDGE, "sample_weight", False, SCORES_WITH_WEIGHTS_OF_FIT),
        (RIDGE, "sample_weight", True, True),
        (RIDGE, None, True, True),
        (Ridge(), "sample_weight", False, SCORES_WITH_WEIGHTS_OF_FIT),
        (PIPELINE, OF_STEP, False, False),
        (PIPELINE, OF_STEP, True, True),
    ],
)
@pytest.mark.option("search_report.params")
def test_weights_of_a_search_without_routing(model, name, of_index, of_score, routing_at_report):
    alpha = next(key for key in model.get_params() if key.endswith("alpha"))
    y = WEIGHED if of_index else with_qid(Y, QID)
    params = {name: WEIGHTS} if name else {}
    search = GridSearchCV(
        model, {alpha: [1.0, 1.1]}, scoring=make_ranking_scorer("ndcg@10"), cv=QueryKFold(3)
    )
    search.fit(NOISY, y, **params)
    y = WEIGHED if of_score else y
    with sklearn.config_context(enable_metadata_routing=routing_at_report):
        found = reported(search, NOISY, y, params=params)
    assert found.changed < 1e-9
    # As it says if fits, or else scores, are weighed otherwise.
    if params:
        assert reported(search, NOISY, y).changed > 1e-4
    other = with_qid(Y, QID) if of_score else WEIGHED
    assert reported(search, NOISY, other, params=params).changed > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("of_fit", [False, True])
@pytest.mark.parametrize("name", ["sample_weight", "importance"])
def test_weights_of_a_search_with_routing(name, of_fit):
    asked = True if name == "sample_weight" else name
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_ranking_scorer("ndcg@10").set_score_request(
            qid=True, groups=True, sample_weight=asked
        )
        model = LogisticRegression().set_fit_request(sample_weight=asked if of_fit else False)
        search = GridSearchCV(model, {"C": [1e-4, 1.0]}, scoring=scorer, cv=QueryKFold(3))
        search.fit(X, BINARY, groups=QID, **{name: WEIGHTS})
    params = {name: WEIGHTS} if of_fit else {}
    assert reported(search, X, BINARY, qid=QID, params=params).changed > 1e-4
    weighed = with_qid(BINARY, QID, sample_weight=WEIGHTS)
    assert reported(search, X, weighed, params=params).changed < 1e-12


@pytest.mark.parametrize(
    ("model", "name", "error", "message"),
    [
        (
            RIDGE,
            "weights",
            TypeError,
            "got an unexpected keyword argument 'weights'",
        ),
        (PIPELINE, "sample_weight", ValueError, "not explicitly set as requested"),
    ],
)
def test_parameters_that_no_search_passes_to_fit(model, name, error, message):
    alpha = next(key for key in model.get_params() if key.endswith("alpha"))
    search = GridSearchCV(
        model, {alpha: [1.0, 2.0]}, scoring=make_ranking_scorer("map"), cv=QueryKFold(3)
    )
    search.fit(X, with_qid(Y, QID))
    with pytest.raises(error, match=message):
        reported(search, X, Y, qid=QID, params={name: WEIGHTS})


@pytest.mark.slow
def test_metrics_are_those_of_the_scorers_that_score_alike():
    scoring = {
        "by label": make_ranking_scorer("ndcg@10", response_method="predict"),
        "by score": make_ranking_scorer("ndcg@10"),
        "map": make_ranking_scorer("map"),
    }
    options = {"scoring": scoring, "cv": QueryKFold(3), "refit": "by score"}
    search = GridSearchCV(LogisticRegression(), {"C": [1e-4, 1.0]}, **options).fit(
        X, with_qid(BINARY, QID)
    )
    for metric, shown in (
        ("by label", ("ndcg@10",)),
        ("by score", ("ndcg@10", "map")),
        ("map", ("map", "ndcg@10")),
    ):
        found = reported(search, X, BINARY, qid=QID, metric=metric)
        assert found.metrics == shown
        assert found.changed < 1e-12


# Races

RACED = make_ranking(150, random_state=0)


def race(grid, **options):
    X, y, qid = RACED
    return ridge_search(RacingSearchCV, grid=grid, **options).fit(X, with_qid(y, qid))


def test_a_race_needs_no_other_fits():
    search = race({"estimator__alpha": [1.0, 1e9, 1e12]}, cv=None)
    found = reported(search)
    X, y, qid = RACED
    models = {
        name: QueryRanker(Ridge(found.params[name]["estimator__alpha"])) for name in found.reports
    }
    expected = cross_evaluate(models, X, y, qid=qid, metrics="ndcg@10")
    assert found.metrics == ("ndcg@10",)
    for name in models:
        by_id = dict(zip(expected.qid, expected.reports[name].per_query["ndcg@10"], strict=True))
        own = found.reports[name].per_query["ndcg@10"]
        np.testing.assert_allclose(own, [by_id[query] for query in found.qid], rtol=0, atol=1e-12)
        np.testing.assert_allclose(
            found.fold_means()[name], expected.fold_means()[name], rtol=0, atol=1e-12
        )
    assert list(found.not_compared) == ["#1"]
    assert re.fullmatch(r"dropped after fold [1-4]", found.not_compared["#1"])


class Declines(RegressorMixin, BaseEstimator):
    """Ranks by noisy labels, and declines documents below a threshold, so that queries have no ranked pair."""

    def __init__(self, noise=1.0, threshold=-np.inf):
        self.noise, self.threshold = noise, threshold

    def fit(self, X, y):
        return self

    def predict(self, X):
        scores = X[:, 0] + self.noise * X[:, 1]
        return np.where(scores < self.threshold, -np.inf, scores)


def facts(report):
    """All that a report says, as plain values."""
    (metric,) = report.metrics
    said = {
        "names": report.names,
        "params": report.params,
        "not compared": report.not_compared,
        "optimism": (report.naive_score, report.expected_score),
        "queries": np.asarray(report.qid).tolist(),
        "folds": np.asarray(report.folds).tolist(),
        "fold means": {name: means.tolist() for name, means in report.fold_means().items()},
        "verdict": report.verdict,
        "pairs": report.to_frame(pairs=True).to_dict() if len(report.names) > 1 else {},
        "frame": report.to_frame().to_dict(),
    }
    for name, one in report.reports.items():
        weights = None if one.weights is None else one.weights.tolist()
        said[name] = (one.n_undefined, one.mean, one.std, one.intervals(), weights)
        said[f"{name} per query"] = one.per_query[metric].tolist()
    return said


def assert_close(found, expected, where="report"):
    """Compare nested values, numbers up to rounding."""
    assert type(found) is type(expected), where
    if isinstance(expected, dict):
        assert list(found) == list(expected), where
        for key, value in expected.items():
            assert_close(found[key], value, f"{where}, {key}")
    elif isinstance(expected, list | tuple):
        assert len(found) == len(expected), where
        for number, value in enumerate(expected):
            assert_close(found[number], value, f"{where}, {number}")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True), where
    else:
        assert found == expected, where


RACED_METRICS = [
    ("auc", "scored"),
    ("auc(replace_undefined_by=nan)", "scored"),
    ("pairwise_accuracy", "scored"),
    ("neg_kendall_tau_distance(normalize=true)", "scored"),
    ("spearman", "all"),
    ("ndcg@5", "scored"),
    ("map(ties=worst)", "all"),
]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1])
@pytest.mark.parametrize(("metric", "retrieved"), RACED_METRICS)
def test_the_report_of_a_race_is_that_of_a_grid_search_in_every_field(metric, retrieved, seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, 9, 24)
    qid = rng.permutation(np.repeat(np.arange(24), sizes))
    y = rng.integers(0, 3, len(qid)) * (qid % 5 > 0)
    signal = y + rng.normal(size=len(y))
    noise = rng.normal(size=len(y))
    X = np.column_stack([signal, noise])
    weights = 1.0 + qid % 3 if seed % 2 else None
    labels = with_qid(y, qid, sample_weight=weights)
    grid = {"noise": [0.0, 0.5], "threshold": [-np.inf, -1.0, -0.5]}
    options = {"cv": QueryKFold(3, shuffle=True, random_state=seed), "error_score": "raise"}
    scorer = make_ranking_scorer(metric, retrieved=retrieved)
    searches = (
        RacingSearchCV(Declines(), grid, scoring=scorer, min_queries=1000, **options),
        RacingSearchCV(Declines(), grid, scoring=scorer, confidence=None, **options),
        GridSearchCV(Declines(), grid, scoring=scorer, **options),
    )
    race, unraced, plain = (search.fit(X, labels) for search in searches)
    expected = reported(plain, X, labels)
    for search in (race, unraced):
        found = reported(search)
        assert found.changed == pytest.approx(0, abs=1e-12)
        assert_close(facts(found), facts(expected))


# Folds of rows would cut queries.
@pytest.mark.parametrize("cv", [QueryKFold(3), None])
def test_a_race_by_another_metric_is_fitted_again(cv):
    X, y, qid = RACED
    search = race({"estimator__alpha": [1e9, 1e12]}, cv=cv)
    found = reported(search, X, y, qid=qid, metric="map")
    assert found.metrics == ("map", "ndcg@10")
    assert found.changed == pytest.approx(0, abs=1e-12)


def test_a_race_that_one_candidate_finishes():
    found = reported(race({"estimator__alpha": [1.0, 1e9]}, confidence=0.4))
    assert list(found.reports) == ["#2"]
    assert found.verdict == ""
    assert "looks better" not in str(found)
    assert found.expected_score == found.naive_score


def test_weights_of_a_race():
    X, y, qid = RACED
    weights = np.where(qid % 3, 1.0, 5.0)
    y = np.where(qid % 10, y, 0)  # 15 of 150 queries have no value, which counts as 0
    search = ridge_search(RacingSearchCV).fit(X, with_qid(y, qid, sample_weight=weights))
    found = reported(search)
    assert found.reports[found.names[0]].n_undefined == {
        "ndcg@10": (np.bincount(qid, y) == 0).sum()
    }
    assert found.reports[found.names[0]].weights.tolist() == [
        5.0 if q % 3 == 0 else 1.0 for q in found.qid
    ]
    best_name = next(iter(found.params))
    best_folds = found.fold_means()[best_name]
    assert best_folds.mean() == pytest.approx(search.best_score_)


def test_dropped_candidates_follow_the_others_whatever_their_means():
    grid = {"estimator__alpha": [1.0, 1e9, 3.0, 10.0, 30.0]}
    search = race(grid, cv=QueryKFold(5), confidence=0.5)
    results = search.cv_results_
    is_dropped = ~np.isnan(results["dropped_after"])
    results["split0_test_ndcg@10"][is_dropped] += 10
    last = np.nan_to_num(results["dropped_after"], nan=np.inf)
    by_fold = [results[f"split{fold}_test_ndcg@10"] for fold in range(5)]
    means = np.nanmean(by_fold, axis=0)
    order = sorted(range(5), key=lambda row: (-last[row], -means[row]))
    assert max(means[last == np.inf]) < 1 < min(means[last < np.inf])
    listed = list(reported(search).params.values())
    assert listed == [results["params"][row] for row in order]


def test_groups_count_in_the_report_of_a_race():
    users, y = QID // 3, with_qid(Y, QID)
    found = []
    for kind, options in ((GridSearchCV, {}), (RacingSearchCV, {"min_queries": 10**6})):
        search = ridge_search(kind, **options).fit(X, y, groups=users)
        found.append(search_report(search, X, y, params={"groups": users}, verbose=0))
    grid, race = (report.by_metric("ndcg@10") for report in found)
    assert race.pair("#1", "#2").p_adjusted == grid.pair("#1", "#2").p_adjusted
    assert len(set(race.reports["#1"].groups.tolist())) == 20


def test_groups_of_the_report_count_though_the_race_had_none():
    users, y = QID // 3, with_qid(Y, QID)
    cv = [(train, test) for train, test in QueryKFold(3).split(X, groups=users)]
    options = {"cv": cv, "min_queries": 10**6}
    search = ridge_search(RacingSearchCV, **options).fit(X, y)
    plain = search_report(search)
    grouped = search_report(search, X, y, params={"groups": users}, verbose=0)
    assert plain.reports["#1"].groups is None
    assert len(set(grouped.reports["#1"].groups.tolist())) == 20
    expected = compare(plain, groups=users[np.unique(QID, return_index=True)[1]])
    assert grouped.pair("#1", "#2").p_value == expected.pair("#1", "#2").p_value


@pytest.mark.parametrize("copies", [[True, False], [True]])
def test_a_parameter_without_an_effect_is_said(copies):
    X, y, qid = make_ranking(30, random_state=0)
    grid = {"estimator__copy_X": copies}
    search = GridSearchCV(
        QueryRanker(Ridge()), grid, scoring=make_ranking_scorer("ndcg@5"), cv=QueryKFold(3)
    )
    report = search_report(search.fit(X, with_qid(y, qid)), X, y, qid=qid)
    is_said = "All candidates have the same value for every query, so what varies had no effect"
    assert (is_said in words(report)) == (len(copies) == 2)
