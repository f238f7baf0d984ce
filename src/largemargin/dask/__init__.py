"""The machines of this package on a Dask cluster: the same parameters, the same answer."""

from largemargin.dask.connection import ClusterError
from largemargin.dask.estimators import DaskNuSVC, DaskSVC
from largemargin.dask.voted_perceptron import DaskVotedPerceptron

__all__ = ["ClusterError", "DaskNuSVC", "DaskSVC", "DaskVotedPerceptron"]
