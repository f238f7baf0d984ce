"""The voted perceptron: the online pass, the trace it leaves, the rules that read the trace."""

from largemargin.perceptron.trace import Trace
from largemargin.perceptron.voted_perceptron import VotedPerceptron

__all__ = ["Trace", "VotedPerceptron"]
