"""Adding a metric takes one file, and all else follows."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from skrank_metrics.metrics._registry import REGISTRY

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

TOY = '''
"""A metric in a file of its own."""

from skrank_metrics.metrics._options import RelevanceThreshold
from skrank_metrics.metrics._record import Reference
from skrank_metrics.metrics._registry import metric

TOY = Reference("T. Toy (2026). Toys as metrics.", "10.1000/182")


@metric("toy", formula="hits@(k+1)//2 / R", transform="gains", divides_by_k=True, reference=TOY)
def toy_score(lists, *, relevance_threshold: RelevanceThreshold = None):
    """Toy: the share of the relevant documents that are in the first half of the ranks that count.

    Examples
    --------
    One of two:

    >>> 1 / 2
    0.5
    """
    first_half = lists.ranks <= (lists.cutoff[:, None] + 1) // 2
    return (lists.relevance(relevance_threshold) * first_half).sum(axis=1), lists.n_relevant(relevance_threshold)
'''

CHECK = """
import pickle
import toy
from skrank_metrics import evaluate, get_metric, make_ranking_scorer
from skrank_metrics.metrics import get_metric_names
from generate import metrics_list, metrics_stub
from reference_pages import facts, metrics_index

assert "toy" in get_metric_names()
assert toy.toy_score([[1, 0, 0, 1]], [[4, 3, 2, 1]]) == 1 / 2
assert get_metric("toy(relevance_threshold=2)@2")([[1, 2, 0]], [[3, 2, 1]]) == 0
assert evaluate([[1, 0, 0, 1]], [[4, 3, 2, 1]], metrics="toy").mean == {"toy": 1 / 2}
assert repr(make_ranking_scorer("toy@5")).startswith("make_scorer(toy@5,")
assert "`toy@k` (`toy_score`)" in " ".join(metrics_list().split())
assert "https://doi.org/10.1000/182" in " ".join(facts(toy.toy_score)) and ":doc:`toy`" in metrics_index()
assert "def toy_score(" in metrics_stub()
assert "relevance_threshold : float or None, default=None" in toy.toy_score.__doc__
"""


@pytest.fixture
def toy(tmp_path):
    (tmp_path / "toy.py").write_text(TOY, encoding="utf-8")
    return tmp_path


def run(*arguments, path):
    environment = {"PYTHONPATH": os.pathsep.join(map(str, (path, DOCS, ROOT)))}
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_metric_in_one_file_gets_name_scorer_documentation(toy):
    printed = run("-c", f"{CHECK}\nimport skrank_metrics; print(skrank_metrics.__file__)", path=toy)
    assert Path(printed.strip()) == ROOT / "skrank_metrics" / "__init__.py", "not an installed copy"


@pytest.mark.slow
def test_a_metric_in_one_file_gets_the_contract_tests(toy):
    files = [str(Path(__file__).parent / f"test_{name}.py") for name in ("contract", "properties")]
    options = (
        "-q",
        "-p",
        "toy",
        "-p",
        "no:cacheprovider",
        "-m",
        "not slow",
        "-k",
        "toy and not public",
    )
    printed = run("-m", "pytest", *files, *options, path=toy)
    collected = int(printed.rpartition(" passed")[0].split()[-1])
    assert collected > 20


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_the_docstring_shows_the_formula(name):
    formula = REGISTRY[name].record.formula
    shown = REGISTRY[name].__doc__.partition(".. math::\n\n")[2].partition("\n\n")[0]
    assert " ".join(shown.split()) == " ".join(formula.split()) != ""
    assert formula.count("{") == formula.count("}")
