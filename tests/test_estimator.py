import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from fdmix.estimator import FDM


@pytest.mark.filterwarnings("ignore::fdmix.estimator.FractionalCountsWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([FDM()])
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)
