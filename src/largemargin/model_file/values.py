"""Parameters, notes and class labels as JSON and back.

Parameters and notes are numbers, text, kernels, base learners and states of random generators;
labels are numbers or text, of the type that they had.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import fields
from numbers import Integral
from typing import Any

import numpy as np

from largemargin.kernels.choosing import WithConstant, make_kernel
from largemargin.kernels.engine import LARGEST_NUMBER
from largemargin.kernels.functions import KERNELS, Kernel
from largemargin.model_file.registry import ADDED, BASE_LEARNERS, find_entry
from largemargin.runtime.showing import shown

_DEEPEST = 32  # levels of lists and dicts that info may have, at most
_LARGEST_INT = 2**63  # integers are below this: what fits no array is no parameter either
# types of labels
_NUMBERS = re.compile(r"[<>|]([iu][1248]|f[248]|b1)")
_DTYPES = re.compile(r"(u?int(8|16|32|64)|float(16|32|64))")  # a type as a parameter
_TEXT = re.compile(r"[<>]U([0-9]{1,9})")
_OBJECTS = "object"
_STRINGS = "string"  # NumPy's own type for text of any length
_LARGEST_TEXT = 2**28  # bytes of text labels, at most: a short text may claim to be a very long one


def encode(value: Any, what: str, depth: int = 0) -> Any:
    """A value as JSON; `what` names it in errors.

    What JSON cannot say is a dict with one key that begins with "$".
    """
    if depth > _DEEPEST:
        raise ValueError(f"{what} is nested too deeply to be saved")
    if value is None or isinstance(value, str | bool | np.bool_):
        return value if value is None or isinstance(value, str) else bool(value)
    if isinstance(value, Integral):
        if not -_LARGEST_INT <= int(value) < _LARGEST_INT:
            raise ValueError(
                f"{what} is {value}, which is too large to be saved: use less than 2**63"
            )
        return int(value)
    if isinstance(value, float | np.floating):
        number = float(value)
        return number if math.isfinite(number) else {"$float": repr(number)}
    if isinstance(value, Kernel):
        return {"$kernel": encode_kernel(value)}
    if isinstance(value, np.random.RandomState):
        return {"$random_state": _encode_random_state(value, what)}
    if isinstance(value, type) and issubclass(value, np.number):
        return {"$dtype": np.dtype(value).name}
    if isinstance(value, list | tuple):
        items = [encode(item, what, depth + 1) for item in value]
        return {"$tuple": items} if isinstance(value, tuple) else items
    if isinstance(value, Mapping):
        return _encode_mapping(value, what, depth)
    if callable(value):
        raise ValueError(
            f"{what} is the function {getattr(value, '__name__', repr(value))}, which is code and "
            "cannot be saved: use a kernel by name, or kernel='precomputed' with its values"
        )
    hint = ": use its tolist()" if isinstance(value, np.ndarray) else ": use a number or text"
    if isinstance(value, np.random.Generator):
        hint = ": use an integer seed"
    raise ValueError(f"{what} is a {type(value).__name__}, which cannot be saved{hint}")


def _encode_mapping(value: Mapping[Any, Any], what: str, depth: int) -> dict[str, Any]:
    for key in value:
        if not isinstance(key, str) or key.startswith("$"):
            raise ValueError(
                f"{what} has the key {shown(key)}: keys must be text that does not begin with $"
            )
    return {key: encode(item, what, depth + 1) for key, item in value.items()}


def encode_parameter(value: Any, what: str) -> Any:
    """`encode`, and for a dict such as class_weight any labels as keys, and a base learner as its
    class and parameters.
    """
    if hasattr(value, "get_params") and not isinstance(value, type):
        return {"$estimator": _encode_base_learner(value, what)}
    plain_keys = isinstance(value, Mapping) and all(
        isinstance(key, str) and not key.startswith("$") for key in value
    )
    if isinstance(value, Mapping) and not plain_keys:
        pairs = [
            [encode(key, f"a key of {what}"), encode(item, what)] for key, item in value.items()
        ]
        if not all(_is_key(key) for key, _ in pairs):
            raise ValueError(f"{what} has a key that is neither a finite number nor text")
        return {"$pairs": pairs}
    return encode(value, what)


def _encode_base_learner(estimator: Any, what: str) -> dict[str, Any]:
    entry = find_entry(estimator, BASE_LEARNERS)
    if entry is None:
        raise ValueError(
            f"{what} is a {type(estimator).__name__}, which is code and cannot be saved: use None, "
            f"for stumps, or {' or '.join(f'{name}()' for name in BASE_LEARNERS)}"
        )
    parameters = {
        key: encode(value, f"the {key} of {entry.name}")
        for key, value in estimator.get_params(deep=False).items()
    }
    return {"class": entry.name, "parameters": parameters}


def _decode_base_learner(state: Any, depth: int) -> Any:
    cls = BASE_LEARNERS[state["class"]].cls
    parameters = {key: decode(value, depth + 1) for key, value in state["parameters"].items()}
    parameters = {**ADDED.get(state["class"], {}), **parameters}
    if set(state) != {"class", "parameters"} or set(parameters) != set(cls().get_params()):
        raise ValueError("a base learner is not described by its class and parameters")
    return cls(**parameters)


def _is_key(value: Any) -> bool:
    return type(value) in (int, float, bool, str)


def decode(value: Any, depth: int = 0) -> Any:
    """What `encode` or `encode_parameter` was given; ValueError for what it cannot have made."""
    if depth > 2 * _DEEPEST:
        raise ValueError("values are nested too deeply")
    if isinstance(value, list):
        return [decode(item, depth + 1) for item in value]
    if isinstance(value, dict):
        tags = [key for key in value if key.startswith("$")]
        if not tags:
            return {key: decode(item, depth + 1) for key, item in value.items()}
        if len(value) == 1:
            return _decode_tagged(tags[0], value[tags[0]], depth)
        raise ValueError(f"there is a value with the keys {sorted(value)[:5]}")
    if isinstance(value, int) and not -_LARGEST_INT <= value < _LARGEST_INT:
        raise ValueError("there is an integer of more than 64 bits")
    return value


def _decode_tagged(tag: str, value: Any, depth: int) -> Any:
    if tag == "$float" and value in ("inf", "-inf", "nan"):
        return float(value)
    if tag == "$tuple" and isinstance(value, list):
        return tuple(decode(item, depth + 1) for item in value)
    if tag == "$pairs" and all(_is_key(key) for key, _ in value):
        return {key: decode(item, depth + 1) for key, item in value}
    if tag == "$kernel":
        return decode_kernel(value)
    if tag == "$estimator":
        return _decode_base_learner(value, depth)
    if tag == "$random_state":
        return _decode_random_state(value)
    if tag == "$dtype" and isinstance(value, str) and _DTYPES.fullmatch(value):
        return np.dtype(value).type
    raise ValueError(f"there is a value of the unknown kind {tag[:20]!r}")


def plain(value: Any) -> Any:
    """What `encode` made, for people to read: plain JSON but for infinities and NaN."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "$float" in value:
        return float(value["$float"])
    if "$random_state" in value:
        return "RandomState"
    if "$pairs" in value:
        return {str(key): plain(item) for key, item in value["$pairs"]}
    if "$estimator" in value:
        base = value["$estimator"]
        return {"class": base["class"], **plain(base["parameters"])}
    for tag in ("$tuple", "$kernel", "$dtype"):
        if tag in value:
            return plain(value[tag])
    return {key: plain(item) for key, item in value.items()}


