"""The version, said once: the build, the documentation and the command line read it from here."""

__version__ = "0.1.0"
