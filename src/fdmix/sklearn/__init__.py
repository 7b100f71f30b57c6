"""The scikit-learn estimator."""

from fdmix.sklearn.estimator import FDM, FractionalCountsWarning

__all__ = ["FDM", "FractionalCountsWarning"]
