"""Metrics inside boosters that train on several workers, against the numbers of one machine."""

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import xgboost
from xgboost import collective

from skrank_metrics import evaluate, get_metric, make_metric
from skrank_metrics.datasets import make_ranking
from skrank_metrics.rankers import xgboost_metric

NAMES = [
    "ndcg@10",
    "map",
    "err(ties=worst)@10",
    "mrr(replace_undefined_by=nan)@5",
    "precision(average=micro)@5",
    "precision(average=geometric)@5",
    "neg_kendall_tau_distance",
]


@pytest.fixture
def two_workers(monkeypatch):
    """Call a metric in two threads, which meet in allreduce as two workers do."""
    sums = {}
    barrier = threading.Barrier(2, timeout=10)

    def allreduce(data, op):
        assert op == collective.Op.SUM
        sums[threading.get_ident()] = data
        barrier.wait()
        total = sum(sums.values())
        barrier.wait()
        return total

    monkeypatch.setattr(collective, "get_world_size", lambda: 2)
    monkeypatch.setattr(collective, "allreduce", allreduce)

    def call(metric, parts):
        def work(part):
            try:
                return metric(*part)
            except Exception as error:
                return error

        sums.clear()
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(work, parts))

    return call


def matrix(labels, sizes, weights=()):
    ends = np.cumsum([0, *sizes]) if len(sizes) else np.array([])
    return SimpleNamespace(
        get_label=lambda: np.asarray(labels, dtype=np.float32),
        get_weight=lambda: np.asarray(weights, dtype=np.float32),
        get_uint_info=lambda name: ends.astype(np.uint64),
    )


def some_rows(n_queries=40):
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 12, n_queries)
    labels = rng.integers(0, 3, sizes.sum())
    labels[: sizes[0]] = 0  # a query without relevant documents
    return (
        labels,
        rng.integers(0, 5, sizes.sum()).astype(np.float32),
        sizes,
        rng.integers(1, 4, n_queries) / 2,
    )


def parts_of(labels, scores, sizes, weights, cut):
    rows = sizes[:cut].sum()
    first = matrix(labels[:rows], sizes[:cut], weights[:cut])
    second = matrix(labels[rows:], sizes[cut:], weights[cut:])
    return [(scores[:rows], first), (scores[rows:], second)]


@pytest.mark.parametrize("cut", [0, 3, 40])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_all_workers_have_the_value_of_all_queries(name, weighted, cut, two_workers):
    labels, scores, sizes, weights = some_rows()
    qid = np.repeat(np.arange(len(sizes)), sizes)
    metric = xgboost_metric(name)
    of_rows = np.repeat(weights, sizes) if weighted else None
    expected = get_metric(name)(labels, scores, qid=qid, sample_weight=of_rows)
    found = two_workers(
        metric, parts_of(labels, scores, sizes, weights if weighted else weights[:0], cut)
    )
    for key, value in found:
        assert key == metric.__name__
        assert value == pytest.approx(expected, rel=1e-14)


def broken(labels):
    raise KeyError(f"{len(labels)} documents")


@pytest.mark.parametrize(
    ("metric", "error", "message"),
    [
        (
            "ndcg(average=median)",
            ValueError,
            "average must not be 'median' if there are several workers",
        ),
        (make_metric(broken, name="broken"), Exception, "documents"),
    ],
)
def test_an_error_of_a_worker_is_one_of_all(metric, error, message, two_workers):
    for found in two_workers(xgboost_metric(metric), parts_of(*some_rows(), 3)):
        assert isinstance(found, error)
        assert message in str(found)


def test_workers_that_could_compute_the_metric_name_the_others(two_workers):
    good, bad = parts_of(*some_rows(), 3)
    bad[0][0] = np.nan
    one, other = two_workers(xgboost_metric("ndcg@10"), [good, bad])
    assert str(one) == "ndcg@10_skrank failed in another worker; see its log for the error."
    assert str(other).startswith("y_score contains NaN")
    for part in ((np.ones(2), matrix([1, 0], [])), (np.ones(0), matrix([], []))):
        for found in two_workers(xgboost_metric("mrr"), [part, part]):
            assert str(found).startswith("mrr needs queries, but the data hold none.")


