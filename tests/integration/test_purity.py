"""What computing leaves alone: its inputs, other threads, the network, other programs and the disk."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRanker
from sklearn.linear_model import Ridge

import skrank_metrics as package
from skrank_metrics import QueryKFold, QueryRanker, get_metric, with_qid
from skrank_metrics.metrics import get_metric_names

TIES = ("average", "best", "worst", "stable")
GRADED = {"pfound": {"gain": "exp2"}}  # which takes probabilities for labels by default
BOUND = [
    get_metric(name, ties=ties, **GRADED.get(name, {}))
    for name in get_metric_names()
    for ties in TIES
]
BOUND += [m.replace(k=3) for m in BOUND if m.record.has_cutoff]


def columns(rows):
    """Features, labels, scores, ids, weights and what was retrieved, of the rows of six interleaved queries."""
    y_true, y_score, qid = rows
    weights = 1.0 + np.unique(qid, return_inverse=True)[1]
    X = np.column_stack([y_score, np.arange(len(qid)), y_true % 2]).astype(float)
    retrieved = np.arange(len(qid)) % 7 > 0
    return {
        "X": X,
        "y": y_true,
        "scores": y_score,
        "qid": qid,
        "weights": weights,
        "retrieved": retrieved,
    }


def read_only(data):
    for array in data.values():
        array.flags.writeable = False
    return data


def with_index(data):
    index = [f"row {i}" for i in range(len(data["y"]))]
    frames = {name: pd.Series(array, index=index) for name, array in data.items() if name != "X"}
    return {"X": pd.DataFrame(data["X"], index=index, columns=list("abc")), **frames}


CONTAINERS = {
    "arrays": dict,
    "read-only": read_only,
    "strided": lambda data: {
        name: np.repeat(array, 2, axis=0)[::2] for name, array in data.items()
    },
    "pandas": with_index,
    "ids in the index": lambda data: {**data, "y": with_qid(data["y"], data["qid"])},
    "lists": lambda data: {name: array.tolist() for name, array in data.items()},
}


def fingerprint(value):
    """All bytes of a value and what else there is to change in it."""
    if isinstance(value, pd.DataFrame | pd.Series):
        cells, labels = fingerprint(value.to_numpy()), fingerprint(value.index.to_numpy())
        return cells, labels, str(value.index.name), str(value.attrs)
    if isinstance(value, np.ndarray):
        content = value.tolist() if value.dtype == object else value.tobytes()
        return content, value.dtype.str, value.shape, value.strides, value.flags.writeable
    return repr(value)


def every_metric(X, y, scores, qid, weights, retrieved):
    for metric in BOUND:
        metric(y, scores, qid=qid, sample_weight=weights)
        metric(y, scores, qid=qid, retrieved=retrieved, judged=retrieved, average=None)


def reports(X, y, scores, qid, weights, retrieved):
    metrics = [metric for metric in BOUND if metric.k is None][::3]
    package.evaluate(
        y, scores, qid=qid, metrics=metrics, sample_weight=weights, retrieved=retrieved
    ).to_frame()
    str(
        package.evaluate(
            y, scores, qid=qid, metrics=metrics, judged=retrieved, condense=True
        ).health
    )
    with_qid(y, qid, judged=retrieved, sample_weight=weights)
    package.conventions.explain_difference(
        y, scores, qid=qid, metric="ndcg@3", conventions=("sklearn", "catboost")
    )
    package.conventions.match_convention(y, scores, qid=qid, value=0.5)
    str(package.splitters.audit_splits(QueryKFold(2), X, y, qid=qid))
    with_qid(y, qid)


def splitters(X, y, scores, qid, weights, retrieved):
    parts = (np.asarray(qid) > "c").astype(int)
    for splitter in (
        *(QueryKFold(3), QueryKFold(3, stratify="both", shuffle=True, random_state=0)),
        *(package.RepeatedQueryKFold(2, n_repeats=2), package.QueryShuffleSplit(2)),
        *(package.QueryTimeSeriesSplit(2), package.PredefinedQuerySplit(parts)),
    ):
        for train, test in splitter.split(X, y, groups=qid, qid=qid):
            train[:], test[:] = 0, 0  # the rows are the caller's
    for part in package.query_train_test_split(X, y, scores, qid=qid, random_state=0):
        if isinstance(part, np.ndarray):
            part[:] = 0


def rankers(X, y, scores, qid, weights, retrieved):
    for model in (Ridge(), LGBMRanker(n_estimators=2, min_child_samples=1, verbose=-1, n_jobs=1)):
        ranker = QueryRanker(model).fit(X, y, qid=qid, sample_weight=weights)
        ranker.score(X, y, qid=qid, sample_weight=weights)
        labels = with_qid(np.asarray(y), np.asarray(qid))
        for scorer in package.ranking_scorers("ndcg@3", "map", "neg_kendall_tau_distance").values():
            scorer(ranker, X, labels)
        ranker.predict(X)[:] = 0  # and so are predictions


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize(
    "use", [every_metric, reports, splitters, rankers], ids=lambda use: use.__name__
)
@pytest.mark.slow
def test_inputs_are_byte_for_byte_what_they_were(use, container, rows):
    data = CONTAINERS[container](columns(rows))
    before = {name: fingerprint(value) for name, value in data.items()}
    use(**data)
    assert {name: fingerprint(value) for name, value in data.items()} == before


def problem_of(seed):
    rng = np.random.default_rng(seed)
    qid = rng.permutation(np.repeat(np.arange(20), rng.integers(1, 30, 20)))
    return (
        np.column_stack([rng.integers(0, 9, len(qid)), np.ones(len(qid))]),
        rng.integers(0, 4, len(qid)),
        qid,
    )


SHARED = package.ranking_scorers("ndcg@5", "map", "mrr", "err@3", "kendall_tau")
RANKER = QueryRanker(Ridge()).fit(*problem_of(0)[:2], qid=problem_of(0)[2] + 1000)


def computed_of(seed):
    """Numbers from objects that all threads share, on data of the thread's own."""
    X, y, qid = problem_of(seed)
    scores = [scorer(RANKER, X, with_qid(y, qid)) for scorer in SHARED.values()]
    values = [metric(y, X[:, 0], qid=qid) for metric in BOUND[::7]]
    report = package.evaluate(y, X[:, 0], qid=qid, metrics=["ndcg@5", "precision@3", "q_measure"])
    folds = [test.tolist() for _, test in QueryKFold(3).split(X, y, groups=qid)]
    return scores, values, list(report.mean.values()), folds


