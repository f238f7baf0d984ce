"""The model file: one safe file, arrays and JSON inside, from which nothing can run.

A file is a safetensors file. Its metadata hold one JSON text under the key "largemargin":

    sha256       of the whole file, taken with zeros in this place
    format       the version of this layout
    library      the version of largemargin that wrote it
    model        class, parameters and facts of the model; for a pipeline, of each of its steps
    info         what whoever saved it wanted to note

and its tensors are the arrays of the fitted model, named by step and array ("0/trace.slot"). Which
classes can be in a file, and what of each is stored, is in `registry`. A file is believed only
after every number in it has been checked: the loops that read these arrays are compiled and do not
look where they read.
"""

from largemargin.model_file.container import ModelFileError
from largemargin.model_file.saving import describe, load, save

__all__ = ["ModelFileError", "describe", "load", "save"]
