"""Run the tests against mutants of the package and say which ones survive.

    cosmic-ray init tests/mutation/cosmic-ray.toml mutants.sqlite
    python tests/mutation/run.py mutants.sqlite --sample 600

The mutants are cosmic-ray's. Each is imported from memory by a fork of this process, which has the large libraries
loaded already: that takes a tenth of the time that a new process would, and no file of the checkout is written to.
"""

from __future__ import annotations

import argparse
import ast
import importlib.abc
import importlib.util
import os
import random
import resource
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
import scipy.stats
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import MutationSpec, TestOutcome, WorkerOutcome, WorkItem, WorkResult

# Loaded once for all mutants.
for library in (
    *(
        "catboost",
        "hypothesis",
        "lightgbm",
        "matplotlib.pyplot",
        "pandas",
        "polars",
        "pyarrow",
        "scipy.optimize",
    ),
    *("sklearn.ensemble", "sklearn.model_selection", "sklearn.pipeline", "xgboost"),
):
    importlib.import_module(library)

ROOT = Path(__file__).parents[2]
# Tests that a mutant of a folder has to fail one of, collected in steps, the quickest first: a failure ends a run.
ENGINE = [
    "_engine _input metrics/test_retrieved.py metrics/test_registry.py reports/test_evaluate.py "
    "integration/test_golden.py integration/test_worked_examples.py",
    "metrics/test_enumeration.py",
    "metrics/test_contract.py",
]
TESTS = {
    "_engine": ENGINE,
    "_input": [
        ENGINE[0],
        "model_selection/test_with_qid.py model_selection/test_seams.py",
        *ENGINE[1:],
    ],
    "_output": [
        "_output reports",
        "model_selection/test_search_report.py splitters/test_audit.py test_main.py",
    ],
    "metrics": ["metrics/test_names.py metrics/test_conventions.py", *ENGINE],
    "reports": [
        "sources/test_accumulator.py metrics/test_judged.py metrics/test_retrieved.py",
        "reports",
        "model_selection/test_cross_evaluate.py model_selection/test_search_report.py",
    ],
    "model_selection": [
        "model_selection",
        "test_sklearn_internals.py integration/test_combinations.py",
    ],
    "rankers": ["rankers", "integration/test_combinations.py"],
    "sources": ["sources", "_cli"],
    "_cli": ["_cli", "test_main.py"],
    "trec.py": ["test_trec.py", "_cli"],
    "_demo.py": ["test_main.py"],
    "_sklearn_internals.py": ["test_sklearn_internals.py", "model_selection", "rankers"],
}
# Tests of what results show, and of several folders at once.
EVERYWHERE = "_output integration/test_combinations.py integration/test_hostile.py integration/test_purity.py"
# no_square takes seconds, and is about memory.
OPTIONS = ["-x", "-q", "-p", "no:cacheprovider", "--assert=plain", "--tb=no", "-k", "not no_square"]
SECONDS = 60  # of processor time for the tests of a step, twice what the longest takes
# Without a decorator such as @metric the package cannot be imported; that would only embellish the figure.
NOT_RUN = "core/RemoveDecorator"


def tests_of(module: Path) -> list[list[str]]:
    """Arguments of pytest for a module in steps: its examples and the tests that bear its name come first."""
    place = module.parts[1]  # by default, tests are in a folder or file of the same name
    texts = [*TESTS.get(place, [place] if (ROOT / "tests" / place).is_dir() else []), EVERYWHERE]
    *steps, everywhere = ([str(ROOT / "tests" / name) for name in text.split()] for text in texts)
    named = [str(path) for path in (ROOT / "tests").rglob(f"test_{module.stem.strip('_')}*.py")]
    quick = ["-m", "not slow"]
    return [
        [*quick, str(ROOT / module), *named],
        *([*quick, *step] for step in steps),
        [*quick, *everywhere],
        *(["-m", "slow and not clusters", *step] for step in steps),
    ]


def without_effect(module: Path) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Places whose change nothing can notice: annotations, which are not evaluated, and the options of dataclasses."""
    nodes = []
    for node in ast.walk(ast.parse((ROOT / module).read_text(encoding="utf-8"))):
        # Functions have returns, and arguments and assignments an annotation, which may be None.
        nodes += [getattr(node, "returns", None), getattr(node, "annotation", None)]
        nodes += node.decorator_list if isinstance(node, ast.ClassDef) else []
    return [
        ((n.lineno, n.col_offset), (n.end_lineno, n.end_col_offset)) for n in nodes if n is not None
    ]


class Mutant(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module of the package from changed source."""

    def __init__(self, module: Path, code: str) -> None:
        self._name, self._path, self._code = (
            ".".join(module.with_suffix("").parts),
            ROOT / module,
            code,
        )

    def find_spec(self, fullname, path, target=None):
        if fullname != self._name:
            return None
        return importlib.util.spec_from_file_location(fullname, self._path, loader=self)

    def exec_module(self, module):
        exec(compile(self._code, self._path, "exec"), module.__dict__)


def mutated(mutation: MutationSpec) -> str:
    """Source of a mutant."""
    source = (ROOT / mutation.module_path).read_text(encoding="utf-8")
    operator = get_operator(mutation.operator_name)(**mutation.operator_args)
    return mutate_code(source, operator, mutation.occurrence)


