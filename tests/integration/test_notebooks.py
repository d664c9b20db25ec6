"""The notebooks run from top to bottom, warn of nothing, and give the outputs that lie in the repository."""

import re
from collections import defaultdict

import nbformat
import pytest
from run_notebooks import NOTEBOOKS, executed

OF_EACH = pytest.mark.parametrize(
    "path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem
)
TIME = re.compile(r"\b\d+(\.\d+)? ?(ms|s|seconds)\b")
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def kinds(cell):
    """What a cell shows: a set, as text of libraries in C may come early or late."""
    outputs = cell.outputs
    return {kind for output in outputs for kind in output.get("data", {output.output_type: None})}


def texts(cell):
    """The text of a cell by where it goes, without times, numbers and line breaks, and its numbers."""
    found = defaultdict(str)
    for output in cell.outputs:
        found[output.get("name", "result")] += output.get("text") or output["data"]["text/plain"]
    words = {name: " ".join(TIME.sub("time", found[name]).split()) for name in sorted(found)}
    numbers = [float(number) for text in words.values() for number in NUMBER.findall(text)]
    return {name: NUMBER.sub("#", text) for name, text in words.items()}, numbers


@pytest.mark.slow
@OF_EACH
def test_runs_and_shows_what_the_repository_has(path, tmp_path, monkeypatch, request):
    monkeypatch.setenv(
        "JUPYTER_PREFER_ENV_PATH", "1"
    )  # the kernel is this interpreter, not one of the user's
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")  # or old versions warn that they will do so
    monkeypatch.delenv("MPLBACKEND")  # pictures go into the notebook
    found, kept = executed(path, str(tmp_path)), nbformat.read(path, as_version=4)
    assert list(tmp_path.iterdir()) == []
    if "error" not in request.config.getini("filterwarnings"):
        return  # the lowest versions of others warn, and their models give other numbers
    assert "Warning" not in str([cell.outputs for cell in code_cells(found)])
    for cell, before in zip(code_cells(found), code_cells(kept), strict=True):
        message = f"cell {cell.id!r} shows something else: run docs/run_notebooks.py, and read what changed"
        (found_words, found_numbers), (words, numbers) = texts(cell), texts(before)
        assert (kinds(cell), found_words) == (kinds(before), words), message
        assert found_numbers == pytest.approx(numbers, rel=0.05, abs=0.01), message


@OF_EACH
def test_holds_the_outputs_of_one_run_and_no_other_traces(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert all(len(cell.id) < 32 and not cell.metadata for cell in notebook.cells)
    assert [cell.execution_count for cell in code_cells(notebook)] == list(
        range(1, len(code_cells(notebook)) + 1)
    )
    shown = [kind for cell in code_cells(notebook) for kind in kinds(cell)]
    assert "error" not in shown
    assert shown.count("image/png") >= 3
