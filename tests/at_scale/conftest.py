import pytest


@pytest.fixture(params=["dask", "spark"])
def engine(request):
    return request.getfixturevalue(f"on_{request.param}")
