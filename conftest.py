"""What holds for all tests, those in docstrings and documents, too."""

from collections.abc import Iterator

import pytest

from skrank_metrics.metrics._registry import REGISTRY


@pytest.fixture(autouse=True)
def _registry_as_before() -> Iterator[None]:
    """Forget the metrics that a test registers."""
    before = dict(REGISTRY)
    yield
    REGISTRY.clear()
    REGISTRY.update(before)
