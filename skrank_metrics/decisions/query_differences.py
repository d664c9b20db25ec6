"""Single queries on which one ranking is better than another."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skrank_metrics._input.arrays import FloatArray
from skrank_metrics._input.parameters import check_int
from skrank_metrics._input.query_ids import as_python
from skrank_metrics._output.result import Rows
from skrank_metrics.decisions.pair import Pair


class QueryDifference(NamedTuple):
    """A query with the values of two rankings and their difference."""

    qid: Any
    first: float
    second: float
    difference: float


def largest_leads(pair: Pair, lead: FloatArray, n: int) -> list[QueryDifference]:
    """At most n queries of a pair with a lead above 0, the largest first; it prints as a table."""
    order = np.argsort(-lead, kind="stable")[: check_int(n, "n", 1)]
    order = order[lead[order] > 0]
    ids = as_python(pair.qid[order])
    columns = (*pair.values, pair.differences)
    values = [column[order].tolist() for column in columns]
    return Rows(map(QueryDifference, ids, *values))


def most_different(pair: Pair, n: int) -> list[Any]:
    """Ids of the n queries on which two rankings differ most."""
    order = np.argsort(-np.abs(pair.differences), kind="stable")
    return as_python(pair.qid[order[:n]])
