"""``python -m benchmarks.lists_by_id [--queries N]``: ranked lists joined with judgments, against ranx and pytrec_eval.

Each query has 100 returned documents and 20 judged ones, half of which were returned. The clock includes what each
library needs to get from the source to the values: ranx its Qrels and Run, pytrec_eval its evaluator and, from files
and frames, the dicts. Users have short lists, which are compared with a loop and with NumPy by hand.
``--memory N`` measures the memory of N returned rows in a frame instead.
"""

from __future__ import annotations

import argparse
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import Comparison, machine, print_table
from skrank_metrics import evaluate, evaluate_run
from skrank_metrics.reports.report_data import data_of

METRICS = ["ndcg@10", "map", "mrr", "precision@10", "recall@100"]
PYTREC_EVAL = {"ndcg_cut_10", "map", "recip_rank", "P_10", "recall_100"}
RETURNED, JUDGED = 100, 20


def frames(n_queries: int) -> tuple[Any, Any]:
    """Judgments and a run as frames of pandas with string ids."""
    import pandas as pd

    rng = np.random.default_rng(0)
    ranked = np.argsort(rng.random((n_queries, 5 * RETURNED)), axis=1)[
        :, : RETURNED + JUDGED // 2
    ].astype(np.int32)
    ids = ranked + 13 * np.arange(n_queries)[:, None]  # queries share some documents
    names = np.char.add("doc-", np.arange(ids.max() + 1).astype(str)).astype(object)
    queries = np.char.add("q", np.arange(n_queries).astype(str)).astype(object)
    run = pd.DataFrame(
        {"query": np.repeat(queries, RETURNED), "document": names[ids[:, :RETURNED]].ravel()}
    )
    qrels = pd.DataFrame(
        {"query": np.repeat(queries, JUDGED), "document": names[ids[:, -JUDGED:]].ravel()}
    )
    scores = -np.sort(-rng.random((n_queries, RETURNED)).round(6), axis=1)  # runs are sorted
    return qrels.assign(label=rng.integers(0, 3, len(qrels))), run.assign(score=scores.ravel())


def to_dicts(frame: Any, value: str) -> dict[str, dict[str, Any]]:
    """A frame as pytrec_eval and ranx take it, with a loop over rows, as their users write it."""
    found: dict[str, dict[str, Any]] = {}
    for query, document, one in zip(
        *(frame[name].tolist() for name in ("query", "document", value)), strict=True
    ):
        found.setdefault(query, {})[document] = one
    return found


def write_trec(qrels: Any, run: Any, folder: Path) -> tuple[str, str]:
    """Both frames as TREC files."""
    qrels.assign(i=0)[["query", "i", "document", "label"]].to_csv(
        folder / "qrels", sep=" ", header=False, index=False
    )
    columns = ["query", "Q0", "document", "rank", "score", "tag"]
    run.assign(Q0="Q0", rank=1, tag="x")[columns].to_csv(
        folder / "run", sep=" ", header=False, index=False
    )
    return str(folder / "qrels"), str(folder / "run")


def read_trec(path: str, place: int, kind: type) -> dict[str, dict[str, Any]]:
    """A TREC file as dicts, as pytrec_eval's own parser reads it."""
    found: dict[str, dict[str, Any]] = {}
    with open(path) as lines:
        for line in lines:
            fields = line.split()
            found.setdefault(fields[0], {})[fields[2]] = kind(fields[place])
    return found


def by_pytrec_eval(qrels: Any, run: Any) -> Any:
    import pytrec_eval

    return pytrec_eval.RelevanceEvaluator(qrels, PYTREC_EVAL).evaluate(run)


def by_ranx(qrels: Any, run: Any) -> Any:
    import ranx

    return ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), METRICS)


def by_ranx_from_frames(qrels: Any, run: Any) -> Any:
    import ranx

    names: dict[str, Any] = {"q_id_col": "query", "doc_id_col": "document"}
    ids = {"query": object, "document": object}  # it refuses the strings of pandas 3
    qrels, run = qrels.astype(ids), run.astype(ids)
    judged = ranx.Qrels.from_df(qrels, **names, score_col="label")
    return ranx.evaluate(judged, ranx.Run.from_df(run, **names, score_col="score"), METRICS)


def by_ranx_from_files(qrels: str, run: str) -> Any:
    import ranx

    return ranx.evaluate(
        ranx.Qrels.from_file(qrels, kind="trec"), ranx.Run.from_file(run, kind="trec"), METRICS
    )


