"""What an installation brings: three dependencies, and a wheel of Python files that anyone can build again."""

import ast
import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "skrank_metrics").rglob("*.py"))
DEPENDENCIES = {"numpy", "scipy", "scikit-learn"}


def name_of(requirement):
    return requirement.partition(">")[0].strip()


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """Two wheels, built in two directories from files of different ages."""
    built = []
    for place, time in (("one", 1_500_000_000), ("other", 1_700_000_000)):
        copy = tmp_path_factory.mktemp(place) / place
        shutil.copytree(
            ROOT / "skrank_metrics",
            copy / "skrank_metrics",
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, copy)
        for path in copy.rglob("*"):
            os.utime(path, (time, time))
        command = [
            sys.executable,
            "-m",
            "hatchling",
            "build",
            "-t",
            "wheel",
            "-d",
            str(copy / "dist"),
        ]
        subprocess.run(command, cwd=copy, check=True, capture_output=True)
        built += (copy / "dist").iterdir()
    return built


def test_two_builds_are_the_same_file(wheels):
    assert len(wheels) == 2
    assert len({hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in wheels}) == 1


def test_the_wheel_is_pure_python_and_holds_the_package_alone(wheels):
    assert wheels[0].name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheels[0]) as wheel:
        names = wheel.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        required = Parser().parsestr(wheel.read(metadata).decode()).get_all("Requires-Dist")
    package = [
        *SOURCES,
        *(ROOT / "skrank_metrics").rglob("*.pyi"),
        ROOT / "skrank_metrics" / "py.typed",
    ]
    files = {path.relative_to(ROOT).as_posix() for path in package}
    assert {name for name in names if ".dist-info/" not in name} == files
    assert {name_of(line) for line in required if "extra ==" not in line} == DEPENDENCIES


UNSAFE_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "subprocess", "socket",
                  "urllib", "http", "requests", "ctypes", "tempfile"}  # fmt: skip
ALLOWED = {
    "skrank_metrics/_cli/inputs.py": ["load"],  # RankingReport.load, which reads JSON
    "skrank_metrics/sources/batches.py": [
        "tempfile"
    ],  # rows are shuffled through files without names
    "skrank_metrics/spark.py": [
        "pickle",
        "loads",
    ],  # Spark's own executors return all Python objects pickled
}
UNSAFE_CALLS = {"eval", "exec", "compile", "__import__", "loads", "system", "popen"}


def unsafe(tree):
    """Imports and calls that unpickle, run text as code, or reach out of the process."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (
                alias.name for alias in node.names if alias.name.partition(".")[0] in UNSAFE_MODULES
            )
        if (
            isinstance(node, ast.ImportFrom)
            and (node.module or "").partition(".")[0] in UNSAFE_MODULES
        ):
            yield str(node.module)
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names if alias.name in {"load", "loads"})
        if isinstance(node, ast.Call):
            # np.load can unpickle. json.loads, re.compile, and whatever else is called compile, are harmless.
            name = ast.unparse(node.func)
            of_others = (UNSAFE_CALLS - {"compile"}) | {"load"}
            if name in UNSAFE_CALLS or (
                "." in name and name != "json.loads" and name.rpartition(".")[2] in of_others
            ):
                yield name.rpartition(".")[2]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_nothing_unpickles_runs_text_as_code_or_reaches_out(path):
    allowed = ALLOWED.get(path.relative_to(ROOT).as_posix(), [])
    assert list(unsafe(ast.parse(path.read_text(encoding="utf-8")))) == allowed


def test_the_search_finds_what_it_looks_for():
    for code in ("import pickle", "from joblib import load", "import os, socket", "eval('1')", "np.load(f)",
                 "p.loads(b)", "exec(t)"):  # fmt: skip
        assert len(list(unsafe(ast.parse(code)))) == 1, code
