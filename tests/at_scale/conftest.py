import pytest
from support.engines import dask_cluster, spark_session


@pytest.fixture(scope="session")
def on_dask():
    with dask_cluster() as engine:
        yield engine


@pytest.fixture(scope="session")
def on_spark():
    with spark_session() as engine:
        yield engine


@pytest.fixture(params=["dask", "spark"])
def engine(request):
    return request.getfixturevalue(f"on_{request.param}")
