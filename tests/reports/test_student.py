"""Quantiles of Student's t against those of SciPy."""

import math
import subprocess
import sys

import numpy as np
import pytest
import scipy
from scipy import stats

from skrank_metrics.reports._student import two_sided_quantile

# Older versions of SciPy have fewer digits.
PRECISION = 2e-12 if tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 17) else 5e-9
DEGREES = [0.1, 0.5, 1, 1.0000001, 1.5, 2, 2.7, 3, 5, 10, 29, 100.3, 499, 730, 999.5, 1000, 1001, 5000, 1e5, 1e12]


@pytest.mark.parametrize("level", [0.999, 0.9, 0.5, 0.2, 0.1, 0.05, 0.01, 0.001, 1e-6])
def test_equals_scipy(level):
    found = [two_sided_quantile(level, n) for n in DEGREES]
    np.testing.assert_allclose(found, -stats.t.ppf(level / 2, DEGREES), rtol=PRECISION)


def test_quantiles_by_hand():
    # With one degree of freedom, P(|T| > t) = 1 - 2 arctan(t) / pi; with two, 1 - t / sqrt(2 + t^2).
    assert two_sided_quantile(0.05, 1) == pytest.approx(math.tan(math.pi * 0.95 / 2), rel=1e-13)
    assert two_sided_quantile(0.05, 2) == pytest.approx(0.95 * math.sqrt(2 / (1 - 0.95**2)), rel=1e-13)


@pytest.mark.parametrize("n", [1e-9, 1e-3])
def test_quantiles_beyond_all_numbers_are_infinite(n):
    assert two_sided_quantile(0.05, n) == math.inf


@pytest.mark.slow
def test_a_printed_report_does_not_load_the_distributions():
    code = (
        "import sys; from skrank_metrics import evaluate; report = evaluate([[1, 0], [0, 1]], [[2, 1], [2, 1]]); "
        "print(report.intervals()); print(report); sys.exit('scipy.stats' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
