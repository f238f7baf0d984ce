"""Tables as people have them, made into numbers: columns of numbers, text, dates and truth values,
some of them missing.
"""

from largemargin.tables.preprocessor import TablePreprocessor

__all__ = ["TablePreprocessor"]
