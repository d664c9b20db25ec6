"""The ways into the package that hostile input is tried on, and what they give, as tables.

In tests/, ``python -m support.hostile`` prints the tables of the documentation, with ``--all`` those of all cases.
"""

from __future__ import annotations

import json
import sys

import numpy as np
import sklearn
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import skrank_metrics as package
from skrank_metrics import QueryKFold, QueryRanker
from support.hostile_cases import CASES, IDS, PEERS
from support.hostile_seams import CLEAN, MASK_NAMES, SEAMS, X, Y

TITLES = {"labels": "Labels", "scores": "Scores", "ids": "Ids", "k": "Cutoff"}


class Recorded(BaseEstimator):
    """A model that predicts what it was given."""

    def __init__(self, scores=None):
        self.scores = scores

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return self.scores


def chosen(rows, *names):
    return {name: rows[name] for name in names}


def split(rows, *names):
    splitter = QueryKFold(2, shuffle=True, random_state=rows["random_state"])
    return [
        test.tolist() for _, test in splitter.split(rows["X"], rows["y"], **chosen(rows, *names))
    ]


def fit(rows):
    ranker = QueryRanker(rows["estimator"], random_state=rows["random_state"])
    given = chosen(rows, "qid", "groups", "sample_weight") | rows["further"]
    return ranker.fit(rows["X"], rows["y"], **given).predict(X).round(12).tolist()


def score(rows):
    ranker = QueryRanker(Recorded(rows["scores"])).fit(X, Y, qid=list("tuvwxyz"))
    return ranker.score(X, rows["y"], **chosen(rows, "qid", "groups", "sample_weight"))


def train_test_split(rows):
    parts = package.query_train_test_split(
        rows["X"], rows["y"], **chosen(rows, "qid", "random_state")
    )
    return [np.asarray(part).tolist() for part in parts]


def metric(rows):
    return package.ndcg_score(
        rows["y"], rows["scores"], **chosen(rows, "qid", "k", "sample_weight", *MASK_NAMES)
    )


def scored(rows):
    names = ("qid", "groups", "sample_weight", *MASK_NAMES)
    ids = {name: rows[name] for name in names if rows[name] is not None}
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = package.make_ranking_scorer("ndcg").set_score_request(**dict.fromkeys(names, True))
        return scorer(Recorded(rows["scores"]), rows["X"], rows["y"], **ids)


def evaluated(rows):
    ndcg = "ndcg" if rows["k"] is None else package.get_metric("ndcg", k=rows["k"])
    given = chosen(rows, "qid", "sample_weight", *MASK_NAMES)
    return package.evaluate(rows["y"], rows["scores"], **given, metrics={"ndcg": ndcg}).mean["ndcg"]


def sliced(rows):
    """The mean of the slice of query "a", the only one whose weight is never 0; slices of numbers are in order."""
    given = chosen(rows, "qid", "sample_weight", "by")
    slices = package.evaluate(rows["y"], rows["scores"], **given, metrics="ndcg").slices
    if all(isinstance(name, int) for name in slices):
        assert list(slices) == sorted(slices)
    return [round(part.mean["ndcg"], 12) for part in slices.values() if "a" in part.qid]


def compared(rows):
    """Difference and p-value of the given scores and their negatives."""
    other = {**rows, **rows["other"]}
    reports = []
    for one, sign in ((rows, 1), (other, -1)):
        given = chosen(one, "qid", "sample_weight")
        reports.append(package.evaluate(one["y"], sign * one["scores"], **given, metrics="ndcg"))
    (pair,) = package.compare(reports, "ndcg").pairs()
    return [round(pair.difference, 12), pair.p_value]


def audit(rows, *names):
    """What an audit of splits tells: of splits by query, and of rows where only query ids are given."""
    splits = list(QueryKFold(2).split(X, qid=IDS)) if "groups" in names else KFold(2)
    found = package.splitters.audit_splits(splits, rows["X"], rows["y"], **chosen(rows, *names))
    return found.check() if "groups" in names else found.to_frame().to_numpy().tolist()


def crossed(rows):
    params = None if rows["groups"] is None else {"groups": rows["groups"]}
    options = {"cv": QueryKFold(2), "metrics": "ndcg", "params": params}
    found = package.cross_evaluate(
        rows["estimator"], rows["X"], rows["y"], **chosen(rows, "qid"), **options
    )
    (report,) = found.reports.values()
    return report.mean["ndcg"]


def piped(rows):
    pipeline = make_pipeline(StandardScaler(), QueryRanker(rows["estimator"]))
    pipeline.fit(rows["X"], rows["y"], queryranker__qid=rows["qid"])
    return pipeline.predict(X).round(12).tolist()


