"""Values as JSON and back: what functions of exercises are given and return, without pickles.

Numbers, texts, None, lists, tuples, dictionaries with texts as keys, NumPy's arrays and scalars, rows of the table of
GPUs. JSON has no NaN and no infinity, so those go by name. What is read is built from these kinds alone: no class of
whoever wrote it comes back, so nothing that claims to equal everything. `written` and `read` do the same for a
dataclass or a `Record`, whose types say what may stand where.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping
from dataclasses import is_dataclass
from functools import cache, reduce
from operator import or_
from types import GenericAlias, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
import numpy as np
from msgspec import Meta

from vgpu.hardware import gpus

_T = TypeVar("_T")
MOST_BYTES = 16_000_000  # of one array
DEEPEST = 16
MOST = 100_000  # items of a list
LONGEST_WORDS = 4_000

Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Number = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Words = Annotated[str, Meta(max_length=LONGEST_WORDS)]


class NotPlain(TypeError):
    """A value that does not go through JSON; the message says what does."""


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A JSON object that has these fields and no others."""


class _Array(Record, frozen=True):
    array: Annotated[str, Meta(pattern=r"^[<>|][biuf]\d\d?\Z")]  # truth, whole numbers, fractions
    shape: Annotated[tuple[Annotated[int, Meta(ge=0, le=MOST_BYTES)], ...], Meta(max_length=4)]
    data: bytes
    scalar: bool


def plain(value: Any, depth: int = 0) -> object:
    """`value` as JSON holds it: numbers, texts and lists as they are, everything else as an object that names it."""
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
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biuf":
        data = zlib.compress(np.ascontiguousarray(value).tobytes(), 1)
        return msgspec.to_builtins(_Array(value.dtype.str, value.shape, data, isinstance(value, np.generic)))
    raise NotPlain(
        f"a {type(value).__name__}; a function of an exercise returns numbers, texts, lists, tuples, dictionaries, or "
        "NumPy arrays of numbers"
    )


def unplain(data: object, depth: int = 0) -> Any:
    """The value again; raises NotPlain for what `plain` never makes."""
    if depth > DEEPEST:
        raise NotPlain(f"a value that is nested more than {DEEPEST} deep")
    match data:
        case None | str() | bool() | int():
            return data
        case float() if math.isfinite(data):
            return data
        case list():
            return [unplain(each, depth + 1) for each in data]
        case {"tuple": list(held), **rest} if not rest:
            return tuple(unplain(each, depth + 1) for each in held)
        case {"dict": dict(held), **rest} if not rest:
            return {key: unplain(each, depth + 1) for key, each in held.items()}
        case {"float": "nan" | "inf" | "-inf" as name, **rest} if not rest:
            return float(name)
        case {"gpu": str(name), **rest} if not rest and name in gpus.GPUS:
            return gpus.GPUS[name]
        case {"array": _}:
            return _array(read(data, _Array, NotPlain))
    what = f"an object of {', '.join(map(str, data))[:60]!r}" if isinstance(data, dict) else f"a {type(data).__name__}"
    raise NotPlain(f"{what} stands for no value")


def _array(data: _Array) -> Any:
    try:
        kind = np.dtype(data.array)
        nbytes = math.prod(data.shape) * kind.itemsize
        if nbytes > MOST_BYTES or (data.scalar and data.shape):
            raise ValueError
        found = np.frombuffer(inflated(data.data, nbytes), kind).reshape(data.shape).copy()
        if found.nbytes != nbytes:
            raise ValueError
    except (TypeError, ValueError):
        raise NotPlain("an array whose data do not fit its dtype and shape") from None
    return found[()] if data.scalar else found


def inflated(data: bytes, most: int) -> bytes:
    """What zlib compressed, however much a few bytes claim to hold; ValueError where that is more than `most`."""
    inflate = zlib.decompressobj()
    try:
        found = inflate.decompress(data, most + 1)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if len(found) > most or not inflate.eof:
        raise ValueError(f"it has more than {most:,} bytes, or is cut off")
    return found


# --- records and dataclasses ------------------------------------------------------------------------------------------


def written(thing: object) -> dict:
    """A Record or a dataclass as JSON: an object with its fields, and arrays in it as `plain` writes them."""
    return msgspec.to_builtins(thing, str_keys=True, enc_hook=lambda v: dict(v) if isinstance(v, Mapping) else plain(v))


def read(data: object, kind: type[_T], error: type[Exception], bounds: type | None = None) -> _T:
    """`data`, of unknown origin, as `kind`: a Record or a dataclass. bounds: what `bounded` makes of it.

    Nothing is converted but lists to tuples, and texts to the bytes, arrays and whole keys that JSON can't hold. Raises
    `error`, which says where something else stands than what may.
    """
    try:
        described: type = kind  # of a type[_T] mypy doesn't see that it can be hashed
        found: Any = msgspec.convert(data, bounds or bounded(described), str_keys=True, dec_hook=_unplain)
        return msgspec.convert(found, kind, from_attributes=True, dec_hook=_unplain)
    except (msgspec.ValidationError, AttributeError, RecursionError, TypeError, ValueError) as wrong:
        raise error(f"this is no {kind.__name__.lstrip('_')}: {wrong}"[:300]) from None


def _unplain(kind: type, held: object) -> object:
    return held if isinstance(held, kind) else unplain(held)


@cache
def bounded(kind: type, /, **exact: Any) -> type[msgspec.Struct]:
    """A Record with the fields of `kind`, where numbers count, and no text or sequence is long.

    exact: other types for some of the fields. All must be there, whatever their defaults.
    """
    hints = get_type_hints(kind, include_extras=True) | exact
    return msgspec.defstruct(kind.__name__, [(name, _bounded(hint)) for name, hint in hints.items()], bases=(Record,))


def _bounded(hint: Any) -> Any:
    origin, inner = get_origin(hint), get_args(hint)
    if origin is tuple:
        sequence = GenericAlias(tuple, tuple(map(_bounded, inner)))
        return Annotated[sequence, Meta(max_length=MOST)] if Ellipsis in inner else sequence
    if origin in (Union, UnionType):
        return reduce(or_, map(_bounded, inner))
    if isinstance(hint, type) and (is_dataclass(hint) or issubclass(hint, Record)):
        return bounded(hint)
    return {int: Count, str: Words}.get(hint, hint)
