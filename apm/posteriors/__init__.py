"""Posteriors of the parameters: immutable, warm-started, with the structure of their covariance."""

from apm.posteriors.base import Posterior
from apm.posteriors.variational import VariationalLogistic

__all__ = ["Posterior", "VariationalLogistic"]
