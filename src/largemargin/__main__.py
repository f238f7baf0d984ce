"""`python -m largemargin` is the command line."""

from largemargin.cli import main

if __name__ == "__main__":
    main()
