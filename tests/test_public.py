"""What users can import is complete, documented and described in the README."""

import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from numpydoc.validate import validate

import skrank_metrics
from skrank_metrics._table import conventions_table, metrics_page, metrics_table

ROOT = Path(__file__).parents[1]
MODULES = [
    name for _, name, _ in pkgutil.walk_packages(skrank_metrics.__path__, "skrank_metrics.") if "__main__" not in name
]
# Sections that have nothing to say everywhere, and spellings of types that numpydoc has no name for.
NOT_ASKED = {"SA01", "ES01", "EX01", "GL01", "GL02", "GL03", "SS05", "SS06", "PR06", "RT02", "RT03", "YD01"}


def test_all_is_sorted_out():
    names = skrank_metrics.__all__
    assert len(set(names)) == len(names)
    assert all(hasattr(skrank_metrics, name) for name in names)
    public = {
        name
        for module in map(importlib.import_module, MODULES)
        if not module.__name__.rpartition(".")[2].startswith("_") and "datasets" not in module.__name__
        for name in getattr(module, "__all__", ())
    }
    assert public | {"get_metric", "get_metric_names", "with_qid"} == set(names)


def documented():
    described = [name for name in skrank_metrics.__all__ if name != "CONVENTIONS"]
    for name in [*described, "datasets.load_digits_retrieval", "datasets.make_ranking"]:
        yield f"skrank_metrics.{name}"
        value = getattr(skrank_metrics, name, None)
        if inspect.isclass(value):
            own = [n for n, member in vars(value).items() if inspect.isfunction(member) and not n.startswith("_")]
            yield from (f"skrank_metrics.{name}.{member}" for member in own)


@pytest.mark.parametrize("name", list(documented()))
def test_docstrings_follow_numpydoc(name):
    importlib.import_module("skrank_metrics.datasets")
    made_for_users = (
        "Report",
        "Difference",
        "Convention",
        "Comparison",
        "CrossEvaluation",
    )  # and described by their attributes
    not_asked = NOT_ASKED | ({"PR01"} if name.endswith(made_for_users) else set())
    errors = [error for error in validate(name)["errors"] if error[0] not in not_asked]
    assert errors == []


@pytest.mark.parametrize("name", [n for n in skrank_metrics.__all__ if inspect.isfunction(getattr(skrank_metrics, n))])
def test_functions_have_an_example(name):
    assert ">>> " in inspect.getdoc(getattr(skrank_metrics, name))


@pytest.mark.parametrize(
    ("file", "part", "generated"),
    [
        ("README.md", "metrics", metrics_table),
        ("docs/metrics.md", "metrics", metrics_page),
        ("docs/metrics.md", "conventions", conventions_table),
    ],
)
def test_documents_hold_what_follows_from_the_registry(file, part, generated):
    text = (ROOT / file).read_text(encoding="utf-8")
    found = re.search(rf"<!-- {part} -->\n(.*?)\n<!-- /{part} -->", text, re.DOTALL)
    assert found is not None
    assert found[1] == generated(), "python -m skrank_metrics metrics --help says how to print what belongs there"


def test_version_is_that_of_the_project_and_the_changelog():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == skrank_metrics.__version__
    assert f"## [{skrank_metrics.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_importing_needs_nothing_but_the_dependencies():
    code = (
        "import sys\n"
        "for name in ('pandas', 'matplotlib', 'lightgbm', 'xgboost', 'catboost', 'polars'): sys.modules[name] = None\n"
        "import skrank_metrics, skrank_metrics.datasets\n"
        "print(skrank_metrics.ndcg_score([1, 0], [1, 2], qid=['a', 'a'], k=1))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "0.0\n"
