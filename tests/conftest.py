import gc
import os
import sys
from importlib.util import find_spec

# Before libraries read them: on small data, OpenMP runtimes in one process mostly wait for each other, and pytest-xdist
# has a process for each core.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("POLARS_MAX_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np
import pytest
from hypothesis import settings

from skrank_metrics.metrics._registry import REGISTRY

os.environ["MPLBACKEND"] = "agg"  # no windows, here and in the kernels of notebooks

# pytest loads these by itself; they have no examples, and all of them are modules of one name.
collect_ignore_glob = ["*conftest.py"]

ENGINES = {"dask.py": "distributed", "spark.py": "pyspark"}

settings.register_profile("ci", derandomize=True, deadline=None, max_examples=20)
settings.register_profile("quick", derandomize=True, deadline=None, max_examples=5)
settings.register_profile("nightly", deadline=None, max_examples=1000)


def pytest_configure(config):
    default = "quick" if config.option.markexpr == "not slow" else "ci"
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", default))
    gc.set_threshold(100_000)  # each collection of garbage looks through thousands of tests
    config.pluginmanager.register(AsBefore())  # for the examples of docstrings and documents, too


class AsBefore:
    """Forgets the metrics that a test registers, and closes its figures."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self):
        before = dict(REGISTRY)
        try:
            return (yield)
        finally:
            REGISTRY.clear()
            REGISTRY.update(before)
            if pyplot := sys.modules.get("matplotlib.pyplot"):
                pyplot.close("all")


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.suffix == ".md":  # whole documents, which fit models
            item.add_marker("slow")
        if (
            item.path.parent.name == "skrank_metrics" and item.path.name in ENGINES
        ):  # examples that start an engine
            missing = find_spec(ENGINES[item.path.name]) is None
            skipped = pytest.mark.skipif(missing, reason="needs the extra test-clusters")
            for mark in ("slow", "clusters", pytest.mark.filterwarnings("default"), skipped):
                item.add_marker(mark)


@pytest.fixture(scope="session")
def on_dask():
    """A cluster of two processes."""
    from support import engines

    with engines.dask_cluster() as engine:
        yield engine


@pytest.fixture(scope="session")
def on_spark():
    """A session of two threads."""
    from support import engines

    with engines.spark_session() as engine:
        yield engine


@pytest.fixture(params=["dask", "spark"])
def engine(request):
    return request.getfixturevalue(f"on_{request.param}")


@pytest.fixture
def rows():
    """Labels, scores and query ids of six interleaved queries, ties included; one query has no relevant document."""
    rng = np.random.default_rng(0)
    qid = rng.permutation(np.repeat(list("abcdef"), [1, 3, 5, 8, 13, 20]))
    labels = np.where(qid == "c", 0, rng.integers(0, 4, len(qid)))
    return labels, rng.integers(0, 6, len(qid)) / 2, qid


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def global_random_seed():
    """That of scikit-learn's own tests."""
    return 0
