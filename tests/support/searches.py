"""Results of searches."""

import numpy as np


def assert_same_results(found, expected):
    """Check that ``cv_results_`` of a search are those of another one, to the bit, except for the times."""
    for name, column in expected.cv_results_.items():
        if "time" not in name:
            np.testing.assert_array_equal(found.cv_results_[name], column, err_msg=name)
            assert np.asarray(found.cv_results_[name]).dtype == np.asarray(column).dtype
