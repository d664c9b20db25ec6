import numpy as np
import pytest


@pytest.fixture(scope="session")
def problem():
    """30 queries in order, with labels that the first feature tells something of."""
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(30), rng.integers(3, 20, 30))
    X = rng.normal(size=(len(qid), 4))
    return (
        X,
        np.clip(np.round(X[:, 0] + rng.normal(scale=0.7, size=len(qid))), 0, 3).astype(int),
        qid,
    )


@pytest.fixture(scope="session")
def shuffled(problem):
    """The same rows in random order, with strings for ids."""
    X, y, qid = problem
    order = np.random.default_rng(1).permutation(len(qid))
    return X[order], y[order], np.char.mod("q%02d", qid)[order]
