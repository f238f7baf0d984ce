"""Endless streams of events: lines in, answers out, a model that learns in between, and checkpoints
from which a killed process goes on as if nothing had happened.

    input        the lines that have arrived on a pipe, and the signals that end it
    events       a line of JSON as numbers and a label
    schema       what all events of a stream agree on: columns, names, labels
    session      a block of lines answered and learned
    output       the answers on their way to a file or a pipe
    checkpoint   model, place in the input and in the output in one file, to go on from
    files        one process at a time for a file, and no file written over another
    driver       the loop over all of these
    serving      files with names for the model of a stream
"""