@pytest.fixture(scope="module")
def rows():
    X, y, qid = make_ranking(120, random_state=0)
    frame = pd.DataFrame(X, columns=[f"f{column}" for column in range(X.shape[1])])
    return frame.assign(y=y.astype(float), q=qid, valid=qid >= 60)


def several(metrics):
    """One function for all of them, as XGBoost takes only one."""
    return lambda y_score, dmatrix: [metric(y_score, dmatrix) for metric in metrics]


@pytest.mark.slow
@pytest.mark.clusters
@pytest.mark.filterwarnings("default")  # what a cluster warns of is its own
def test_dask_workers_with_unequal_numbers_of_queries(rows, on_dask):
    import dask.dataframe
    from xgboost import dask as xgboost_dask

    client = on_dask.client
    features = [name for name in rows if name.startswith("f")]
    train = rows[~rows["valid"]]
    valid = rows[rows["valid"]]
    metrics = [xgboost_metric(name) for name in NAMES]

    def spread(frame, cut):
        workers = client.scheduler_info()["workers"]
        parts = [frame[frame["q"] < cut], frame[frame["q"] >= cut]]
        there = [
            client.scatter(part, workers=[name]) for part, name in zip(parts, workers, strict=True)
        ]
        data = dask.dataframe.from_delayed(there, meta=frame.iloc[:0]).persist()
        return xgboost_dask.DaskDMatrix(client, data[features], data["y"], qid=data["q"])

    def fit(cut, metric):
        params = {"objective": "rank:ndcg", "eval_metric": "ndcg@10", "ndcg_exp_gain": False}
        evals = [(spread(valid, cut), "valid")]
        return xgboost_dask.train(
            client, params, spread(train, 30), 3, evals=evals, custom_metric=metric
        )

    done = fit(117, several(metrics))  # three of the queries are in the second worker
    scores = done["booster"].predict(xgboost.DMatrix(valid[features]))
    found = done["history"]["valid"]
    report = evaluate(valid["y"], scores, qid=valid["q"], metrics=NAMES)
    for name, metric in zip(NAMES, metrics, strict=True):
        # XGBoost writes six decimals.
        assert found[metric.__name__][-1] == pytest.approx(report.mean[name], abs=1e-6)
    assert found["ndcg@10"][-1] != found["ndcg@10_skrank"][-1], (
        "XGBoost's own, of queries without a relevant document"
    )
    sides = [valid["q"] < 117, valid["q"] >= 117]
    of_workers = [
        get_metric("ndcg@10")(valid["y"][side], scores[side], qid=valid["q"][side])
        for side in sides
    ]
    assert abs(np.mean(of_workers) - report.mean["ndcg@10"]) > 0.01, (
        "the mean of the workers' means is another number"
    )
    with pytest.raises(Exception, match="average must not be 'median'"):
        fit(117, xgboost_metric("ndcg(average=median)"))


@pytest.mark.slow
@pytest.mark.clusters
@pytest.mark.filterwarnings("default")
def test_spark_workers(rows, on_spark):
    from pyspark.ml.feature import VectorAssembler
    from xgboost.spark import SparkXGBRanker

    # Each worker gets a range of ids, so that one of them has no query of the validation data. Unless forced, data of
    # as many partitions as workers stay as they are, and a query may have rows in two of them.
    features = [name for name in rows if name.startswith("f")]
    frame = on_spark.session.createDataFrame(rows)
    ranker = SparkXGBRanker(
        features_col="features", label_col="y", qid_col="q", validation_indicator_col="valid", num_workers=2,
        n_estimators=3, custom_metric=xgboost_metric("ndcg@10"), eval_metric="ndcg@10", force_repartition=True,
    )  # fmt: skip
    model = ranker.fit(VectorAssembler(inputCols=features, outputCol="features").transform(frame))
    found = model.training_summary.validation_objective_history["ndcg@10_skrank"]
    valid = rows[rows["valid"]]
    scores = model.get_booster().predict(xgboost.DMatrix(valid[features].to_numpy()))
    expected = get_metric("ndcg@10")(valid["y"], scores, qid=valid["q"])
    assert found[-1] == pytest.approx(expected, abs=1e-6)
