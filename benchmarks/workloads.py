"""What is timed, what it is compared with, and the target of each ratio."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import check_scoring

from benchmarks import data, peers
from benchmarks.data import Rows
from benchmarks.timing import Call, Comparison
from skrank_metrics import QueryKFold, QueryRanker, evaluate, get_metric, ranking_scorers, with_qid

TEN = (
    "ndcg@5",
    "ndcg@10",
    "map",
    "mrr",
    "precision@10",
    "recall@10",
    "hit_rate@10",
    "rbp",
    "err",
    "dcg@10",
)
SIX = ("ndcg@10", "map", "mrr", "precision@10", "recall@10", "err")
PEER_TARGETS = {"LightGBM": 1 / 2.5, "XGBoost": 1 / 3, "CatBoost": 1 / 8, "a plain C loop": 2.5}
MAIN = "NDCG@10, scores untied, rows sorted"


def ours(metric: str, rows: Rows) -> Call:
    y_true, y_score, qid = rows
    bound = get_metric(metric)
    return lambda: bound(y_true, y_score, qid=qid)


def ndcg_against_peers(rows: Rows) -> list[Comparison]:
    return [
        Comparison("NDCG@10", ours("ndcg@10", rows), name, peer(rows), PEER_TARGETS.get(name))
        for name, peer in peers.available()
    ]


def against_peers() -> list[Comparison]:
    rows = data.msl_like()
    found = ndcg_against_peers(rows)
    if importlib.util.find_spec("xgboost"):
        at_depth = f"map@{len(rows[0])}"
        found.append(
            Comparison(
                "MAP, all ranks",
                ours("map", rows),
                "XGBoost, all ranks",
                peers.xgboost(rows, at_depth),
                1 / 2,
            )
        )
    return found


def against_itself() -> list[Comparison]:
    rows = data.msl_like()
    main = ours("ndcg@10", rows)
    y_true, y_score, qid = rows
    return [
        Comparison("scores of one decimal", ours("ndcg@10", data.tied(rows, 1)), MAIN, main, 1.8),
        Comparison("all scores equal", ours("ndcg@10", data.tied(rows, None)), MAIN, main, 3),
        Comparison("rows in random order", ours("ndcg@10", data.shuffled(rows)), MAIN, main, 8),
        Comparison(
            "ten metrics", lambda: evaluate(y_true, y_score, qid=qid, metrics=TEN), MAIN, main, 5
        ),
    ]


def containers_of_ids(qid: NDArray[Any]) -> dict[str, tuple[Any, float]]:
    """The same ids as users have them, and the target of each."""
    names = np.char.add("query-", qid.astype(str)).tolist()
    found: dict[str, tuple[Any, float]] = {
        "strings, NumPy objects": (np.array(names, dtype=object), 1.6)
    }
    if importlib.util.find_spec("pandas"):
        import pandas as pd

        strings = pd.Series(names, dtype="string")
        found |= {
            "strings, pandas": (strings, 1.6),
            "categories, pandas": (strings.astype("category"), 1.15),
        }
    if importlib.util.find_spec("polars"):
        import polars as pl

        column = pl.Series(names)
        found |= {
            "strings, polars": (column, 1.6),
            "categories, polars": (column.cast(pl.Categorical), 1.2),
        }
    return {**found, "strings, NumPy": (np.array(names), 4.0)}


def ids() -> list[Comparison]:
    y_true, y_score, qid = rows = data.shuffled(data.msl_like(16_000))
    containers, integers = containers_of_ids(qid), ours("ndcg@10", rows)
    found = [
        Comparison(
            f"ids are {name}", ours("ndcg@10", (y_true, y_score, ids)), "integers", integers, target
        )
        for name, (ids, target) in containers.items()
    ]
    X, country = np.zeros((len(qid), 1)), np.array(["de", "fr", "gb", "us"], dtype=object)[qid % 4]

    def folds(groups: Any) -> Call:
        return lambda: list(QueryKFold(5).split(X, y_true, groups=groups))

    by_country = Comparison(
        "evaluate(by=country)",
        lambda: evaluate(y_true, y_score, qid=qid, metrics="ndcg@10", by=country),
        "without by",
        lambda: evaluate(y_true, y_score, qid=qid, metrics="ndcg@10"),
        1.6,
    )
    named = ((name, ids) for name, (ids, _) in containers.items() if "pandas" in name)
    return [
        *found,
        *(
            Comparison(f"QueryKFold, ids are {name}", folds(ids), "integers", folds(qid), 1.6)
            for name, ids in named
        ),
        by_country,
    ]


def ties_at_all_ranks() -> list[Comparison]:
    rows = data.msl_like()
    targets = {
        "map": 3,
        "mrr": 3,
        "err": 5,
        "nerr": 5,
        "pfound(gain=exp2)": 5,
    }  # if all documents tie
    return [
        Comparison(
            f"{name}, {what}",
            ours(name, data.tied(rows, decimals)),
            f"{name}, untied",
            ours(name, rows),
            target,
        )
        for name, of_all in targets.items()
        for what, decimals, target in (("one decimal", 1, 3), ("all scores equal", None, of_all))
    ]


def shapes() -> list[Comparison]:
    main, names = data.msl_like(), {"lightgbm": "LightGBM", "xgboost": "XGBoost"}
    found = []
    for name, rows, peer in (
        ("200,000 lists of 20", data.short_lists(), "lightgbm"),
        # LightGBM refuses lists of more than 10,000.
        ("one list of 200,000 and 20,000 lists of 20", data.one_long_list(), "xgboost"),
    ):
        longer = len(rows[0]) / len(main[0])
        call = ours("ndcg@10", rows)
        found.append(
            Comparison(name, call, MAIN + ", per document", ours("ndcg@10", main), 4, longer)
        )
        if importlib.util.find_spec(peer):
            target = 0.7 if peer == "lightgbm" else None
            found.append(Comparison(name, call, names[peer], getattr(peers, peer)(rows), target))
    return found


class _Given(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts its only feature, so that all is scoring."""

    def fit(self, X: Any, y: Any) -> _Given:
        self.is_fitted_ = True
        return self

    def predict(self, X: Any) -> Any:
        return X[:, 0].copy()


