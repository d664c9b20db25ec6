"""Editors that complete with jedi, such as Spyder, IPython and vim, see public names, signatures and results."""

import functools

import jedi
import pytest

from skrank_metrics._rooms import NAMESPACES, ROOMS, modules_of_names

pytestmark = pytest.mark.slow
rooms = pytest.mark.parametrize("room", list(ROOMS), ids=lambda room: room or "front door")


@functools.cache
def completed(code):
    """What jedi proposes at the end of a text."""
    return {completion.name for completion in jedi.Script(code).complete()}


@rooms
def test_public_names_are_completed(room):
    place = f"skrank_metrics.{room}".rstrip(".")
    names = set(modules_of_names(room))
    assert names <= completed(f"from {place} import ")
    assert names <= completed(f"import {place}\n{place}.")


def test_rooms_are_completed():
    assert set(NAMESPACES) <= completed("import skrank_metrics\nskrank_metrics.")
    assert set(NAMESPACES) <= completed("from skrank_metrics import ")


@pytest.mark.parametrize(
    ("room", "name"), [(room, name) for room in ROOMS for name in modules_of_names(room)]
)
def test_public_names_have_signatures(room, name):
    place = f"skrank_metrics.{room}".rstrip(".")
    signatures = jedi.Script(f"from {place} import {name}\n{name}(").get_signatures()
    assert signatures
    for signature in signatures:
        assert signature.name == name
        assert signature.params or name == "get_metric_names"


@pytest.mark.parametrize(
    ("call", "attributes"),
    [
        ("evaluate(y, s, qid=q)", {"mean", "per_query", "health", "inspect", "plot", "save"}),
        ("compare(reports)", {"verdict", "best_set", "pairs", "means", "notes", "to_frame"}),
        ("cross_evaluate(model, X, y)", {"scores", "verdict", "reports", "to_html"}),
        ("evaluate_run(qrels, run)", {"mean", "to_frame"}),
        ("get_metric('ndcg@10')", {"k"}),
    ],
)
def test_results_are_completed(call, attributes):
    name = call.partition("(")[0]
    assert attributes <= completed(f"from skrank_metrics import {name}\nresult = {call}\nresult.")
