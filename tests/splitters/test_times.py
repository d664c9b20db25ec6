"""Times and gaps that cannot be used."""

import numpy as np
import pytest

from skrank_metrics import QueryTimeSeriesSplit

DAYS = ["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gap": "7D", "time": [1, 2, 3, 4]}, "gap must be a number of queries if time holds numbers; got '7D'"),
        ({"gap": np.timedelta64("NaT"), "time": DAYS}, "gap must be .* a duration >= 0; got"),
        ({"time": ["tomorrow", *DAYS[1:]]}, 'time must hold dates or numbers; .* "tomorrow"'),
    ],
)
def test_times_and_gaps_that_do_not_fit(options, message):
    with pytest.raises(ValueError, match=message):
        next(QueryTimeSeriesSplit(2, test_size=1, **options).split([[0]] * 4, qid=[1, 2, 3, 4]))
