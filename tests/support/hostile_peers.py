"""What peers make of the hostile cases, into golden/peers_on_hostile_input.json: ``python -m support.hostile_peers``.

To be run in tests/.

Each peer computes NDCG in a process of its own, as some inputs abort it; the process is then started again behind the
case that did. Where a case has a right number, that is the one which the peer itself gives for clean float64 arrays.
"""

import contextlib
import json
import math
import subprocess
import sys
import warnings
from importlib.metadata import version

import numpy as np

from support.hostile_cases import CASES, PEERS

TIMEOUT = 60


def scikit_learn(labels, scores, ids, k):
    from sklearn.metrics import ndcg_score

    return ndcg_score([labels], [scores], k=k)


def lightgbm(labels, scores, ids, k):
    import lightgbm

    rows = lightgbm.Dataset(
        np.zeros((7, 1)), labels, group=[7], init_score=scores, free_raw_data=False
    )
    params = {
        "objective": "lambdarank",
        "metric": "ndcg",
        "eval_at": 10 if k is None else k,
        "verbose": -1,
    }
    return lightgbm.Booster({**params, "feature_pre_filter": False}, rows).eval_train()[0][2]


def xgboost(labels, scores, ids, k):
    import xgboost

    rows = xgboost.DMatrix(np.zeros((7, 1)), labels, qid=ids, base_margin=scores)
    params = {
        "objective": "rank:ndcg",
        "eval_metric": "ndcg" if k is None else f"ndcg@{k}",
        "base_score": 0.0,
        "verbosity": 0,
    }
    return float(xgboost.train(params, rows, num_boost_round=0).eval(rows).rpartition(":")[2])


def catboost(labels, scores, ids, k):
    from catboost.utils import eval_metric

    return eval_metric(labels, scores, "NDCG" if k is None else f"NDCG:top={k}", group_id=ids)[0]


def pytrec_eval(labels, scores, ids, k):
    import pytrec_eval

    asked = "ndcg" if k is None else f"ndcg_cut.{k}"
    judged = {}
    ranked = {}
    for row, (label, score, query) in enumerate(zip(labels, scores, ids, strict=True)):
        judged.setdefault(query, {})[f"d{row}"] = label
        ranked.setdefault(query, {})[f"d{row}"] = score
    values = pytrec_eval.RelevanceEvaluator(judged, {asked}).evaluate(ranked)
    return float(np.mean([value for measures in values.values() for value in measures.values()]))


FUNCTIONS = {
    "scikit-learn": scikit_learn, "LightGBM": lightgbm, "XGBoost": xgboost, "CatBoost": catboost,
    "pytrec_eval": pytrec_eval,
}  # fmt: skip
DISTRIBUTIONS = {
    "XGBoost": "xgboost-cpu",
    "pytrec_eval": "pytrec-eval-terrier",
}  # where they have other names
ONE_QUERY = (
    "scikit-learn",
    "LightGBM",
)  # no ids go in: scikit-learn takes a query, LightGBM the sizes of queries


def outcome(peer, case):
    """What the peer gives, as a cell of the table."""
    if case.argument == "ids" and peer in ONE_QUERY:
        return "takes no ids"

    def call(problem):
        if case.argument != "ids":  # its rows in one query, unless the ids are the case
            problem = {**problem, "ids": ["q"] * 7 if peer == "pytrec_eval" else [1] * 7}
        return FUNCTIONS[peer](**problem)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = float(call(case.passed))
        except BaseException as error:
            return f"{type(error).__name__}"
        warned = ", with a warning" if caught else ""
        if case.error:
            return f"**{value:.4g}**{warned}"
        try:
            right = float(call(case.meant))
        except BaseException as error:
            return f"**{value:.4g}** for {type(error).__name__}"
    return (
        "right"
        if math.isclose(value, right, abs_tol=1e-6)
        else f"**{value:.4g}** for {right:.4g}{warned}"
    )


def run(peer, first):
    """Print the outcome of each case from ``first`` on, one a line."""
    for case in CASES[first:]:
        with contextlib.redirect_stdout(sys.stderr):
            found = outcome(peer, case)
        print(f"OUTCOME {found}", flush=True)


def ask(peer):
    """Collect the outcomes of a peer, starting it again where it aborts or hangs."""
    found = []
    while len(found) < len(CASES):
        command = [sys.executable, "-m", "support.hostile_peers", peer, str(len(found))]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
            printed = done.stdout
            end = f"process ends ({done.returncode})"
        except subprocess.TimeoutExpired as stopped:
            printed = (stopped.stdout or b"").decode()
            end = f"hangs for {TIMEOUT} s"
        found += [line[8:] for line in printed.splitlines() if line.startswith("OUTCOME ")]
        if len(found) < len(CASES):
            found.append(f"**{end}**")
    return found


def main():
    """Ask all peers and write what they gave."""
    columns = {peer: ask(peer) for peer in FUNCTIONS}
    names = [f"{case.argument}: {case.what}" for case in CASES]
    outcomes = {
        name: {peer: columns[peer][place] for peer in columns} for place, name in enumerate(names)
    }
    versions = {peer: version(DISTRIBUTIONS.get(peer, peer)) for peer in FUNCTIONS}
    PEERS.write_text(
        json.dumps({"versions": versions, "outcomes": outcomes}, indent=1) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    run(sys.argv[1], int(sys.argv[2])) if len(sys.argv) > 1 else main()
