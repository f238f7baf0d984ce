"""Formulas as MathML, which browsers draw by themselves: no script, no network.

The label of a formula is the number that it has in its paper, and is shown as such.
"""

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.application import Sphinx


def _inline(writer, node):
    writer.body.append(latex2mathml.tex2mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def _block(writer, node):
    label = node.get("label") or ""
    number = f'<span class="eqno">({label})</span>' if label else ""
    formula = latex2mathml.tex2mathml(node.astext(), as_block=True)
    # whoever has no mouse scrolls a long formula by its keys, once it has the focus
    scrolled = f'<div class="formula" tabindex="0">{formula}</div>'
    writer.body.append(f'<div class="math">{scrolled}{number}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx):
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
