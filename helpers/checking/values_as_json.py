"""Values as JSON and back: what functions of exercises are given and return, without pickles.

Numbers, texts, None, lists, tuples, dictionaries with texts as keys, NumPy's arrays and scalars, rows of the table of
GPUs. JSON has no NaN and no infinity, so those go by name. What is read is built from these kinds alone: no class of
whoever wrote it comes back, so nothing that claims to equal everything.
"""

from __future__ import annotations

import base64
import math
import zlib

import numpy as np

from vgpu.hardware import gpus

_KINDS = "biuf"  # of NumPy's types: truth, whole numbers, fractions
MOST_BYTES = 16_000_000  # of one array
DEEPEST = 16


class NotPlain(TypeError):
    """A value that does not go through JSON; the message says what does."""


def plain(value, depth: int = 0) -> object:
    """`value` as JSON holds it: numbers, texts and lists as they are, everything else as an object of one key."""
    if depth > DEEPEST:
        raise NotPlain(f"a value that is nested more than {DEEPEST} deep")
    if value is None or isinstance(value, str) or type(value) in (bool, int):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, list):
        return [plain(each, depth + 1) for each in value]
    if type(value) is tuple:
        return {"tuple": [plain(each, depth + 1) for each in value]}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {key: plain(each, depth + 1) for key, each in value.items()}}
    if isinstance(value, gpus.GPU):
        return {"gpu": value.name}
    if hasattr(value, "__cuda_array_interface__") and hasattr(value, "get"):
        value = value.get()
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in _KINDS:
        return {"array": value.dtype.str, "shape": list(value.shape), "data": _text(np.asarray(value)),
                "scalar": isinstance(value, np.generic)}  # fmt: skip
    raise NotPlain(
        f"a {type(value).__name__}; a function of an exercise returns numbers, texts, lists, tuples, dictionaries, or "
        "NumPy arrays of numbers"
    )


def unplain(data: object, depth: int = 0) -> object:
    """The value again; raises NotPlain for what `plain` never makes."""
    if depth > DEEPEST:
        raise NotPlain(f"a value that is nested more than {DEEPEST} deep")
    if data is None or isinstance(data, str | bool | int | float):
        return data
    if isinstance(data, list):
        return [unplain(each, depth + 1) for each in data]
    if isinstance(data, dict):
        for kind, read in _READERS.items():
            if kind in data:
                return read(data, depth + 1)
    raise NotPlain(f"{str(data)[:60]} stands for no value")


def _text(array: np.ndarray) -> str:
    return base64.b64encode(zlib.compress(np.ascontiguousarray(array).tobytes(), 1)).decode()


def _bytes(text: str, nbytes: int) -> bytes:
    """So many bytes, and no more, however much the text claims to hold."""
    inflate = zlib.decompressobj()
    found = inflate.decompress(base64.b64decode(text, validate=True), nbytes + 1)
    if len(found) != nbytes:
        raise ValueError
    return found


def _array(data: dict, _depth: int):
    shape, dtype = data.get("shape"), data["array"]
    sized = isinstance(shape, list) and len(shape) <= 4 and all(type(n) is int and 0 <= n <= MOST_BYTES for n in shape)
    if not sized or not isinstance(dtype, str) or len(dtype) > 4 or not isinstance(data.get("data"), str):
        raise NotPlain("an array has a short dtype, a shape of at most four numbers, and its data")
    try:
        kind = np.dtype(dtype)
        if kind.kind not in _KINDS or math.prod(shape) * kind.itemsize > MOST_BYTES:
            raise ValueError
        found = np.frombuffer(_bytes(data["data"], math.prod(shape) * kind.itemsize), kind).reshape(shape).copy()
    except (TypeError, ValueError, zlib.error):
        raise NotPlain("an array whose data do not fit its dtype and shape") from None
    return found[()] if data.get("scalar") is True and not shape else found


def _float(data: dict, _depth: int) -> float:
    if data["float"] not in ("nan", "inf", "-inf"):
        raise NotPlain("a number by name is nan, inf or -inf")
    return float(data["float"])


def _tuple(data: dict, depth: int) -> tuple:
    if not isinstance(data["tuple"], list):
        raise NotPlain("a tuple has a list of values")
    return tuple(unplain(each, depth) for each in data["tuple"])


def _dict(data: dict, depth: int) -> dict:
    if not isinstance(data["dict"], dict):
        raise NotPlain("a dictionary has keys and values")
    return {key: unplain(each, depth) for key, each in data["dict"].items()}


def _gpu(data: dict, _depth: int):
    try:
        return gpus.find(str(data["gpu"]))
    except KeyError:
        raise NotPlain(f"no GPU is called {str(data['gpu'])[:40]!r}") from None


_READERS = {"tuple": _tuple, "dict": _dict, "array": _array, "float": _float, "gpu": _gpu}
