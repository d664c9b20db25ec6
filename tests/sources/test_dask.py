"""What Dask alone has; test_engines.py holds it and Spark to the same."""

import os
import signal

import numpy as np
import pandas as pd
import pytest
from support.engines import MISSING

from skrank_metrics import dask, evaluate

pytestmark = [pytest.mark.slow, pytest.mark.clusters, pytest.mark.filterwarnings("default")]

dd = pytest.importorskip("dask.dataframe", reason=MISSING)


def piece(number):
    """Rows of 50 queries, some of which are in every piece."""
    rng = np.random.default_rng(number)
    ids = rng.integers(0, 50, 400)
    return pd.DataFrame({"q": ids, "y": rng.integers(0, 3, 400), "s": rng.normal(size=400)})


def expected(rows):
    return evaluate(rows["y"], rows["s"], qid=rows["q"]).mean


def test_a_killed_worker_changes_nothing(on_dask, tmp_path):
    killed = tmp_path / "killed"

    def piece_or_death(number):
        if number == 5 and not killed.exists():
            killed.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return piece(number)

    before = set(on_dask.client.run(os.getpid).values())
    frame = dd.from_map(piece_or_death, range(8), meta=piece(0))
    found = dask.evaluate(frame, label="y", score="s", qid="q").mean
    assert found == pytest.approx(expected(pd.concat(map(piece, range(8)), ignore_index=True)), abs=1e-12)
    on_dask.client.wait_for_workers(2)
    after = set(on_dask.client.run(os.getpid).values())
    assert len(before & after) == 1


@pytest.mark.parametrize("scheduler", ["sync", "threads"])
def test_schedulers_of_one_machine(scheduler):
    import dask as its_own

    rows = piece(0)
    for ids in (rows["q"], rows["q"].astype(str).astype("category"), rows["q"] * 1.0):
        frame = dd.from_pandas(rows.assign(q=ids), npartitions=5)
        # With a client about, Dask would shuffle through its workers.
        with its_own.config.set({"scheduler": scheduler, "dataframe.shuffle.method": "tasks"}):
            found = dask.evaluate(frame, label="y", score="s", qid="q").mean
        assert found == pytest.approx(expected(rows), abs=1e-12)
