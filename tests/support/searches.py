"""Results of searches."""

import numpy as np


def assert_same_results(found, expected):
    """Check that ``cv_results_`` of a search are those of another one, to the bit, except for the times."""
    for name, column in expected.cv_results_.items():
        if "time" in name:
            continue
        again = found.cv_results_[name]
        np.testing.assert_array_equal(again, column, err_msg=name)
        assert np.asarray(again).dtype == np.asarray(column).dtype
