"""Docstrings are written to be read in a terminal: |w| is a norm, `support_` a name, and an
indented paragraph a formula. This makes reStructuredText of them before numpydoc reads them.
"""

import re
from functools import cache

from sphinx.application import Sphinx

import largemargin

UNDERLINE = re.compile(r"\s*-{3,}\s*$")
FIELD = re.compile(r"(\s*[\w*, \\]+ :)(.*)$")  # "name, name : type" of a parameter or attribute
CODE = re.compile(r"(`[^`]*`)")
MARKUP = re.compile(r"\||(?<=\w)_(?!\w)")


def to_markup(app, what, name, obj, options, lines):
    lines[:] = _joined(lines)
    sections = [k for k, line in enumerate(lines[1:]) if UNDERLINE.match(line)]
    examples = next((k for k in sections if lines[k].strip() == "Examples"), len(lines))
    text, examples_text = lines[:examples], lines[examples:]
    described = sections[0] if sections else len(text)
    lines[:] = [*_formulas(text[:described]), *map(_escaped, text[described:]), *examples_text]


def _joined(lines):
    """A type that goes on in the next line, "...,\\n default=...", in one."""
    found = []
    for line in lines:
        if found and line.lstrip().startswith("default=") and found[-1].endswith(","):
            found[-1] += f" {line.lstrip()}"
        else:
            found.append(line)
    return found


def _formulas(lines):
    """Indented paragraphs of a description as literal blocks, and the rest escaped."""
    found, inside, previous = [], False, ""
    for line in lines:
        indented = line.startswith("    ")
        if indented and not inside and not previous.strip():
            found += ["::", ""]
            inside = True
        if line.strip() and not indented:
            inside = False
        found.append(line if inside else _escaped(line))
        previous = line
    return found


def _escaped(line):
    """The line with what would be markup outside of backticks taken literally."""
    field = FIELD.match(line)
    head, rest = field.groups() if field else ("", line)
    parts = CODE.split(rest)
    parts[::2] = [MARKUP.sub(lambda mark: "\\" + mark[0], part) for part in parts[::2]]
    return head + "".join(parts)


def skip(app, what, name, obj, would_skip, options):
    """Leave out what scikit-learn adds to route metadata, and what is for this package alone."""
    routing = re.fullmatch(r"set_\w+_request|get_metadata_routing", name)
    return True if routing or name in _protocol() else None


@cache
def _protocol():
    machines = [getattr(largemargin, name) for name in largemargin.__all__]
    return {"PROTOCOL", *(name for one in machines for name in getattr(one, "PROTOCOL", ()))}


def setup(app: Sphinx):
    app.connect("autodoc-process-docstring", to_markup, priority=400)
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
