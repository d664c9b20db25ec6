"""scikit-learn's own tests of splitters, from the installed package, with query-aware splitters in place of its own."""

import contextlib
import inspect

import numpy as np
import pytest
import sklearn.model_selection
from sklearn.utils.validation import _num_samples
from support.scikit_learn import chosen_tests, load

from skrank_metrics import QueryKFold, QueryShuffleSplit, QueryTimeSeriesSplit, RepeatedQueryKFold

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]


# Words of scikit-learn's errors, which its tests look for; those of this package are in its own tests.
WORDS = (
    "Cannot have number of splits greater. Cannot have number of folds greater. Too many splits with test_size and "
    "gap. With n_samples=1, test_size=0.99 and train_size=None, the resulting train set will be empty. random_state "
    "has no effect since shuffle is False."
)


class EitherError(TypeError, ValueError):
    """scikit-learn has one where this package has the other."""


@contextlib.contextmanager
def in_words_of_scikit_learn():
    try:
        yield
    except (TypeError, ValueError) as error:
        raise EitherError(f"{error} {WORDS}") from error


def of_groups(kind, n_default=5, **defaults):
    """A look-alike of a splitter of scikit-learn that takes groups."""

    class LookAlike(kind):
        def __init__(self, n_splits=n_default, **params):
            given = {name: value for name, value in params.items() if value is not None}
            with in_words_of_scikit_learn():
                super().__init__(
                    n_splits, **params | ({} if "train_size" in given else {**defaults, **given})
                )

        def split(self, X, y=None, groups=None):
            with in_words_of_scikit_learn():
                yield from super().split(X, y, groups)

    parameters = inspect.signature(kind.__init__).parameters
    own = [
        one for name, one in parameters.items() if name not in ("stratify", "time")
    ]  # texts of splitters have all
    LookAlike.__init__.__signature__ = inspect.Signature(own)
    return LookAlike


def of_rows(kind, n_default=5):
    """The same, taking every row for a query of its own."""

    class OfRows(of_groups(kind, n_default)):
        def split(self, X, y=None, groups=None):
            yield from super().split(X, y, np.arange(_num_samples(X)))

    return OfRows


KINDS = {
    "KFold": of_rows(QueryKFold),
    "RepeatedKFold": of_rows(RepeatedQueryKFold),
    "ShuffleSplit": of_rows(QueryShuffleSplit, n_default=10),
    "TimeSeriesSplit": of_rows(QueryTimeSeriesSplit),
    "GroupKFold": of_groups(QueryKFold),
    "GroupShuffleSplit": of_groups(QueryShuffleSplit, test_size=0.2),
}
for name, kind in KINDS.items():
    kind.__name__ = kind.__qualname__ = name
NOT_CONTIGUOUS = (
    "without shuffling, scikit-learn's folds are contiguous, while queries are dealt out by length"
)
TAKES_GROUPS = "of splitters that take no groups, as all of this package do"
EXCLUDED = {
    "test_kfold_no_shuffle": NOT_CONTIGUOUS,
    "test_kfold_can_detect_dependent_samples_on_digits": NOT_CONTIGUOUS,
    "test_stratified_kfold_no_shuffle": "compares KFold with StratifiedKFold",
    "test_check_cv": "compares KFold with that of check_cv",
    "test_repeated_kfold_deterministic_split": "has the folds that scikit-learn draws with a seed",
    "test_repeated_kfold_determinstic_split": "has the folds that scikit-learn draws with a seed; so spelled in 1.6",
    "test_splitter_get_metadata_routing": TAKES_GROUPS,
    "test_splitter_set_split_request": TAKES_GROUPS,
    "test_no_group_splitters_warns_with_groups": TAKES_GROUPS,
    "test_array_api_train_test_split": "its parameters are a generator, which pytest refuses here",
}


module = load("sklearn.model_selection.tests.test_split", sklearn.model_selection, **KINDS)
globals().update(chosen_tests(module, EXCLUDED))
