"""How long a line, the name of a feature and a label may be: beyond, a file is damaged or hostile."""

MAX_LINE = 1 << 26  # bytes
MAX_NAME = 1 << 16  # characters
MAX_LABEL = 1 << 12  # characters
