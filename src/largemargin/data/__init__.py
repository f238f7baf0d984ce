"""Data: readers of files, and data sets by name."""

from largemargin.data.dataset import Dataset
from largemargin.data.errors import DataError
from largemargin.data.like_training import read_like
from largemargin.data.mixed import Table
from largemargin.data.named import NAMES, load
from largemargin.data.reading import read, stream

__all__ = ["NAMES", "DataError", "Dataset", "Table", "load", "read", "read_like", "stream"]
