"""Objects of the engine's own dataclasses as bytes, for the disk cache.

The format is pickle's, read in such a way that a file can name nothing but these classes: it can't call a function.
"""

from __future__ import annotations

import dataclasses
import functools
import gc
import io
import pickle
from typing import Any

PACKAGE = __name__.partition(".")[0]


def dump(value: object) -> bytes:
    """The bytes of dataclasses of this package, and of what they hold of Python's plain types.

    A dataclass is made again from its fields. Raises TypeError for one that takes other arguments, and RecursionError
    for objects that refer to one another in a long chain.
    """
    file = io.BytesIO()
    _Writer(file, pickle.HIGHEST_PROTOCOL).dump(value)
    return file.getvalue()


def load(data: bytes) -> Any:
    """The objects of such bytes. Raises pickle.UnpicklingError for bytes that name anything else."""
    collects = gc.isenabled()
    gc.disable()  # thousands of objects, none of which is garbage, make it search all others again and again
    try:
        return _Reader(io.BytesIO(data)).load()
    finally:
        if collects:
            gc.enable()


class _Writer(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        names = _fields(value.__class__)
        return NotImplemented if names is None else (value.__class__, tuple([getattr(value, name) for name in names]))


@functools.cache
def _fields(kind: type) -> tuple[str, ...] | None:
    """The names of a dataclass's fields, in the order in which it takes them; None for other classes."""
    if not dataclasses.is_dataclass(kind):
        return None
    fields = dataclasses.fields(kind)
    if hasattr(kind, "__post_init__") or not all(field.init and not field.kw_only for field in fields):
        raise TypeError(f"{kind.__name__} takes other arguments than its fields: it can't be kept as a record")
    return tuple(field.name for field in fields)


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> type:
        found = super().find_class(module, name) if module.partition(".")[0] == PACKAGE else None
        if not (isinstance(found, type) and dataclasses.is_dataclass(found)):
            raise pickle.UnpicklingError(f"{module}.{name} is no record of {PACKAGE}")
        return found