def encode_kernel(kernel: Kernel) -> dict[str, Any]:
    """The name of a kernel and its numbers, gamma as it was worked out."""
    if isinstance(kernel, WithConstant):
        return {"name": "constant", "of": encode_kernel(kernel.kernel)}
    if KERNELS.get(kernel.name) is not type(kernel):
        raise ValueError(
            f"the kernel {shown(kernel)} is code and cannot be saved: use a kernel by name, or "
            "kernel='precomputed' with its values"
        )
    state = {key: encode(item, f"{key} of the kernel") for key, item in vars(kernel).items()}
    state = {"name": kernel.name, **state}
    if decode_kernel(state) != kernel:
        raise ValueError(
            f"the kernel {shown(kernel)} cannot be saved: its numbers must be plain ones"
        )
    return state


def decode_kernel(state: Any, depth: int = 0) -> Kernel:
    """The kernel that `encode_kernel` was given."""
    if not isinstance(state, dict) or depth > 4:
        raise ValueError("the description of a kernel is malformed")
    name = state.get("name")
    if name == "constant" and set(state) == {"name", "of"}:
        return WithConstant(decode_kernel(state["of"], depth + 1))
    if not isinstance(name, str) or name not in KERNELS:
        raise ValueError(f"there is no kernel called {str(name)[:40]!r}")
    kernel = KERNELS[name]
    wanted = [field.name for field in fields(kernel)]  # type: ignore[arg-type]
    numbers = {key: item for key, item in state.items() if key != "name"}
    if set(numbers) != set(wanted) or not all(type(n) in (int, float) for n in numbers.values()):
        raise ValueError(f"the {name} kernel needs the numbers {', '.join(wanted) or '(none)'}")
    if not all(abs(n) < LARGEST_NUMBER for n in numbers.values()):
        raise ValueError(f"the numbers of the {name} kernel are not all below {LARGEST_NUMBER:g}")
    in_order = [numbers[field] for field in wanted]
    return make_kernel(name, **dict(zip(kernel.parameters, in_order, strict=True)))


