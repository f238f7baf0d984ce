"""`python -m largemargin.dropin script.py ...`: run a script with `sklearn.svm` replaced."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

USAGE = """usage: python -m largemargin.dropin script.py [arguments of the script]

Run a script whose imports from sklearn.svm get the classes of largemargin.dropin.
"""


def main(arguments: list[str]) -> None:
    """Run the script that the arguments begin with."""
    if not arguments or arguments[0] in ("-h", "--help"):
        stream = sys.stdout if arguments else sys.stderr
        print(USAGE, end="", file=stream)
        sys.exit(0 if arguments else 2)
    script = Path(arguments[0])
    if not script.is_file():
        print(
            f"there is no script {str(script)!r}: give the path of a Python file", file=sys.stderr
        )
        sys.exit(2)

    from largemargin.dropin import patch_sklearn

    patch_sklearn()
    sys.argv = arguments
    sys.path[0] = str(script.resolve().parent)
    runpy.run_path(str(script), run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
