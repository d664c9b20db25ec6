"""Candidates that differ only in their number of trees: the first trees of one model are the smaller models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import joblib
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from skrank_metrics._input.parameters import check_int
from skrank_metrics._sklearn_internals import response_method, score_function
from skrank_metrics.model_selection.scorers import RESPONSE_METHODS
from skrank_metrics.model_selection.tree_families import Family, family_of

# Parameters of ``fit`` that neither end nor continue the training of a model.
_SAFE_IN_FIT = {"qid", "groups", "sample_weight", "retrieved", "judged", "documents"}


@dataclass(frozen=True)
class Trees:
    """A model of trees, at the end of pipelines and rankers."""

    prefix: str  # of its parameters
    model: Any
    family: Family

    @property
    def name(self) -> str:
        """Name of the parameter for the number of trees."""
        return f"{self.prefix}{self.family.count}"

    def use_first(self, n_trees: int) -> None:
        """Let the fitted model, and those around it, predict with its first trees."""
        self.family.use_first(self.model, n_trees)

    @property
    def n_trees(self) -> int:
        """Number of trees that the model was told to grow."""
        return int(self.model.get_params()[self.family.count] or 0)


def trees_of(model: Any, *, fitted: bool = False) -> Trees | None:
    """The trees of a model, if more of them are known to leave the first ones as they are.

    Subclasses of pipelines and rankers may fit or predict otherwise.
    """
    prefix = ""
    while True:
        if type(model) is Pipeline:
            name, model = model.steps[-1]
        # QueryRanker says so, as this folder must not import rankers. If it stops early, it sets a parameter of its
        # fitted model that is not safe.
        elif "_shares_fits" in vars(type(model)):
            name, model = "estimator", model.estimator_ if fitted else model.estimator
        else:
            break
        prefix += f"{name}__"
    family = family_of(model)
    return Trees(prefix, model, family) if family and family.is_safe(model) else None


@dataclass(frozen=True)
class Candidate:
    """A candidate of a search: its parameters, and its number of trees if one of these is that, else 0."""

    params: Mapping[str, Any]
    n_trees: int = 0
    path: str | None = None  # equal for candidates that differ only in the number of trees


def candidates_of(
    estimator: Any,
    params: Sequence[Mapping[str, Any]],
    fit_params: Mapping[str, Any],
    scorers: Iterable[Any],
) -> list[Candidate]:
    """Find the candidates that differ only in the number of trees, if these can be fitted and scored together."""
    # Steps of a Pipeline take parameters after a prefix.
    names = {name.rpartition("__")[2] for name in fit_params}
    if names <= _SAFE_IN_FIT and all(map(_predicts_as_known, scorers)):
        return [_candidate(estimator, one) for one in params]
    return [Candidate(one) for one in params]


def _predicts_as_known(scorer: Any) -> bool:
    """Whether a scorer sees only predictions, of methods that can use the first trees."""
    if score_function(scorer) is None:
        return False
    methods = response_method(scorer)
    known = {methods} if isinstance(methods, str) else set(methods)
    return known <= set(RESPONSE_METHODS)


def _candidate(estimator: Any, params: Mapping[str, Any]) -> Candidate:
    try:
        trees = trees_of(clone(estimator).set_params(**clone(dict(params), safe=False)))
        if trees is None or trees.name not in params:
            return Candidate(params)
        # The fit of an invalid number raises an error of its own.
        check_int(params[trees.name], trees.name, 1)
        path = joblib.hash({name: value for name, value in params.items() if name != trees.name})
    except Exception:
        # The parameters do not exist, which the fit will say, or they have no hash.
        return Candidate(params)
    return Candidate(params, trees.n_trees, path)


def groups_of(candidates: Sequence[Candidate], rows: Iterable[int]) -> list[list[int]]:
    """Rows of the candidates of each path, the one with the most trees first; other candidates are on their own."""
    groups: dict[Any, list[int]] = {}
    for row in sorted(rows, key=lambda row: -candidates[row].n_trees):
        groups.setdefault(candidates[row].path or row, []).append(row)
    # In the order of the candidates, in which a grid search fits them, too.
    return sorted(groups.values(), key=min)
