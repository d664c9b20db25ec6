"""Datasets for examples and tests, without downloads."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.utils import Bunch

from skrank_metrics._input.arrays import FloatArray, IntArray
from skrank_metrics._input.parameters import check_int, check_number
from skrank_metrics.splitters._base import random_source

__all__ = ["load_digits_retrieval", "make_ranking"]

# Seed of the legacy generator, whose stream is frozen; that of Generator may change between NumPy versions.
_SEED, _N_QUERIES = 20240229, 300
# For each digit, the other one with the nearest mean image.
_MOST_SIMILAR = np.array([9, 8, 8, 9, 1, 8, 4, 8, 1, 3])


def load_digits_retrieval(*, return_X_y_qid: bool = False) -> Any:
    """Build a small ranking problem from the digits of scikit-learn, with the same rows on every machine.

    A query is an image, and its documents are other images, retrieved by a crude first stage, in no particular order.
    They have grade 2 if they show the same digit, 1 if they show the one with the most similar mean image, else 0.

    Parameters
    ----------
    return_X_y_qid : bool, default=False
        Whether to return the arrays ``(data, target, qid)`` instead of a Bunch.

    Returns
    -------
    data : Bunch or tuple of ndarray
        A Bunch with ``data`` of shape (n_documents, n_features), ``target`` (grades), ``qid`` and ``feature_names``; or
        the tuple.

    Examples
    --------
    >>> from skrank_metrics.datasets import load_digits_retrieval
    >>> X, y, qid = load_digits_retrieval(return_X_y_qid=True)
    >>> X.shape, len(set(qid)), sorted(set(y.tolist()))
    ((10520, 22), 300, [0, 1, 2])
    """
    digits = load_digits()
    random = np.random.RandomState(_SEED)
    images = digits.images / 16.0
    classes = digits.target
    queries = random.permutation(len(images))[:_N_QUERIES]
    candidates = [_first_stage(images, query, random) for query in queries]
    qid = np.repeat(np.arange(_N_QUERIES), list(map(len, candidates)))
    query = queries[qid]
    candidate = np.concatenate(candidates)
    sought = classes[query]
    shown = classes[candidate]

    target = np.where(shown == _MOST_SIMILAR[sought], 1, 0)
    target[shown == sought] = 2
    features = _features_of_pairs(images[query], images[candidate])
    data = np.column_stack(list(features.values()))
    if return_X_y_qid:
        return data, target, qid
    return Bunch(data=data, target=target, qid=qid, feature_names=list(features))


def make_ranking(
    n_queries: int = 100,
    n_features: int = 10,
    *,
    mean_length: float = 20.0,
    n_grades: int = 5,
    noise: float = 1.0,
    random_state: Any = None,
) -> tuple[FloatArray, IntArray, IntArray]:
    """Generate a random ranking problem.

    Query lengths are log-normal. The first half of the features is informative, the rest is noise; each query shifts
    its features. Half of the documents have grade 0, half of the rest grade 1, and so on.

    Parameters
    ----------
    n_queries, n_features, mean_length, n_grades : int or float
        Numbers of queries and features, mean number of documents per query, and number of grades, which start at 0.
    noise : float, default=1.0
        Standard deviation of the noise in the grades; that of the signal is 1.
    random_state : int, RandomState or Generator instance or None, default=None
        Controls the random numbers.

    Returns
    -------
    X, y, qid : ndarray of shape (n_documents, n_features), (n_documents,) and (n_documents,)
        Features, integer grades, and query ids 0 to n_queries - 1, ascending.

    Examples
    --------
    >>> from skrank_metrics.datasets import make_ranking
    >>> X, y, qid = make_ranking(50, 4, random_state=0)
    >>> X.shape[1], len(set(qid.tolist())), sorted(set(y.tolist()))
    (4, 50, [0, 1, 2, 3, 4])
    """
    check_int(n_queries, "n_queries", 1)
    check_int(n_features, "n_features", 1)
    check_int(n_grades, "n_grades", 1)
    check_number(mean_length, "mean_length", "[1, inf)")
    check_number(noise, "noise", "[0, inf)")
    random = random_source(random_state)
    spread = 0.6
    # The mean of a log-normal variable is exp(location + spread**2 / 2).
    location = np.log(mean_length) - spread**2 / 2
    lengths = np.round(random.lognormal(location, spread, n_queries))
    # A short length can be rounded to 0, and a query without documents would lose its id.
    qid = np.repeat(np.arange(n_queries), np.maximum(1, lengths).astype(np.intp))
    X = random.standard_normal((len(qid), n_features))
    n_informative = (n_features + 1) // 2
    # The mean of n features has a standard deviation of 1 / sqrt(n), but that of the signal is 1.
    signal = X[:, :n_informative].mean(axis=1) * np.sqrt(n_informative)
    merit = signal + noise * random.standard_normal(len(qid))
    shares = np.cumsum(0.5 ** np.arange(1, n_grades))
    thresholds = np.quantile(merit, shares)
    y = np.searchsorted(thresholds, merit, side="left").astype(np.intp)
    shifts = random.standard_normal((n_queries, n_features))
    # The shifts are added last, so that grades do not depend on what all documents of a query share.
    return X + shifts[qid], y, qid


def _first_stage(images: FloatArray, query: int, random: Any) -> IntArray:
    """Retrieve the nearest of a random sample of other images, by coarse features and with errors."""
    size = int(np.clip(random.lognormal(3.4, 0.6), 5, 120))
    others = np.delete(np.arange(len(images)), query)
    sample = random.permutation(others)[: 3 * size]
    coarse = _mean_ink(images, 4)
    distances = np.abs(coarse[sample] - coarse[query]).mean(axis=(1, 2))
    errors = 0.08 * random.standard_normal(len(sample))
    nearest = np.argsort(distances + errors, kind="stable")[:size]
    # If rows were sorted by distance, their order alone would rank well whenever ties keep it.
    return random.permutation(sample[nearest])


def _mean_ink(images: FloatArray, size: int) -> FloatArray:
    """Of squares of size x size pixels."""
    return np.mean(images.reshape(len(images), 8 // size, size, 8 // size, size), axis=(2, 4))


def _features_of_pairs(queries: FloatArray, candidates: FloatArray) -> dict[str, FloatArray]:
    """Features of pairs of images, by name."""
    difference = queries - candidates
    # Images are shifted by at most one pixel in each direction.
    shifts = product((-1, 0, 1), repeat=2)
    shifted = [_cosine(queries, np.roll(candidates, shift, axis=(1, 2))) for shift in shifts]
    features = {
        "pixel_distance": np.sqrt((difference**2).sum(axis=(1, 2))),
        "cosine_similarity": _cosine(queries, candidates),
        "shifted_similarity": np.max(shifted, axis=0),
        "row_profile_distance": np.abs(difference.sum(axis=2)).sum(axis=1),
        "column_profile_distance": np.abs(difference.sum(axis=1)).sum(axis=1),
        "ink_difference": np.abs(difference.sum(axis=(1, 2))),
    }
    cells = np.abs(_mean_ink(queries, 2) - _mean_ink(candidates, 2))
    for row, column in np.ndindex(4, 4):
        features[f"cell_{row}{column}_difference"] = cells[:, row, column]
    return features


def _cosine(a: FloatArray, b: FloatArray) -> FloatArray:
    squared_lengths = (a**2).sum(axis=(1, 2)) * (b**2).sum(axis=(1, 2))
    return (a * b).sum(axis=(1, 2)) / np.sqrt(squared_lengths)
