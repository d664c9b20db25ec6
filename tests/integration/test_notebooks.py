"""The notebooks run from top to bottom, warn of nothing, and lie in the repository without what a run leaves behind."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))


def test_both_notebooks_are_here():
    assert [path.stem for path in NOTEBOOKS] == ["from_lightgbm_to_gridsearch", "model_selection"]


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request):
    return nbformat.read(request.param, as_version=4)


@pytest.mark.slow
def test_runs(notebook, tmp_path, monkeypatch, request):
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "1")  # the kernel is this interpreter, not one of the user's
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")  # or old versions warn that they will do so
    monkeypatch.delenv("MPLBACKEND")  # pictures go into the notebook
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    if "error" in request.config.getini("filterwarnings"):  # as everywhere; old versions of others may warn
        assert [output.text for output in outputs if "Warning" in output.get("text", "")] == []
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert list(tmp_path.iterdir()) == []


def test_holds_no_traces_of_a_run(notebook):
    nbformat.validate(notebook)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert all(len(cell.id) < 32 and not cell.metadata for cell in notebook.cells)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code)
