"""Every option of metrics and splitters has a test that is marked to hold it: changing it changes the result.

A test holds an option with ``@pytest.mark.option("QueryKFold.shuffle")``, and all options of a name with a pattern,
``@pytest.mark.option("metrics.*.k")``, if it runs over all that match.
"""

import ast
import functools
import inspect
from fnmatch import fnmatchcase
from pathlib import Path

from skrank_metrics import splitters
from skrank_metrics.metrics._registry import REGISTRY


def public_options():
    """Names such as "metrics.ndcg_score.k", "QueryKFold.shuffle" and "QueryKFold.split.groups", sorted."""
    found = set()
    for path, function, held in _callables():
        found |= {f"{path}.{option}" for option in _options(function) if option not in held}
    return sorted(found)


def _callables():
    for function in REGISTRY.values():
        # What belongs to single metrics is held by the enumeration of their orders, which has all of it.
        yield f"metrics.{function.__name__}", function, function.record.options.keys()
    for name in splitters.__all__:
        value = getattr(splitters, name)
        yield name, value, ()
        for method in {"split", "split_in_three"} & set(dir(value)):
            yield f"{name}.{method}", getattr(value, method), ()


def _options(function):
    """Parameters with a default, and those by name only; not what every call has to give."""
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY or parameter.default is not parameter.empty:
            yield name


@functools.cache
def marks():
    """Every option in ``@pytest.mark.option(...)`` in the folder of tests, from the source: no selection matters."""
    texts = [path.read_text(encoding="utf-8") for path in Path(__file__).parent.rglob("test_*.py")]
    nodes = (
        node
        for text in texts
        if "@pytest.mark.option(" in text
        for node in ast.walk(ast.parse(text))
    )
    calls = (
        node
        for node in nodes
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "option"
    )
    return sorted({ast.literal_eval(argument) for call in calls for argument in call.args})


def holds(mark, option):
    """Whether a mark is of an option. A pattern holds what its test runs over, and spells the option's own name."""
    return fnmatchcase(option, mark) and option.rpartition(".")[2] == mark.rpartition(".")[2]


def test_every_option_has_a_test_that_holds_it():
    found = marks()
    missing = [
        option for option in public_options() if not any(holds(mark, option) for mark in found)
    ]
    assert missing == [], "mark the tests of these with pytest.mark.option, or write them"


def test_marks_name_options_that_exist():
    options = public_options()
    covered = {option.partition(".")[0] for option in options}
    found = [mark for mark in marks() if mark.partition(".")[0] in covered]
    assert [mark for mark in found if not any(holds(mark, option) for option in options)] == []
