"""Folders with files for commands."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.command_line import OTHER, QRELS, RUN, write_table

from skrank_metrics import (
    evaluate,
)
from skrank_metrics.datasets import make_ranking


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder to work in, with files of TREC and a table of rows in all formats."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("qrels", QRELS), ("run", RUN), ("other", OTHER)):
        Path(name).write_text(text)
    X, y, qid = make_ranking(8, n_features=2, random_state=0)
    frame = pd.DataFrame(
        {"q": [f"q{i}" for i in qid], "y": y, "a": X[:, 0], "b": X[:, 1], "kind": qid % 2}
    )
    frame = frame.assign(lang=np.where(qid < 4, "de", "en"), user=qid // 2, w=1.0 + qid % 3)
    frame = frame.assign(seen=np.arange(len(y)) % 5 > 0, known=np.arange(len(y)) % 7 > 0)
    for name in ("rows.csv", "rows.tsv", "rows.parquet"):
        write_table(frame, name)
    return frame


@pytest.fixture
def many(tmp_path, monkeypatch):
    """A table of 40 queries: too many to try all signs."""
    monkeypatch.chdir(tmp_path)
    X, y, qid = make_ranking(40, n_features=4, random_state=0)
    qid = np.array([f"q{i}" for i in qid])
    frame = pd.DataFrame({"q": qid, "y": y, "a": X[:, 0], "b": X[:, 3], "c": X[:, 2]})
    frame.to_csv("many.csv", index=False)
    return {name: evaluate(y, frame[name], qid=qid, metrics="mrr") for name in ("a", "b", "c")}


@pytest.fixture
def gate(tmp_path, monkeypatch):
    """Runs of 30 topics, whose only relevant document is at rank 1, 2 or 3, and one with ranks that vary."""
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text("".join(f"{topic} 0 a 1\n" for topic in range(30)))
    runs = {"prod": [2] * 30, "same": [2] * 30, "better": [1] * 30, "worse": [3] * 30}
    for name, ranks in (runs | {"nearly": [3] + [2] * 29, "mixed": [1, 3, 3] * 10}).items():
        places = ["bc"[: rank - 1] + "a" for rank in ranks]
        lines = [
            f"{t} Q0 {one} 1 {-n} x\n"
            for t, found in enumerate(places)
            for n, one in enumerate(found)
        ]
        Path(name).write_text("".join(lines))
