"""The options of all public callables, from their signatures, and the tests that are marked to hold them."""

import ast
import dataclasses
import inspect
import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import skrank_metrics
from skrank_metrics import dask, datasets, metrics, spark, trec

TESTS = Path(__file__).parents[1]


class Mark(NamedTuple):
    """An option, or a pattern of options, with the test that is marked with it."""

    option: str
    test: str
    mentions: bool  # whether the test, apart from its marks, has the name of the option


def public_options():
    """Names such as "QueryKFold.shuffle", "QueryKFold.split.groups" and "metrics.ndcg_score.k", sorted."""
    return sorted({f"{path}.{option}" for path, function in _public_callables() for option in _options(function)})


def _public_callables():
    for name in skrank_metrics.__all__:
        value, prefix = getattr(skrank_metrics, name), "metrics." if name in metrics.__all__ else ""
        if inspect.isclass(value):
            if not dataclasses.is_dataclass(value):  # which are results: users do not make them
                yield name, value.__init__
            yield from ((f"{name}.{method}", function) for method, function in _own_methods(value))
        elif callable(value):
            yield prefix + name, value
    for module in (dask, datasets, spark, trec):
        for name, value in vars(module).items():
            if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_"):
                yield f"{module.__name__.rpartition('.')[2]}.{name}", value


def _own_methods(cls):
    for name in dir(cls):
        function = inspect.unwrap(getattr(cls, name)) if callable(getattr(cls, name)) else None
        home = getattr(function, "__module__", None) or ""
        if not name.startswith("_") and home.startswith("skrank_metrics"):
            yield name, function


def _options(function):
    """Parameters with a default, those by name only, and the collecting ones; not what every call has to give."""
    for name, parameter in inspect.signature(function).parameters.items():
        by_name = parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD)
        if by_name or parameter.default is not parameter.empty:
            yield f"**{name}" if parameter.kind is parameter.VAR_KEYWORD else name


def marks():
    """Every ``@pytest.mark.option(...)`` in the folder of tests, read from the source, so that no selection matters."""
    found = []
    for path in sorted(TESTS.rglob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        words = {name: _words(node) for node in tree.body for name in _names_of(node)}
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                test = f"{path.relative_to(TESTS).as_posix()}::{node.name}"
                found += [Mark(name, test, _mentioned(node.name, name, words)) for name in _options_of(node)]
    return found


def _options_of(node):
    marked = [call for call in node.decorator_list if _is_mark(call)]
    return [ast.literal_eval(argument) for call in marked for argument in call.args]


def _is_mark(node):
    return ast.unparse(node).startswith("pytest.mark.option(")


def _names_of(node):
    """The name of a function or class, or the names that a statement assigns."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    return [part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]


def _mentioned(test, option, words):
    """Whether a test, or anything else of its module that it uses, has the name of the option.

    Collected keywords have names of their own.
    """
    if ".**" in option:
        return True
    seen, new = set(), {test}
    while new:
        seen |= new
        new = set().union(*(words[name] for name in new)) & words.keys() - seen
    return any(option.rpartition(".")[2] in words[name] for name in seen)


def _words(node):
    """Names, keywords, and the words of strings of a piece of source."""
    words = set()
    for part in ast.walk(node):
        for field in ("id", "arg", "attr", "value"):
            value = getattr(part, field, None)
            if isinstance(value, str):
                words |= {value, *re.split(r"[\s(=,]|__", value)}
    return words


def holds(mark, option):
    """Whether a mark is of an option. A pattern holds what its test runs over, and spells the option's own name."""
    return fnmatchcase(option, mark.option) and option.rpartition(".")[2] == mark.option.rpartition(".")[2]
