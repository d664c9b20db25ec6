"""Arguments that do not belong together, each seam with the result that it must give."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import polars as pl
from lightgbm import LGBMRanker
from sklearn.linear_model import Ridge
from xgboost import XGBRanker

from skrank_metrics import with_qid
from support.hostile_cases import IDS, LABELS, SCORES, WITHIN, changed

ROWS = pd.RangeIndex(100, 107)  # labels of rows that say more than their number
X = np.arange(7.0)[:, None]
Y = np.array(LABELS)
ONES = np.ones(7)
OTHER_IDS = ["a", "b", "a", "b", "b", "a", "a"]


@dataclass(frozen=True)
class Seam:
    """Arguments replaced, as a rule some that belong together: they give what the clean ones give, or ``error``."""

    kind: str
    what: str
    replaced: dict
    error: str = ""
    ways: tuple = ()

    def __str__(self):
        return self.what

    @property
    def passed(self):
        """All arguments, some of them replaced."""
        return {**CLEAN, **self.replaced}


MASK_NAMES = ("retrieved", "judged")
CLEAN = {
    "X": X,
    "y": Y,
    "scores": np.array(SCORES),
    "qid": np.array(IDS),
    "by": np.array(IDS),
    "k": None,
    **dict.fromkeys(("groups", "sample_weight", *MASK_NAMES)),
    "estimator": Ridge(),
    "random_state": 0,
    "further": {},  # parameters of fit
    "other": {},  # what differs in the second of two reports
}


def column(values, index=ROWS):
    return pd.Series(np.asarray(values), index=index)


def frame(index):
    return pd.DataFrame(X, index=index)


def wide(values, names):
    """Two queries of two documents, as a frame of the columns "a" and "b" in the order of the names."""
    return pd.DataFrame([values[:2], values[3:5]], index=["q", "r"], columns=["a", "b"])[
        list(names)
    ]


Y_COLUMN = column(Y)
Y_COUNTED = pd.Series(LABELS)
Y_IDS = with_qid(Y, IDS)
OTHER_INDEX = pd.Index(OTHER_IDS, name="qid")
TRUE = [True] * 7
CODES = [ord(i) for i in IDS]
BY_A = [i == "a" for i in IDS]
WIDE = ("metrics", "`evaluate`")
MASKED_WAYS = ("metrics", "scorers", "`evaluate`")
SPLIT_BY_GROUPS, RANK_BY_QUERY = (
    ("splitters (`groups`)",),
    ("scorers", "`QueryRanker.fit`", "`QueryRanker.score`"),
)
FIT = ("`QueryRanker.fit`",)
SEED = r"random_state must be (an int >= 0|below 2\*\*32); got"
AGREE, MASK = (
    "must agree with the index level '{}' of",
    "must be a mask of True and False; got an array of dtype",
)
OTHER_QID, VARIES = AGREE.format("qid"), "must be constant within a query; got b and"
INDEX = "must have the same index as .*; got {}, while rows are taken by position"
REORDERED, OTHERS = (
    INDEX.format("the same labels in different orders"),
    INDEX.format("different labels"),
)
SEAMS_OF_KINDS = {  # what is replaced by what, the error if there is one, and the ways if these are not all
    "Conflicting ids": [
        ("`qid` and the index of `y`", {"y": with_qid(Y, OTHER_IDS)}, OTHER_QID),
        ("`qid` and the index of `X`", {"X": frame(OTHER_INDEX)}, OTHER_QID),
        (
            "the indexes of `y` and `X`",
            {"X": frame(OTHER_INDEX), "y": Y_IDS, "qid": None},
            OTHER_QID,
        ),
        ("`qid` and the index of the scores", {"scores": column(SCORES, OTHER_INDEX)}, OTHER_QID),
        (
            "`qid` and `groups` that split a query",
            {"groups": OTHER_IDS},
            f"groups {VARIES} a in query 'b'",
            SPLIT_BY_GROUPS,
        ),
        (
            "the index of `y` and `groups` that split a query",
            {"y": Y_IDS, "qid": None, "groups": OTHER_IDS},
            f"groups {VARIES} a in query 'b'",
            SPLIT_BY_GROUPS,
        ),
        (
            "different names for the same queries in `qid` and the index of `y`",
            {"y": with_qid(Y, CODES)},
        ),
        (
            "categories in another order in `qid` and the index of `y`",
            {
                "qid": pd.Categorical(IDS, ["a", "b"]),
                "y": with_qid(Y, pd.Categorical(IDS, ["b", "a"])),
            },
        ),
        (
            "the index of `y` and `groups` of users, ranked by query",
            {"y": Y_IDS, "qid": None, "groups": ["u"] * 7},
            "",
            RANK_BY_QUERY,
        ),
        (
            "`groups` of users, divided by splits by query",
            {"groups": list("uvuvvvv")},
            "cv must keep every query whole; got an iterable .* 1 group with rows both in train and in test",
            ("`audit_splits` (`groups`)",),
        ),
    ],
    "Misaligned rows": [
        ("`y` sorted, `X` not", {"X": frame(ROWS), "y": Y_COLUMN[::-1]}, REORDERED),
        (
            "`X` sorted, `y` with ids in its index not",
            {"X": frame(ROWS)[::-1], "y": with_qid(Y_COLUMN, IDS), "qid": None},
            REORDERED,
        ),
        (
            "`X` sorted, `y` of `with_qid` counted from 0 before it",
            {"X": frame(range(7))[::-1], "y": with_qid(Y_COUNTED, IDS), "qid": None},
            REORDERED,
        ),
        (
            "scores sorted, `y` of `with_qid` counted from 0 before",
            {
                "scores": pd.Series(SCORES, name="score")[::-1],
                "y": with_qid(Y_COUNTED, IDS),
                "qid": None,
            },
            REORDERED,
        ),
        (
            "`X` sorted, `y` not, converted to arrays by a Pipeline",
            {"X": frame(ROWS), "y": Y_COLUMN[::-1]},
            REORDERED,
            ("`Pipeline.fit`",),
        ),
        ("`qid` sorted, `y` not", {"y": Y_COLUMN, "qid": column(IDS)[::-1]}, REORDERED),
        ("scores sorted, `y` not", {"y": Y_COLUMN, "scores": column(SCORES)[::-1]}, REORDERED),
        (
            "weights sorted, `y` not",
            {"y": Y_COLUMN, "sample_weight": column(ONES)[::-1]},
            REORDERED,
        ),
        ("`y` and `X` with different rows", {"X": frame(ROWS), "y": column(Y, ROWS + 1)}, OTHERS),
        (
            "scores and `y` with different rows",
            {"y": Y_COLUMN, "scores": column(SCORES, ROWS + 1)},
            OTHERS,
        ),
        (
            "`qid` and `y` with different rows",
            {"y": Y_COLUMN, "qid": column(IDS, ROWS + 1)},
            OTHERS,
        ),
        (
            "frames of one query per row, columns in another order",
            {"y": wide(LABELS, "ab"), "scores": wide(SCORES, "ba"), "qid": None},
            "y_score must have the same columns as y_true; got the same labels in different orders",
            WIDE,
        ),
        (
            "frames of one query per row, rows in another order",
            {"y": wide(LABELS, "ab"), "scores": wide(SCORES, "ab")[::-1], "qid": None},
            REORDERED,
            WIDE,
        ),
        (
            "`X` with labels, `y` and `qid` that count from 0",
            {"X": frame(ROWS), "y": Y_COUNTED, "qid": pd.Series(IDS)},
        ),
        (
            "`y` with labels, scores and `qid` that count from 0",
            {"y": Y_COLUMN, "scores": pd.Series(SCORES), "qid": pd.Series(IDS)},
        ),
    ],
    "Masks of documents": [
        *(
            seam
            for mask in MASK_NAMES
            for seam in (
                (f"`{mask}`, all True", {mask: TRUE}),
                (f"`{mask}` of 0 and 1", {mask: np.ones(7, dtype=int)}, f"{mask} {MASK} int64"),
                (
                    f"`{mask}` with a different length",
                    {mask: TRUE[1:]},
                    rf"{mask} must have the same shape as (y_true|y); got \(6,\) and \(7,\)",
                ),
                (f"`{mask}` sorted, `y` not", {"y": Y_COLUMN, mask: column(TRUE)[::-1]}, REORDERED),
                (
                    f"`{mask}` and the index of `y`",
                    {"y": with_qid(Y, IDS, **{mask: TRUE}), "qid": None, mask: [False] * 7},
                    f"{mask} {AGREE.format(mask)} the labels",
                ),
            )
        ),
        (
            "NaN as the label of an unjudged document",
            {"y": changed(LABELS, 3, np.nan), "judged": changed(TRUE, 3, False)},
            "",
            MASKED_WAYS,
        ),
        (
            "-1 as the label of an unjudged document, `judged` in the index of `y`",
            {
                "y": with_qid(changed(LABELS, 3, -1), IDS, judged=changed(TRUE, 3, False)),
                "qid": None,
            },
            "",
            MASKED_WAYS,
        ),
        (
            "NaN as the label of a judged document",
            {"y": changed(LABELS, 3, np.nan), "judged": TRUE},
            "contains NaN, first at row 3",
        ),
        ("None in `judged`", {"judged": changed(TRUE, 3, None)}, f"judged {MASK} object"),
        (
            "`sample_weight` and the index of `y`",
            {"y": with_qid(Y, IDS, sample_weight=ONES), "qid": None, "sample_weight": 2 * ONES},
            f"sample_weight {AGREE.format('sample_weight')} the labels",
            (*MASKED_WAYS, "`QueryRanker.score`"),
        ),
    ],
    "Slices": [
        ("numbers, out of order", {"by": [10 if a else 9 for a in BY_A]}),
        ("numbers and strings", {"by": [1 if a else "b" for a in BY_A]}),
        (
            "dates in nanoseconds",
            {"by": np.array([f"2001-01-0{1 + a}" for a in BY_A], dtype="M8[ns]")},
        ),
        ("a value that varies within a query", {"by": OTHER_IDS}, f"by {VARIES} a in query 'b'"),
        ("None", {"by": [None if i == "a" else i for i in IDS]}),
        ("NaN", {"by": [np.nan if a else 1.0 for a in BY_A]}),
        (
            "None in some rows of a query",
            {"by": changed(IDS, 3, None)},
            f"by {VARIES} None in query 'b'",
        ),
        ("unhashable", {"by": changed(IDS, 3, {})}, "by must hold hashable values"),
        (
            "a slice with weight 0",
            {"sample_weight": [float(a) for a in BY_A]},
            "",
            ("`evaluate(by=)`",),
        ),
    ],
    "Reports compared": [
        (
            "in a different order",
            {"other": {name: CLEAN[name][::-1] for name in ("y", "scores", "qid", "by")}},
        ),
        (
            "query ids of a different type",
            {"other": {"qid": CODES}},
            "reports must be over the same queries; got 2 in '0' and 2 in '1', 0 of them in both",
        ),
        (
            "different labels",
            {"other": {"y": changed(LABELS, 3, 1)}},
            "reports must have the same documents with the same labels; '0' and '1' differ in query 'b'",
        ),
        (
            "different labels with the same sum",
            {"other": {"y": [2, 1, 1, 1, 1, 0, 1]}},
            "reports must have the same documents with the same labels",
        ),
        (
            "weights in only one of them",
            {"other": {"sample_weight": ONES}},
            "reports must have the same weights; '0' and '1' differ",
        ),
        (
            "different weights",
            {"sample_weight": ONES, "other": {"sample_weight": 2 * ONES}},
            "reports must have the same weights; '0' and '1' differ",
        ),
        ("weights of 1e308", {"sample_weight": 1e308 * ONES}, "", ("`compare`", "`evaluate(by=)`")),
    ],
    "Other arguments": [
        (
            "a polars frame with integers around 2^60 next to floats",
            {
                "y": [[1, 0]] * 2,
                "scores": pl.DataFrame({"a": [2**60, 2**60 + 1], "b": [0.5, 1]}),
                "qid": None,
            },
            f"y_score must hold {WITHIN}",
            WIDE,
        ),
        (
            "long doubles beyond the range of float64",
            {"scores": np.array(SCORES, dtype=np.longdouble) * np.longdouble("1e4000")},
            r"y_score must hold numbers within the range of float64",
            WIDE,
        ),
        *(
            (
                f"None for `{name}`",
                {name: None, "random_state": 1},
                r"(X|arrays\[\d\]) must have one row per document; got None|y must be an array .* got None",
                ways,
            )
            for name, ways in (
                ("X", ("splitters", "`query_train_test_split`")),
                ("y", ("`query_train_test_split`", "`audit_splits`", "`cross_evaluate`")),
            )
        ),
        (
            "a class instead of an estimator",
            {"estimator": LGBMRanker},
            r"estimator must be an estimator object with fit and get_params, such as LGBMRanker\(\); got <class",
            FIT,
        ),
        (
            "LGBMRanker without QueryRanker",
            {"estimator": LGBMRanker()},
            r"estimators must take query ids in fit; got LGBMRanker. Pass QueryRanker\(LGBMRanker",
            ("`cross_evaluate`",),
        ),
        (
            "`eval_set` for an estimator that takes none",
            {"further": {"eval_set": [(X, Y)]}},
            r"Ridge.fit\(\) got an unexpected keyword argument 'eval_set'",
            FIT,
        ),
        (
            "`base_margin`, one row too few",
            {"estimator": XGBRanker(n_estimators=1), "further": {"base_margin": SCORES[1:]}},
            r"base_margin must hold one value per document, 7 in all; got shape \(6,\)",
            FIT,
        ),
        (
            "a parameter that `fit` does not take",
            {"further": {"quid": IDS}},
            r"Ridge.fit\(\) got an unexpected keyword argument 'quid'",
            FIT,
        ),
        (
            "`group`",
            {"further": {"group": [3, 4]}},
            r"unexpected parameter 'group'. Pass query ids; qid_from_sizes\(group\)",
            FIT,
        ),
        *(
            (f"`random_state={seed!r}`", {"random_state": seed}, SEED)
            for seed in ("a", 1.5, -1, True, 2**32)
        ),
    ],
}
SEAMS = [Seam(kind, *seam) for kind, seams in SEAMS_OF_KINDS.items() for seam in seams]
