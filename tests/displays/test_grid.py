"""Scores of a search over one or two parameters, against values by hand."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from support.pictures import tick_texts

from skrank_metrics import ranking_scorers
from skrank_metrics.displays import GridDisplay, style


def fitted(scores, **params):
    """A search with these scores in two folds for each candidate, by the values of its parameters."""
    names = list(params)
    search = GridSearchCV(Ridge(), {"alpha": [1]}, scoring=ranking_scorers("map")["map"])
    values = np.array(scores, dtype=float)
    rows = zip(*params.values(), strict=True)
    search.cv_results_ = {
        "params": [dict(zip(names, row, strict=True)) for row in rows],
        "mean_test_score": values.mean(axis=1),
        "split0_test_score": values[:, 0],
        "split1_test_score": values[:, 1],
    }
    search.scorer_ = search.scoring
    return search


ONE = fitted(
    [[0.2, 0.4], [0.5, 0.7], [0.4, 0.4]],
    est__alpha=[10, 1, 2],
    est__solver=["svd"] * 3,
)
TWO = fitted(
    [
        [0.1, 0.3],
        [0.4, 0.6],
        [0.2, 0.2],
        [0.7, 0.3],
        [0.9, np.nan],
    ],
    alpha=[1, 1, 2, 2, 3],
    solver=["svd", "lsqr", "svd", "svd", "svd"],
)


def test_a_curve_over_the_only_parameter_that_varies():
    display = GridDisplay.from_result(ONE)
    ax = display.ax_
    *folds, means, best = ax.lines
    assert tick_texts(ax.xaxis) == ["1", "2", "10"], "by size"
    first, second = folds
    assert first.get_ydata().tolist() == [0.5, 0.4, 0.2]
    assert second.get_ydata().tolist() == [0.7, 0.4, 0.4]
    np.testing.assert_allclose(means.get_ydata(), [0.6, 0.4, 0.3])
    assert best.get_xdata().tolist() == [0]
    assert best.get_color() == style.LIGHT.best
    (text,) = ax.texts
    assert text.get_text() == "0.6000"
    assert ax.get_xlabel() == "alpha"
    assert ax.get_ylabel() == "map, mean and each fold"


def test_a_heat_map_over_two():
    display = GridDisplay.from_result(TWO)
    ax = display.ax_
    assert tick_texts(ax.yaxis) == ["1", "2", "3"]
    assert tick_texts(ax.xaxis) == ["svd", "lsqr"]
    written = {text.xy: text.get_text() for text in ax.texts}
    assert written == {(0, 0): "0.2000", (1, 0): "0.5000", (0, 1): "0.5000"}, (
        "the best of two candidates with the same values; one failed, some were not tried"
    )
    (best,) = [text for text in ax.texts if text.get_weight() == "bold"]
    assert best.xy == (1, 0)
    assert ax.get_ylabel() == "alpha"
    assert ax.get_xlabel() == "solver\nmap, mean over folds"


def test_chosen_parameters():
    display = GridDisplay.from_result(TWO, params=["solver"])
    np.testing.assert_allclose(display.scores, [[0.7, 0.3], [0.4, 0.6]])
    turned = GridDisplay.from_result(TWO, params=["solver", "alpha"], metric="map")
    expected = GridDisplay(TWO).scores
    np.testing.assert_array_equal(turned.scores.transpose(1, 0, 2), expected)


@pytest.mark.parametrize("params", [[], ["alpha", "solver", "beta"], ["beta"]])
def test_wrong_parameters(params):
    with pytest.raises(ValueError, match="params must "):
        GridDisplay(TWO, params=params)


def test_nothing_to_draw():
    with pytest.raises(ValueError, match="params must name one or two parameters of a, b"):
        GridDisplay(fitted([[1, 1]], a=[1], b=[2]))
    with pytest.raises(ValueError, match="search must have a candidate with a score in every fold"):
        GridDisplay(fitted([[1, np.nan]] * 2, a=[1, 2]))