def outcome(module: Path, code: str) -> TestOutcome:
    """Run the tests against a module with changed source, in a process of its own."""
    try:
        ast.parse(code)
    except SyntaxError:  # the * of keyword-only parameters taken for a product
        return TestOutcome.INCOMPETENT
    child = os.fork()
    if child == 0:
        _test(module, code)
    return (
        TestOutcome.SURVIVED
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        else TestOutcome.KILLED
    )


def check(modules: set[Path]) -> None:
    """Make sure that changed modules are what is imported, and that the tests pass where nothing is changed."""
    for module in modules:
        assert outcome(module, "raise ImportError") is TestOutcome.KILLED, (
            f"{module} is not replaced"
        )
    for module in {module.parts[1]: module for module in modules}.values():
        source = (ROOT / module).read_text(encoding="utf-8")
        assert outcome(module, source) is TestOutcome.SURVIVED, (
            f"tests of the unchanged {module} fail"
        )


def _test(module: Path, code: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (8 * 2**30,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for descriptor in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
    sys.meta_path.insert(0, Mutant(module, code))
    status: int = pytest.ExitCode.INTERNAL_ERROR
    try:
        for step in tests_of(
            module
        ):  # collecting all of them at once takes longer than most mutants live
            limit = int(time.process_time()) + SECONDS
            resource.setrlimit(
                resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY)
            )  # a mutant that does not end
            signal.alarm(100 * SECONDS)  # or one that waits is noticed too
            status = pytest.main([*OPTIONS, *step])
            status = pytest.ExitCode.OK if status == pytest.ExitCode.NO_TESTS_COLLECTED else status
            if status != pytest.ExitCode.OK:
                break
    finally:
        os._exit(status)


def drawn(session: WorkDB, modules: list[str], seed: int, size: int | None) -> list[WorkItem]:
    """Mutants in random order, the same for a seed, so that a larger sample holds the smaller ones."""
    places = {
        path: without_effect(path)
        for path in {item.mutations[0].module_path for item in session.work_items}
    }
    items = {}
    for item in session.work_items:
        mutation = item.mutations[0]
        inside = any(
            start <= mutation.start_pos < end for start, end in places[mutation.module_path]
        )
        wanted = not modules or not {*mutation.module_path.with_suffix("").parts}.isdisjoint(
            modules
        )
        if wanted and not inside and mutation.operator_name != NOT_RUN:
            items[str(mutation.module_path), mutation.operator_name, mutation.occurrence] = item
    order = sorted(items)
    random.Random(seed).shuffle(order)
    return [items[key] for key in order[:size]]


def report(session: WorkDB) -> None:
    """Print what survived and the share that was killed, with its 95 % confidence interval."""
    specs = {item.job_id: item.mutations[0] for item in session.work_items}
    counts: Counter[tuple[str, bool]] = Counter()
    for job, result in session.results:
        if result.test_outcome == TestOutcome.INCOMPETENT:
            continue
        spec, killed = specs[job], result.is_killed
        counts[str(spec.module_path), killed] += 1
        if not killed:
            line = (
                (ROOT / spec.module_path)
                .read_text(encoding="utf-8")
                .splitlines()[spec.start_pos[0] - 1]
            )
            place = f"{spec.module_path}:{spec.start_pos[0]}:{spec.start_pos[1]}"
            print(
                f"survived: {place} {spec.operator_name.removeprefix('core/')} {spec.occurrence}: {line.strip()}"
            )
    for name in sorted({name for name, _ in counts}):
        killed = counts[name, True]
        print(f"{name}: {killed} of {killed + counts[name, False]} killed")
    killed, total = sum(n for (_, dead), n in counts.items() if dead), counts.total()
    interval = scipy.stats.binomtest(killed, total).proportion_ci()
    print(
        f"all: {killed} of {total} killed, {killed / total:.1%} ({interval.low:.1%} to {interval.high:.1%})"
    )


def main() -> None:
    """Run a sample of the mutants of a session."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("session", help="made by cosmic-ray init; results are kept in it")
    parser.add_argument(
        "--sample", type=int, help="mutants to draw, each with the same chance; default: all"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--modules", nargs="*", default=[], help="modules or folders such as gains _input"
    )
    arguments = parser.parse_args()
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    os.environ.setdefault("HYPOTHESIS_PROFILE", "quick")
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = (
        "1"  # looking for plugins takes a third of a second
    )
    os.environ.setdefault("SKRANK_ENUMERATED_QUERIES", "300")
    with use_db(arguments.session, WorkDB.Mode.open) as session:
        done = {job for job, _ in session.results}
        sample = drawn(session, arguments.modules, arguments.seed, arguments.sample)
        items = [item for item in sample if item.job_id not in done]
        check({item.mutations[0].module_path for item in items})
        for number, item in enumerate(items, start=1):
            module, code = item.mutations[0].module_path, mutated(item.mutations[0])
            result = WorkResult(WorkerOutcome.NORMAL, test_outcome=outcome(module, code))
            session.set_result(item.job_id, result)
            print(f"{number} of {len(items)}", end="\r", file=sys.stderr)
        report(session)


if __name__ == "__main__":
    main()
