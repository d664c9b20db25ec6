"""Slices and groups of queries."""

import pytest

from skrank_metrics import evaluate


@pytest.mark.parametrize("argument", ["y_true", "y_score", "sample_weight", "qid", "by", "groups"])
def test_the_name_of_a_column_is_no_column(argument):
    rows = {"y_true": [1, 0], "y_score": [2.0, 1.0], "qid": ["a", "a"], argument: "category"}
    message = rf"{argument} got the text 'category'\. Pass the column, df\['category'\]"
    with pytest.raises(TypeError, match=message):
        evaluate(**rows)