@pytest.mark.slow
def test_eight_threads_give_what_one_gives():
    expected = [computed_of(seed) for seed in range(8)]
    assert len({str(numbers) for numbers in expected}) == 8
    barrier = threading.Barrier(8)

    def work(seed):
        barrier.wait()
        return [computed_of(seed) for _ in range(3)]

    with ExitStack() as stack:
        stack.callback(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(1e-6)  # a change of threads at every chance
        results = list(stack.enter_context(ThreadPoolExecutor(8)).map(work, range(8)))
    assert results == [[numbers] * 3 for numbers in expected]


AUDITED = """
import sys, warnings
FORBIDDEN = ("socket.", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.spawn", "os.startfile",
             "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.chmod", "os.truncate",
             "shutil.", "tempfile.", "urllib.", "ftplib.", "http.", "smtplib.", "webbrowser.", "pickle.", "sqlite3.")
seen = []
def hook(event, arguments):
    if event == "open":
        if set(str(arguments[1])) & set("wax+") or (arguments[2] or 0) & 3:
            seen.append((event, str(arguments[0])))
    elif event.startswith(FORBIDDEN):
        seen.append((event, str(arguments)[:99]))
{before}
sys.addaudithook(hook)
import skrank_metrics, skrank_metrics.datasets
{after}
import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from skrank_metrics import *
from skrank_metrics.metrics import get_metric_names
from skrank_metrics.splitters import audit_splits
rng = np.random.default_rng(0)
qid = np.repeat(np.arange(30), 5)
X, y = rng.normal(size=(150, 3)), rng.integers(0, 4, 150)
evaluate(y, X[:, 0], qid=qid, metrics=[n for n in get_metric_names() if n != "pfound"])
import sklearn
with sklearn.config_context(enable_metadata_routing=True):
    GridSearchCV(QueryRanker(Ridge()), {{"estimator__alpha": [1, 2]}}, scoring=ranking_scorers("ndcg@5", "map"),
                 refit="map", cv=QueryKFold(3), error_score="raise").fit(X, y, groups=qid)
str(audit_splits(QueryKFold(3), X, y, qid=qid))
print(seen)
"""


def audited(before, after, **options):
    """What a process prints in which the package is imported and used under an audit hook."""
    command = [sys.executable, "-B", "-c", AUDITED.format(before=before, after=after)]
    return subprocess.run(command, capture_output=True, text=True, check=True, **options).stdout


@pytest.mark.slow
def test_neither_import_nor_scoring_touches_network_programs_or_disk():
    # What the dependencies do while they are imported is their own.
    assert audited("import scipy.optimize, scipy.stats, sklearn.model_selection", "") == "[]\n"


@pytest.mark.slow
def test_the_audit_sees_what_it_looks_for(tmp_path):
    acts = "import socket, subprocess; open('written', 'w'); socket.socket(); subprocess.Popen(['true']).wait()"
    printed = audited(
        "", acts + "; print({event for event, _ in seen}); raise SystemExit", cwd=tmp_path
    )
    assert all(event in printed for event in ("open", "socket.__new__", "subprocess.Popen"))
