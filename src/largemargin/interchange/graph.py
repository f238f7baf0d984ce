"""A graph of ONNX operators, built one operator at a time.

The operators are those of every runtime: products, sums, exponentials, comparisons. The names of
results are numbers in the order of their making, so that equal models give equal bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# The set of operators and the version of the file format that goes with it: of 2022, old enough for
# most runtimes and new enough for axes as inputs; and the first in which text can be compared.
PLAIN, WITH_TEXT = (17, 8), (19, 9)
LARGEST_FILE = 2**31 - 2**20  # protobuf holds less than two gigabytes


class Graph:
    """Operators and constants; a value is the name of what an operator gives."""

    def __init__(self, with_text: bool = False) -> None:
        self._opset, self._format = WITH_TEXT if with_text else PLAIN
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._bytes = 0

    def constant(self, values: Any) -> str:
        """An array of float64, int64 or text as a value."""
        from onnx import helper, numpy_helper

        name = f"constant{len(self._constants)}"
        if isinstance(values, list):  # of text
            encoded = [text.encode() for text in values]
            tensor = helper.make_tensor(name, 8, [len(encoded)], encoded)
            self._bytes += sum(map(len, encoded))
        else:
            array = np.ascontiguousarray(values)
            self._bytes += array.nbytes
            self.check_size()
            tensor = numpy_helper.from_array(array, name)
        self._constants.append(tensor)
        return name

    def check_size(self) -> None:
        """Refuse more than a file can hold."""
        if self._bytes > LARGEST_FILE:
            raise ValueError(
                f"its arrays take {self._bytes / 1e9:.1f} GB, and an ONNX file holds less than "
                "2 GB: use fewer support vectors (a budget) or fewer features"
            )

    def add(self, operator: str, *inputs: Any, output: str | None = None, **attributes: Any) -> str:
        """The result of an operator; inputs that are not values are constants."""
        from onnx import helper

        names = [one if isinstance(one, str) else self.constant(one) for one in inputs]
        name = output or f"value{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, names, [name], **attributes))
        return name

    def finish(self, inputs: list[Any], outputs: list[Any], facts: dict[str, str]) -> Any:
        """The whole as a `ModelProto`; inputs and outputs are (name, type, shape)."""
        from onnx import helper

        from largemargin import __version__

        self.check_size()
        graph = helper.make_graph(
            self._nodes,
            "largemargin",
            [helper.make_tensor_value_info(*one) for one in inputs],
            [helper.make_tensor_value_info(*one) for one in outputs],
            initializer=self._constants,
        )
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", self._opset)], ir_version=self._format,
            producer_name="largemargin", producer_version=__version__,
        )  # fmt: skip
        helper.set_model_props(model, facts)
        return model


def scalar(value: float) -> np.ndarray:
    return np.array(value, np.float64)
