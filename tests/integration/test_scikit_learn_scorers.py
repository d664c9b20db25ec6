"""scikit-learn's own tests of scorers, from the installed package, as far as they are about any scorer.

They take scorers by name, here those of this package. All other tests of that module are about single metrics, whose
data have no query ids, or about code of scikit-learn that this package uses as it is: make_scorer, check_scoring and
the scorers of a dict.
"""

import pytest
import sklearn
from support.scikit_learn import load

from skrank_metrics import get_metric_names, make_ranking_scorer

pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.slow]

NAMES = ("test_all_scorers_repr", "test_scorer_set_score_request_raises")
if not sklearn.__version__.startswith("1.6."):  # there, calls with metadata that is not requested must raise
    NAMES = (*NAMES, "test_scorer_metadata_request")


def without_requests(name):
    """A scorer whose requests are taken back, as scikit-learn's scorers have none."""
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_ranking_scorer(name)
        return scorer.set_score_request(qid=None, groups=None, retrieved=None, judged=None, sample_weight=None)


module = load("sklearn.metrics.tests.test_score_objects", sklearn.metrics, get_scorer_names=get_metric_names)
module.get_scorer = without_requests
globals().update({name: getattr(module, name) for name in NAMES})
