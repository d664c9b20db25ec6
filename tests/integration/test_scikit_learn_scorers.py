"""scikit-learn's own tests of scorers, from the installed package, as far as they are about any scorer.

They take scorers by name, here those of this package. All other tests of that module are about single metrics, whose
data have no query ids, or about code of scikit-learn that this package uses as it is: make_scorer, check_scoring and
the scorers of a dict.
"""

import importlib.util
import sys

import pytest
import sklearn

from skrank_metrics import get_metric_names, make_ranking_scorer

pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.slow]

NAMES = ("test_all_scorers_repr", "test_scorer_set_score_request_raises", "test_scorer_metadata_request")


def without_requests(name):
    """A scorer whose requests are taken back, as scikit-learn's scorers have none."""
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_ranking_scorer(name)
        return scorer.set_score_request(qid=None, groups=None, retrieved=None, judged=None, sample_weight=None)


def load():
    """The test module, as if the scorers of scikit-learn were these."""
    spec = importlib.util.find_spec("sklearn.metrics.tests.test_score_objects")
    if spec is None:
        pytest.skip("this scikit-learn comes without its tests", allow_module_level=True)
    spec = importlib.util.spec_from_file_location("scikit_learn_test_score_objects", spec.origin)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sklearn.metrics, "get_scorer_names", get_metric_names)
        spec.loader.exec_module(module)
    module.get_scorer = without_requests
    return module


tests = vars(load())
globals().update({name: tests[name] for name in NAMES})
