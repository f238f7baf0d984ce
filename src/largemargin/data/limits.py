"""How long a line, the name of a feature and a label may be: what is longer is damage or malice."""

MAX_LINE = 1 << 26  # bytes
MAX_NAME = 1 << 16  # characters
MAX_LABEL = 1 << 12  # characters
