"""What the theme leaves out for those who read with their ears or without a mouse."""

from sphinx.application import Sphinx

# Code and tables scroll on a narrow screen: by keys too, once they can have the focus.
FOCUSED = {
    '<div class="highlight"><pre>': '<div class="highlight"><pre tabindex="0">',
    '<div class="table-wrapper ': '<div tabindex="0" class="table-wrapper ',
}


def complete(app, pagename, templatename, context, doctree):
    """The captions of the contents are headings, and a heading has a level."""
    for plain, focused in FOCUSED.items():
        context["body"] = context.get("body", "").replace(plain, focused)
    tree = context.get("furo_navigation_tree")
    if tree:
        context["furo_navigation_tree"] = tree.replace(
            'role="heading"', 'role="heading" aria-level="2"'
        )


def setup(app: Sphinx):
    app.connect("html-page-context", complete, priority=900)  # after the theme
    return {"parallel_read_safe": True, "parallel_write_safe": True}
