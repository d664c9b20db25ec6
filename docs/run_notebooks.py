"""Run the notebooks in docs/notebooks and write them with their outputs: ``python docs/run_notebooks.py``."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parent / "notebooks"


def executed(path: Path, folder: str) -> nbformat.NotebookNode:
    """Run a notebook in a folder, and return it with its outputs and without what else a run leaves behind."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": folder}}
    ).execute()
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        cell.metadata = {}  # the times of the run
        if cell.cell_type == "code":
            # LightGBM's own lines arrive in some runs only, as does progress.
            cell.outputs = [
                output
                for output in cell.outputs
                if not output.get("text", "").startswith(("[LightGBM]", "\r"))
            ]
        for output in cell.get("outputs", ()):
            if "metadata" in output:
                output.metadata = {}
    return notebook


def main() -> None:
    """Run all notebooks, or those whose names are given."""
    os.environ |= {"JUPYTER_PREFER_ENV_PATH": "1", "JUPYTER_PLATFORM_DIRS": "1"}
    os.environ.pop("MPLBACKEND", None)  # pictures go into the notebook
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        if not sys.argv[1:] or path.stem in sys.argv[1:]:
            with tempfile.TemporaryDirectory() as folder:
                nbformat.write(executed(path, folder), path)
            print(f"docs/notebooks/{path.name} written")


if __name__ == "__main__":
    main()
