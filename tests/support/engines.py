"""Dask and Spark on this machine, two processes each, behind one face."""

import os
import shutil
import sys
from contextlib import contextmanager

import pytest

from skrank_metrics import dask, spark

MISSING = "needs pip install 'skrank-metrics[test-clusters]'"


class Dask:
    """A cluster of two processes."""

    name, evaluate, kind = "dask", staticmethod(dask.evaluate), "Dask"

    def __init__(self, client):
        self.client = client

    def read(self, folder):
        """A frame of the Parquet files of a folder, at least one partition per file."""
        import dask.dataframe as dd

        return dd.read_parquet(folder, blocksize=None)

    def fold(self, frame, n_folds):
        """Ids and folds, computed on the workers."""
        import pandas as pd

        from skrank_metrics.splitters import query_fold

        def folds(rows):
            return pd.DataFrame({"q": rows["q"], "fold": query_fold(rows["q"], n_folds)})

        found = frame.map_partitions(folds, meta={"q": frame["q"].dtype, "fold": int}).compute()
        return found["q"].tolist(), found["fold"].tolist()


class Spark:
    """A session with two threads of Java, and a process of Python each."""

    name, evaluate, kind = "spark", staticmethod(spark.evaluate), "Spark"

    def __init__(self, session):
        self.session = session

    def read(self, folder):
        """A frame of the Parquet files of a folder, in at least two partitions."""
        return self.session.read.parquet(str(folder))

    def fold(self, frame, n_folds):
        """Ids and folds, computed on the workers."""
        import pyarrow as pa

        from skrank_metrics.splitters import query_fold

        def folds(batches):
            for batch in batches:
                yield pa.record_batch({"q": batch["q"], "fold": query_fold(batch["q"], n_folds)})

        rows = (
            frame.select("q").mapInArrow(folds, f"q {dict(frame.dtypes)['q']}, fold long").collect()
        )
        return [row.q for row in rows], [row.fold for row in rows]


@contextmanager
def dask_cluster():
    distributed = pytest.importorskip("distributed", reason=MISSING)
    options = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "processes": True,
        "dashboard_address": None,
    }
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield Dask(client)


@contextmanager
def spark_session():
    sql = pytest.importorskip("pyspark.sql", reason=MISSING)
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, such as Debian's default-jre-headless")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    options = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.log.level": "ERROR",
    }
    options |= {"spark.ui.showConsoleProgress": "false", "spark.driver.host": "127.0.0.1"}
    session = sql.SparkSession.builder.master("local[2]").config(map=options).getOrCreate()
    yield Spark(session)
    session.stop()