def scorers() -> list[Comparison]:
    y_true, y_score, qid = data.msl_like()
    y, X = with_qid(y_true, qid), y_score[:, None]
    given = QueryRanker(_Given()).fit(X[: len(y) // 10], y[: len(y) // 10])
    of_six = check_scoring(
        given, scoring=ranking_scorers(*SIX)
    )  # what cross_validate and the searches call
    return [
        Comparison(
            "ranking_scorers of six for a QueryRanker, as cross_validate calls them",
            lambda: of_six(given, X, y),
            "one evaluate of the six",
            lambda: evaluate(y_true, y_score, qid=qid, metrics=SIX),
            1.6,
        )
    ]


def threads() -> list[Comparison]:
    """Half of the queries for each of two threads: why there is no parameter for it."""
    rows = data.msl_like(40_000)
    middle = int(np.searchsorted(rows[2], 20_000))
    halves = [tuple(array[part] for array in rows) for part in (slice(middle), slice(middle, None))]

    def call(metrics: tuple[str, ...], n_jobs: int) -> Call:
        def work(y_true: Any, y_score: Any, qid: Any) -> None:
            evaluate(y_true, y_score, qid=qid, metrics=metrics)

        return lambda: Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(work)(*half) for half in halves
        )

    return [
        Comparison(
            f"{name}, two threads", call(metrics, 2), "one thread", call(metrics, 1), rounds=5
        )
        for name, metrics in {"NDCG@10": ("ndcg@10",), "MAP": ("map",), "ten metrics": TEN}.items()
    ]


SECTIONS: dict[str, Callable[[], list[Comparison]]] = {
    "709,525 documents in 6,000 queries, compared with other libraries": against_peers,
    "More varied list lengths, int64 labels": lambda: ndcg_against_peers(data.skewed()),
    "The same documents with other scores and orders": against_itself,
    "1.9 million documents in random order, by type of id": ids,
    "Ties at all ranks": ties_at_all_ranks,
    "Other shapes": shapes,
    "In scikit-learn's cross-validation": scorers,
    "Two threads, half of 4.7 million documents each": threads,
}
