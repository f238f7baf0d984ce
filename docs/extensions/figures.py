"""`.. figures::` shows three numbers of the first page, each with its date and its source."""

import json
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).parents[2]
TIMES = ROOT / "benchmarks" / "results" / "readme.json"
ERRORS = ROOT / "docs" / "reproduction" / "freund-schapire.json"

BITS = (
    "0 bits",
    "of a model depend on the number of threads or on the memory that a fit may use. The tests "
    "compare models bit by bit.",
)


class Figures(SphinxDirective):
    def run(self):
        times, errors = (json.loads(path.read_text()) for path in (TIMES, ERRORS))
        for path in (TIMES, ERRORS):
            self.env.note_dependency(str(path))
        box = nodes.container(classes=["figures"])
        for number, text in (time_to_fit(times), error_on_mnist(errors), BITS):
            one = nodes.container()
            one += [nodes.paragraph(number, number), nodes.paragraph(text, text)]
            box += one
        return [box]


def time_to_fit(results: dict) -> tuple[str, str]:
    """The fit of the largest support vector machine beside scikit-learn's, as last measured."""
    run = results["measured"] or results["earlier"]
    figure = run["figures"].get("svm/gaussian-60000/fit")
    if figure is None or "scikit-learn" not in figure["peers"]:
        run = results["earlier"]
        figure = run["figures"]["svm/gaussian-60000/fit"]
    text = (
        "to train a gaussian SVC on the 60,000 images of MNIST, where scikit-learn takes "
        f"{figure['peers']['scikit-learn']:.0f} s. Measured on "
        f"{figure.get('date') or run['dates'][-1]}, on {run['cores']} cores of an "
        f"{run['processor']}."
    )
    return f"{figure['ours']:.1f} s", text.replace(" s. ", "\N{NO-BREAK SPACE}s. ")


def error_on_mnist(results: dict) -> tuple[str, str]:
    """The vote after ten epochs at degree 4, as the reproduction of the paper measured it."""
    table = next(one for one in results["tables"] if one["id"] == "table1")
    group = next(one for one in table["groups"] if one["title"] == "d = 4")
    row = next(one for one in group["rows"] if one["name"] == "Vote")
    cell = row["cells"][table["columns"].index("10")]
    text = (
        "test error of the voted perceptron on MNIST after ten epochs, degree 4, the mean of "
        f"{results['settings']['permutations']} runs. Measured on {results['dates'][-1]}."
    )
    return f"{cell['ours']:.2f} %", text


def setup(app: Sphinx):
    app.add_directive("figures", Figures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