# The arguments that each way takes; groups take precedence in a split, and come last in a ranking.
WAYS = {
    "metrics": ({"y", "scores", "qid", "sample_weight", *MASK_NAMES}, metric),
    "scorers": ({"y", "scores", "qid", "groups", "sample_weight", *MASK_NAMES}, scored),
    "`evaluate`": ({"y", "scores", "qid", "sample_weight", *MASK_NAMES}, evaluated),
    "`QueryRanker.fit`": (
        {"X", "y", "qid", "groups", "sample_weight", "estimator", "further", "random_state"},
        fit,
    ),
    "`QueryRanker.score`": ({"y", "qid", "groups", "sample_weight"}, score),
    "splitters": ({"X", "y", "qid", "random_state"}, lambda rows: split(rows, "qid")),
    "splitters (`groups`)": (
        {"X", "y", "qid", "groups"},
        lambda rows: split(rows, "qid", "groups"),
    ),
    "`evaluate(by=)`": ({"by", "sample_weight"}, sliced),
    "`compare`": ({"other", "sample_weight"}, compared),
    "`audit_splits`": ({"X", "y", "qid"}, lambda rows: audit(rows, "qid")),
    "`audit_splits` (`groups`)": (
        {"X", "y", "qid", "groups"},
        lambda rows: audit(rows, "qid", "groups"),
    ),
    "`query_train_test_split`": ({"X", "y", "qid", "random_state"}, train_test_split),
    "`cross_evaluate`": ({"X", "y", "qid", "estimator"}, crossed),
    "`Pipeline.fit`": (set(), piped),
}


def ways_of(seam):
    """Names of the ways that the seam is tried on: all that take what is replaced, unless it names its own."""
    replaced = {name for name, value in seam.replaced.items() if value is not None}
    return list(seam.ways) or [name for name, (taken, _) in WAYS.items() if replaced <= taken]


def rows_of(labels, scores, ids, k):
    """The arguments of a case as those of the ways."""
    return {**CLEAN, "y": labels, "scores": scores, "qid": ids, "k": k}


def outcome(way, rows):
    """What a way gives, as text."""
    try:
        way(rows)
    except (TypeError, ValueError) as error:
        said, _, rest = str(error).partition("; got ")
        got = rest.partition(". ")[0].rstrip(".")
        if got:
            said += f"; got {got}"
        if len(said) > 110:
            said = said[:110]
            # Up to the last whole sentence, if there is one.
            said = said.rpartition(". ")[0] or f"{said.rpartition(' ')[0]} ..."
        text = f"{type(error).__name__}: {said}".replace("|", "/")
        # Addresses and units of times differ from run to run and between versions of pandas.
        return text.split(" at 0x")[0].replace("[us]", "[ns]")
    return "right"


# The rows of the documentation.
SHOWN_CASES = {
    "labels": [
        "NaN",
        "negative",
        "big-endian",
        "one row too few",
        "a column, shape (7, 1)",
    ],
    "scores": [
        "uint8",
        "1e-12 apart",
        "+inf",
        "NaN",
        "one score per class",
        "masked",
    ],
    "ids": [
        "no ids",
        "strings and integers that look the same",
        "NaN",
    ],
    "k": ["0", "2.5"],
}
SHOWN_SEAMS = [
    "`qid` and the index of `y`",
    "the index of `y` and `groups` of users, ranked by query",
    "`X` sorted, `y` not, converted to arrays by a Pipeline",
    "a value that varies within a query",
    "different labels with the same sum",
    "LGBMRanker without QueryRanker",
]


def table(*, everything=False):
    """What cases give here and what peers make of them, and what seams give, as Markdown: the rows shown, or all."""
    recorded = json.loads(PEERS.read_text(encoding="utf-8"))
    peers = recorded["versions"]
    cases = [case for case in CASES if everything or case.what in SHOWN_CASES[case.argument]]
    seams = [seam for seam in SEAMS if everything or seam.what in SHOWN_SEAMS]
    rows = []
    for case in cases:
        of_peers = recorded["outcomes"][f"{case.argument}: {case.what}"]
        title = f"{TITLES[case.argument]}: {case.what}"
        here = outcome(metric, rows_of(**case.passed))
        rows.append((title, here, *(of_peers[peer] for peer in peers)))
    disagreeing = []
    for seam in seams:
        first_way = ways_of(seam)[0]
        _, way = WAYS[first_way]
        disagreeing.append((f"{seam.kind}: {seam.what}", outcome(way, seam.passed)))
    versions = ", ".join(f"{peer} {version}" for peer, version in peers.items())
    of_cases = markdown(("input", "here", *peers), rows)
    of_seams = markdown(("input", "here"), disagreeing)
    return f"Measured with {versions}.\n\n{of_cases}\n\nArguments that do not belong together:\n\n{of_seams}"


def markdown(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


if __name__ == "__main__":
    print(table(everything="--all" in sys.argv))
