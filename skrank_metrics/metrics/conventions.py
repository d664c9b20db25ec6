"""The defaults of other libraries, in one table.

The tests compare each entry with the installed library on random queries, including ties, queries without relevant
documents and single-document queries.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from skrank_metrics._input.arrays import check_choice

_Defaults = Mapping[str, Any]

# CatBoost's default border: labels above it are relevant.
_ABOVE_HALF: _Defaults = {"relevance_threshold": math.nextafter(0.5, 1)}


@dataclass(frozen=True)
class Convention:
    """The defaults of another library.

    Attributes
    ----------
    peer : str
        The library and the versions compared.
    names : Mapping of str to str
        The name of each metric there, by its name here.
    shared : Mapping of str to object
        Parameters of all metrics.
    own : Mapping of str to Mapping
        Further parameters, by the name of the metric here.
    not_imitated : tuple of str
        Differences that remain.
    """

    peer: str
    names: Mapping[str, str]
    shared: _Defaults = field(default_factory=dict)
    own: Mapping[str, _Defaults] = field(default_factory=dict)
    not_imitated: tuple[str, ...] = ()


CONVENTIONS: Mapping[str, Convention] = MappingProxyType(
    {
        "sklearn": Convention(
            peer="scikit-learn 1.6 to 1.9",
            names={"ndcg": "ndcg_score", "dcg": "dcg_score"},
            not_imitated=(
                "A query of a single document is an error there.",
                "Unsigned integer scores are sorted by their wrapped negatives there, which is wrong.",
            ),
        ),
        "trec_eval": Convention(
            peer="trec_eval 10, pytrec_eval-terrier 0.5",
            names={
                "ndcg": "ndcg, ndcg_cut_k",
                "map": "map, map_cut_k",
                "mrr": "recip_rank",
                "precision": "P_k",
                "recall": "recall_k",
                "hit_rate": "success_k",
                "r_precision": "Rprec",
                "bpref": "bpref",
            },
            shared={"ties": "stable"},
            own={"map": {"normalizer": "relevant"}},
            not_imitated=(
                "Ties are broken by document id, descending; sort the rows in that order.",
                "Scores of trec_eval 9 and pytrec_eval are float32, so that close scores tie.",
                "trec_eval leaves topics without relevant documents out of its mean, unless called with -c.",
            ),
        ),
        "lightgbm": Convention(
            peer="LightGBM 4.3 to 4.7",
            names={"ndcg": "ndcg", "map": "map"},
            shared={"ties": "stable"},
            own={
                "ndcg": {"gain": "exp2", "replace_undefined_by": 1.0},
                "map": {"normalizer": "min", "replace_undefined_by": 1.0},
            },
            not_imitated=("A query without relevant documents adds 1 to the weighted sum, whatever its weight.",),
        ),
        "xgboost": Convention(
            peer="XGBoost 3.0 to 3.2",
            names={"ndcg": "ndcg@k", "map": "map@k", "precision": "pre@k"},
            shared={"ties": "stable"},
            own={
                # Names without a cutoff mean @32 there, the default number of pairs per document.
                "ndcg": {"gain": "exp2", "replace_undefined_by": 1.0, "k": 32},
                "map": {"normalizer": "min", "replace_undefined_by": 1.0, "k": 32},
                "precision": {"divisor": "retrieved", "k": 32},
            },
            not_imitated=(
                "Scores are float32, so that close scores tie.",
                "In ndcg, a query without relevant documents adds 1 to the weighted sum, whatever its weight.",
            ),
        ),
        "catboost": Convention(
            peer="CatBoost 1.2",
            names={
                "ndcg": "NDCG:top=k;type=Base",
                "dcg": "DCG:top=k;type=Base",
                "map": "MAP:top=k",
                "mrr": "MRR:top=k",
                "precision": "PrecisionAt:top=k",
                "recall": "RecallAt:top=k",
                "err": "ERR:top=k",
                "pfound": "PFound:top=k",
            },
            shared={"ties": "worst"},
            own={
                "ndcg": {"replace_undefined_by": 1.0},
                "map": {**_ABOVE_HALF},
                "mrr": {**_ABOVE_HALF},
                "precision": {"divisor": "retrieved", **_ABOVE_HALF},
                "recall": {"replace_undefined_by": 1.0, **_ABOVE_HALF},
                "err": {"gain": "linear"},
            },
            not_imitated=(
                "type=Exp of NDCG and DCG is gain='exp2' here.",
                "MAP, PrecisionAt and RecallAt ignore group weights there.",
                "A score of NaN is ranked first there; here it is an error.",
                "Labels are float32.",
            ),
        ),
    }
)


def own_spelling(spec: str, convention: Any) -> str | None:
    """Spell another library's name of a metric as this package does; None if it is none."""
    for pattern, name in _names_of(check_choice(convention, "convention", CONVENTIONS)):
        if match := pattern.fullmatch(spec):
            return name + "".join(f"@{k}" for k in match.groups())
    return None


@functools.cache
def _names_of(convention: str) -> list[tuple[re.Pattern[str], str]]:
    """Patterns of the names in another library that differ from those here, with the name here."""
    return [
        (re.compile(re.sub(r"(?<=[_@=])k\b", "([1-9][0-9]*)", re.escape(spelled))), name)
        for name, names in CONVENTIONS[convention].names.items()
        for spelled in names.split(", ")
        if spelled not in (name, f"{name}@k")
    ]


def convention_defaults(convention: Any, metric: str) -> dict[str, Any]:
    """Return the defaults of a metric in another library."""
    chosen = CONVENTIONS[check_choice(convention, "convention", CONVENTIONS)]
    return {**chosen.shared, **chosen.own.get(metric, {})}