def comparisons(n_queries: int, folder: Path, *, with_ranx: bool) -> list[Comparison]:
    qrels, run = frames(n_queries)
    dicts = to_dicts(qrels, "label"), to_dicts(run, "score")
    paths = write_trec(qrels, run, folder)
    ranking = data_of(evaluate_run(qrels, run, METRICS)).own_ranking
    rows = ranking.documents
    qid = np.repeat(rows.queries.ids.astype(str), rows.grouping.sizes)
    given: dict[str, Any] = {
        "qid": qid,
        "retrieved": ranking.retrieved,
        "judged": rows.judged,
        "metrics": METRICS,
    }
    joined = partial(evaluate, rows.compact_labels, ranking.scores, **given)

    def read_and_evaluate() -> Any:
        return by_pytrec_eval(read_trec(paths[0], 3, int), read_trec(paths[1], 4, float))

    def convert_and_evaluate() -> Any:
        return by_pytrec_eval(to_dicts(qrels, "label"), to_dicts(run, "score"))

    sources: dict[str, tuple[Any, Any, Any]] = {
        "dicts": (dicts, partial(by_pytrec_eval, *dicts), partial(by_ranx, *dicts)),
        "frames": ((qrels, run), convert_and_evaluate, partial(by_ranx_from_frames, qrels, run)),
        "files": (paths, read_and_evaluate, partial(by_ranx_from_files, *paths)),
    }
    found = []
    for name, (given_as, pytrec_eval, ranx) in sources.items():
        ours = partial(evaluate_run, given_as[0], given_as[1], METRICS)
        # With ties as there, the values are the same.
        as_there = partial(evaluate_run, given_as[0], given_as[1], METRICS, convention="trec_eval")
        found.append(
            Comparison(f"evaluate_run, {name}", as_there, "pytrec_eval", pytrec_eval, 1.0, rounds=7)
        )
        if with_ranx:
            found.append(Comparison(f"evaluate_run, {name}", ours, "ranx", ranx, 1.0, rounds=5))
    ours = partial(evaluate_run, qrels, run, METRICS)
    return [
        *found,
        Comparison(
            "evaluate_run, frames", ours, "evaluate, rows joined before", joined, 2.0, rounds=5
        ),
    ]


def average_precision_by_hand(liked: dict[str, list[str]], lists: dict[str, list[str]]) -> float:
    """Mean average precision at 10, as recommenders compute it in a loop."""
    total = 0.0
    for user, items in liked.items():
        relevant = set(items)
        n_found = 0
        for rank, item in enumerate(lists[user][:10], start=1):
            if item in relevant:
                n_found += 1
                total += n_found / rank / len(items)
    return total / len(liked)


def ndcg_by_hand(users: Any, items: Any, run: Any) -> float:
    """Mean NDCG at 10 of users that are numbered from 0."""
    n = max(items.max(), run.max()) + 1
    numbers = np.arange(len(run))[:, None]
    found = np.isin(numbers * n + run[:, :10], users * n + items)
    weights = 1 / np.log2(np.arange(2, 12))
    ideal = np.cumsum(weights)[np.minimum(np.bincount(users), 10) - 1]
    return float((found @ weights / ideal).mean())


def comparisons_of_users(n_users: int) -> list[Comparison]:
    """Short lists: 12 strings per user, 6 of which would be right; 20 integers, with judgments in random order."""
    import pandas as pd

    rng = np.random.default_rng(0)
    names = [f"item-{number}" for number in range(50_000)]
    liked = dict[str, list[str]]()
    lists = dict[str, list[str]]()
    scored = dict[str, dict[str, float]]()
    for number in range(n_users):
        items = [names[item] for item in rng.integers(0, 50_000, 15)]
        user = f"user-{number}"
        liked[user] = list(dict.fromkeys(items[:6]))
        lists[user] = list(dict.fromkeys(items[3:]))
        scored[user] = {item: -float(rank) for rank, item in enumerate(lists[user])}
    by_hand = partial(average_precision_by_hand, liked, lists)
    found = [
        Comparison(
            f"evaluate_run, {n_users:,} users, {name}",
            partial(evaluate_run, liked, run, "map@10"),
            "a loop by hand",
            by_hand,
            2.0,
            rounds=5,
        )
        for name, run in {"lists": lists, "dicts": scored}.items()
    ]
    n_users *= 2
    order = rng.permutation(5 * n_users)
    users = np.repeat(np.arange(n_users), 5)[order]
    liked_items = (rng.integers(0, 9000, (n_users, 1)) + np.arange(0, 500, 100)).ravel()[order]
    run = rng.integers(0, 9000, (n_users, 1)) + rng.permutation(500)[:20]
    numpy_by_hand = partial(ndcg_by_hand, users, liked_items, run)
    for first in (0, 10**9):
        qrels = pd.DataFrame({"user": first + users, "item": first + liked_items})
        ids = first + np.arange(n_users)
        ours = partial(evaluate_run, qrels, first + run, "ndcg@10", queries=ids)
        name = f"evaluate_run, {n_users:,} users, integers from {first:,}"
        found.append(Comparison(name, ours, "NumPy by hand", numpy_by_hand, rounds=5))
    return found


def measure_memory(n_rows: int) -> None:
    """Print the memory that evaluating a frame takes beyond the frame."""
    qrels, run = frames(n_rows // RETURNED)
    evaluate_run(qrels[:100], run[:100], METRICS)  # imports
    size = int(qrels.memory_usage(deep=True).sum() + run.memory_usage(deep=True).sum())
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the peak starts anew
    with open("/proc/self/status") as file:
        before = next(1024 * int(line.split()[1]) for line in file if line.startswith("VmRSS"))
    evaluate_run(qrels, run, METRICS)
    with open("/proc/self/status") as file:
        extra = (
            next(1024 * int(line.split()[1]) for line in file if line.startswith("VmHWM")) - before
        )
    print(
        f"{len(run):,} returned rows: frames {size / 1e6:.0f} MB, and at most {extra / 1e6:.0f} MB more."
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lists_by_id", description=__doc__)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--memory", type=int, metavar="ROWS")
    chosen = parser.parse_args()
    if chosen.memory:
        measure_memory(chosen.memory)
        return
    try:
        import ranx  # noqa: F401
    except ImportError:
        with_ranx = False
    else:
        with_ranx = True
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        print_table(comparisons(chosen.queries, Path(folder), with_ranx=with_ranx))
    print_table(comparisons_of_users(10 * chosen.queries))


if __name__ == "__main__":
    main()
