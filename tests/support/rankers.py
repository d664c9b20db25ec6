"""The boosters' rankers, as small as they get, with a record of what their ``fit`` was given."""

import numpy as np
from catboost import CatBoostRanker
from lightgbm import LGBMRanker
from xgboost import XGBRanker

RANKERS = [
    LGBMRanker(n_estimators=10, min_child_samples=2, verbose=-1, n_jobs=1, random_state=0),
    XGBRanker(n_estimators=10, n_jobs=1, random_state=0),
    CatBoostRanker(
        iterations=10, verbose=False, allow_writing_files=False, thread_count=1, random_seed=0
    ),
]
of_name = {"ids": lambda model: type(model).__name__}


class Recorded:
    """Keeps the first columns of the rows to fit and to validate on, and their weights."""

    def fit(self, X, y, **given):
        fitted = super().fit(X, y, **given)
        self.fitted_rows, self.validation_rows = (
            X[:, 0].astype(np.float32),
            self._validation(given)[:, 0],
        )
        return fitted

    def _validation(self, given):
        return (given["eval_X"][0] if "eval_X" in given else given["eval_set"][0][0]).astype(
            np.float32
        )


class RecordedLGBMRanker(Recorded, LGBMRanker):
    def curve(self):
        return {name: np.array(values) for name, values in self.evals_result_["valid_0"].items()}

    def staged(self, X, n_rounds):
        return [self.predict(X, num_iteration=i + 1) for i in range(n_rounds)]


class RecordedXGBRanker(Recorded, XGBRanker):
    def curve(self):
        return {
            name: np.array(values) for name, values in self.evals_result()["validation_0"].items()
        }

    def staged(self, X, n_rounds):
        return [self.predict(X, iteration_range=(0, i + 1)) for i in range(n_rounds)]


class RecordedCatBoostRanker(Recorded, CatBoostRanker):
    def _validation(self, given):
        return np.array(given["eval_set"][0].get_features(), dtype=np.float32)

    def curve(self):
        return {
            name: np.array(values) for name, values in self.get_evals_result()["validation"].items()
        }

    def staged(self, X, n_rounds):
        return [scores for _, scores in zip(range(n_rounds), self.staged_predict(X), strict=False)]


RECORDED = [
    kind(**model.get_params())
    for kind, model in zip(
        (RecordedLGBMRanker, RecordedXGBRanker, RecordedCatBoostRanker), RANKERS, strict=True
    )
]
