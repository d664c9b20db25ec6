"""Consumers of scikit-learn x models x ways for the ids: the right number, or a listed reason."""

import re
from pathlib import Path

import numpy as np
import pytest
from support.consumer_limits import LIMITS, limit, table
from support.consumers import CONSUMERS, WAYS, first_cut, models, problem

MODELS = models()
CELLS = [(consumer, name, way) for consumer in CONSUMERS for name in MODELS for way in WAYS]
# The number by hand is the same for all ways, and takes as long as one of them.
WORKS = {
    (one, name): [way for way in WAYS if not limit(one, name, way.name)]
    for one in CONSUMERS
    for name in MODELS
}
# An error ends the processes of workers; it is that of the search in one process.
REFUSED = [
    cell for cell in CELLS if limit(cell[0], cell[1], cell[2].name) and "processes" not in cell[0]
]


def run(consumer, name, way):
    X, y, qid = problem()
    with way.context():
        return CONSUMERS[consumer][0](MODELS[name], X, way.labels(y, qid), way.keywords(qid))


def run_and_warn_once(consumer, name, way):
    """Numbers of a tool that cuts queries by itself, and warns of that; any other warning is an error."""
    X, _, qid = problem()
    # A fit of this package warns before the score does.
    side = "a training" if hasattr(MODELS[name], "estimator") else "a test"
    message = re.escape(f"The folds cut queries: {side} {first_cut(X, qid)}")
    with pytest.warns(UserWarning, match=message) as caught:
        found = run(consumer, name, way)
    # Old versions of the boosters warn of other things, too.
    cut = [warning for warning in caught if "The folds cut queries" in str(warning.message)]
    assert len(cut) == 1, way.name
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("consumer", "name"), [cell for cell, ways in WORKS.items() if ways])
def test_gives_the_number_that_a_loop_by_hand_gives(consumer, name):
    expected = CONSUMERS[consumer][1](MODELS[name], *problem())
    for way in WORKS[consumer, name]:
        call = run_and_warn_once if consumer == "learning_curve" else run
        found = call(consumer, name, way)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12, err_msg=way.name)


@pytest.mark.slow
@pytest.mark.parametrize("cell", REFUSED, ids=lambda cell: f"{cell[0]}-{cell[1]}-{cell[2].name}")
def test_what_cannot_work_is_an_error_and_no_number(cell):
    with pytest.raises((TypeError, ValueError), match=r"qid|groups|resource"):
        run(*cell)


def test_every_limit_is_met():
    met = [limit(consumer, name, way.name) for consumer, name, way in CELLS]
    assert all(any(found is one for found in met) for one in LIMITS)


def test_the_documentation_holds_the_table():
    page = (Path(__file__).parents[2] / "docs" / "consumers.md").read_text(encoding="utf-8")
    found = re.search(r"<!-- consumers -->\n(.*?)\n<!-- /consumers -->", page, re.DOTALL)
    assert found is not None
    assert found[1] == table(), (
        "python -m support.consumer_limits, in tests/, prints the table that belongs there"
    )
