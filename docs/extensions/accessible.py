"""What the theme leaves out for those who read with their ears or without a mouse."""

from sphinx.application import Sphinx


def complete(app, pagename, templatename, context, doctree):
    """The captions of the contents are headings, and a heading has a level."""
    tree = context.get("furo_navigation_tree")
    if tree:
        context["furo_navigation_tree"] = tree.replace(
            'role="heading"', 'role="heading" aria-level="2"'
        )


def setup(app: Sphinx):
    app.connect("html-page-context", complete, priority=900)  # after the theme
    return {"parallel_read_safe": True, "parallel_write_safe": True}
