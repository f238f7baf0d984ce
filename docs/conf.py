"""How the documentation is built: `sphinx-build -W docs docs/_build`."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "extensions"))

import largemargin  # noqa: E402

project = "largemargin"
author = "The largemargin developers"
copyright = f"2026, {author}. BSD-3-Clause"
version = release = largemargin.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "accessible",
    "changelog",
    "citation",
    "command_help",
    "dask_results",
    "figures",
    "gallery",
    "mathml",
    "picture",
    "plain_docstrings",
    "reproduction",
    "terminal",
]
exclude_patterns = ["_build", "pictures", "reproduction"]
nitpicky = False
autosummary_generate = True
numpydoc_show_class_members = False
templates_path = ["_templates"]

html_math_renderer = "mathml"
html_theme = "furo"
html_title = f"largemargin {version}"
html_short_title = "largemargin"
html_favicon = "_static/favicon.svg"
html_static_path = ["_static"]
html_css_files = ["largemargin.css"]
html_show_sourcelink = False
html_copy_source = False
