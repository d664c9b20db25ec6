"""Candidates that differ only in their number of trees: the first trees of one model are the smaller models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import joblib
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from skrank_metrics._input.arrays import check_int
from skrank_metrics.model_selection.tree_families import copy_with, family_of

# Parameters of ``fit`` that neither end nor continue the training of a model.
_SAFE_IN_FIT = {"qid", "groups", "sample_weight", "retrieved", "judged", "documents"}


def _inner(model: Any, *, fitted: bool = False) -> tuple[str, Any] | None:
    """The end of a pipeline, or the estimator inside a QueryRanker, after its name; None for other models.

    Subclasses may fit or predict otherwise, so they are other models.
    """
    if type(model) is Pipeline:
        name, step = model.steps[-1]
        return name, step
    # QueryRanker names its parameter and its attribute, as this folder must not import rankers.
    names = vars(type(model)).get("_wraps")
    if names is None:
        return None
    name = names[fitted]
    return name, getattr(model, name)


def _leaf(model: Any, *, fitted: bool = False) -> tuple[str, Any]:
    """The prefix of the parameters of the estimator at the end of pipelines and rankers, and the estimator."""
    prefix = ""
    while named := _inner(model, fitted=fitted):
        # A ranker that stops early cuts its model.
        if getattr(model, "validation_fraction", None) is not None:
            return prefix, None
        prefix, model = f"{prefix}{named[0]}__", named[1]
    return prefix, model


def n_trees_of(model: Any) -> int:
    """Number of trees that a fitted model was told to grow; 0 if its class is unknown."""
    _, leaf = _leaf(model, fitted=True)
    family = family_of(leaf)
    return 0 if family is None else family.count(leaf)


def first_trees(model: Any, n_trees: int) -> Any:
    """A fitted model that predicts with its first trees; an error if these may not be those of a smaller model."""
    named = _inner(model, fitted=True)
    if named is None:
        family = family_of(model)
        if family is None or not family.is_safe(model):
            raise NotImplementedError("It is not known how to use only the first trees.")
        return family.first(model, n_trees)
    name, whole = named
    cut = first_trees(whole, n_trees)
    if isinstance(model, Pipeline):
        return copy_with(model, steps=[*model.steps[:-1], (name, cut)])
    return copy_with(model, **{name: cut})


@dataclass(frozen=True)
class Candidate:
    """A candidate of a search: its parameters, and its number of trees if one of these is that, else 0."""

    params: Mapping[str, Any]
    n_trees: int = 0
    path: str | None = None  # equal for candidates that differ only in the number of trees
    kind: str = ""  # class of the estimator with trees


def candidates_of(
    estimator: Any, params: Sequence[Mapping[str, Any]], fit_params: Mapping[str, Any]
) -> list[Candidate]:
    """Find the candidates that differ only in the number of trees."""
    # Steps of a Pipeline take parameters after a prefix.
    names = {name.rpartition("__")[2] for name in fit_params}
    if not names <= _SAFE_IN_FIT:
        return [Candidate(one) for one in params]
    return [_candidate(estimator, one) for one in params]


def _candidate(estimator: Any, params: Mapping[str, Any]) -> Candidate:
    try:
        model = clone(estimator).set_params(**clone(dict(params), safe=False))
        prefix, leaf = _leaf(model)
        family = family_of(leaf)
        if family is None or not family.is_safe(leaf):
            return Candidate(params)
        names = [prefix + name for name in family.counts if prefix + name in params]
        if len(names) != 1:
            return Candidate(params)
        # The fit of an invalid number raises an error of its own.
        check_int(params[names[0]], names[0], 1)
        others = {name: value for name, value in params.items() if name != names[0]}
        path = joblib.hash((names[0], others))
    except Exception:
        # The parameters do not exist, which the fit will say, or they have no hash.
        return Candidate(params)
    return Candidate(params, int(params[names[0]]), path, type(leaf).__name__)


def groups_of(
    candidates: Sequence[Candidate], rows: Iterable[int] | None = None
) -> list[list[int]]:
    """Rows of the candidates of each path, the one with the most trees first; other candidates are on their own."""
    rows = range(len(candidates)) if rows is None else rows
    groups: dict[Any, list[int]] = {}
    for row in sorted(rows, key=lambda row: -candidates[row].n_trees):
        groups.setdefault(candidates[row].path or row, []).append(row)
    # In the order of the candidates, in which a grid search fits them, too.
    return sorted(groups.values(), key=min)