def _encode_random_state(random_state: np.random.RandomState, what: str) -> list[Any]:
    kind, keys, place, has_gauss, gauss = random_state.get_state(legacy=True)
    if kind != "MT19937":
        raise ValueError(f"{what} is a RandomState of {kind}: use an integer seed to save it")
    return [np.asarray(keys).tolist(), int(place), int(has_gauss), float(gauss)]


def _decode_random_state(state: Any) -> np.random.RandomState:
    keys, place, has_gauss, gauss = state
    sound = len(keys) == 624 and all(type(k) is int and 0 <= k < 2**32 for k in keys)
    sound &= type(place) is int and 0 <= place <= 624 and has_gauss in (0, 1)
    if not sound or type(gauss) is not float or not math.isfinite(gauss):
        raise ValueError("the state of a random generator is malformed")
    random_state = np.random.RandomState(0)
    random_state.set_state(("MT19937", np.array(keys, np.uint32), place, int(has_gauss), gauss))
    return random_state


def encode_labels(classes: np.ndarray) -> dict[str, Any]:
    """The labels as a list and the name of their type."""
    kind = classes.dtype.kind
    if kind == "O":
        strange = next((c for c in classes.tolist() if not isinstance(c, str)), None)
        if strange is not None:
            raise ValueError(
                f"the labels are Python objects such as {shown(strange)}, a "
                f"{type(strange).__name__}, which cannot be saved: use labels that are all numbers "
                "or all text"
            )
        return {"type": _OBJECTS, "values": [str(c) for c in classes]}
    if kind == "T" and classes.dtype == np.dtypes.StringDType():
        return {"type": _STRINGS, "values": [str(c) for c in classes]}
    name = classes.dtype.str
    if kind == "U" and classes.nbytes <= _LARGEST_TEXT:
        return {"type": name, "values": classes.tolist()}
    if not _NUMBERS.fullmatch(name) or not np.isfinite(classes).all():
        raise ValueError(
            f"labels of type {classes.dtype} cannot be saved: use integers, floats, bools or text"
        )
    # float16 and float32 are exact as Python floats, whose decimal form is exact too
    return {"type": name, "values": classes.tolist()}


def decode_labels(state: Any, least: int = 2) -> np.ndarray:
    """What `encode_labels` was given, checked: at least so many labels of one type, ascending."""
    if not isinstance(state, dict) or set(state) != {"type", "values"}:
        raise ValueError("there are no labels")
    name, values = state["type"], state["values"]
    if not isinstance(values, list) or not isinstance(name, str) or len(values) < least:
        raise ValueError("there are too few labels")
    if isinstance(values[0], str):
        classes = _decode_text(name, values)
    else:
        classes = _decode_numbers(name, values)
    ascending = classes[1:] > classes[:-1]
    if classes.shape != (len(values),) or not ascending.all() or classes.tolist() != values:
        raise ValueError("the labels are not in ascending order or not of their type")
    return classes


def _decode_text(name: str, values: list[Any]) -> np.ndarray:
    if not all(type(value) is str for value in values):
        raise ValueError("some labels are text and some are not")
    if name == _OBJECTS:
        return np.array(values, object)
    if name == _STRINGS:
        return np.array(values, np.dtypes.StringDType())
    size = _TEXT.fullmatch(name)
    if not size or not 4 * int(size[1]) * len(values) <= _LARGEST_TEXT:
        raise ValueError(f"the labels are text but their type is {name[:40]!r}")
    return np.array(values, np.dtype(name))


def _decode_numbers(name: str, values: list[Any]) -> np.ndarray:
    if not _NUMBERS.fullmatch(name):
        raise ValueError(f"labels cannot be of type {name[:40]!r}")
    dtype = np.dtype(name)
    wanted = {"i": int, "u": int, "f": float, "b": bool}[dtype.kind]
    if not all(type(value) is wanted for value in values):
        raise ValueError(f"some labels are not of type {name}")
    return np.array(values, dtype)
