"""What users can import is complete, documented and described in the README."""

import importlib
import inspect
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from numpydoc.validate import validate

import skrank_metrics

ROOT = Path(__file__).parents[1]
# Sections that have nothing to say everywhere, and spellings of types that numpydoc has no name for.
NOT_ASKED = {"SA01", "ES01", "EX01", "GL01", "GL02", "GL03", "SS05", "SS06", "PR06", "RT02", "RT03", "YD01"}


def test_every_name_is_there():
    names = skrank_metrics.__all__
    assert names == sorted(set(names))
    assert all(hasattr(skrank_metrics, name) for name in names)


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


def test_documents_and_stubs_hold_what_follows_from_the_registry():
    done = subprocess.run([sys.executable, "docs/generate.py", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr + "python docs/generate.py writes them anew"


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
