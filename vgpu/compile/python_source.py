"""The text of Python functions: a kernel's lines, and those of the device functions beside it."""

from __future__ import annotations

import contextlib
import inspect
import linecache
from collections.abc import Iterator
from types import CodeType
from typing import Any


def source_of(py_function: Any) -> tuple[list[str], int]:
    """The source lines of a function and the number of the first; no lines when Python does not have them."""
    try:
        lines, first = inspect.getsourcelines(py_function)
    except (OSError, TypeError):
        return [], py_function.__code__.co_firstlineno
    return [line.rstrip("\n") for line in lines], max(first, 1)


def source_with_callees(py_function: Any) -> tuple[list[str], int]:
    """The lines from the first to the last of a kernel and of the device functions beside it in its file."""
    own, first = source_of(py_function)
    if not own:
        return own, first
    low, high = first, first + len(own)
    for callee in callees(py_function, {py_function.__code__}):
        lines, start = source_of(callee)
        low, high = min(low, start), max(high, start + len(lines))
    lines = linecache.getlines(py_function.__code__.co_filename)
    if len(lines) < high - 1:
        return own, first
    return [line.rstrip("\n") for line in lines[low - 1 : high - 1]], low


def callees(py_function: Any, seen: set[CodeType]) -> Iterator[Any]:
    """The device functions of the same file that a function calls, and those that these call."""
    for value in _named(py_function):
        callee = getattr(value, "py_func", None)
        code = getattr(callee, "__code__", None)
        if code is None or code in seen or code.co_filename != py_function.__code__.co_filename:
            continue
        seen.add(code)
        yield callee
        yield from callees(callee, seen)


def _named(py_function: Any) -> Iterator[Any]:
    """The values of a function's names, as far as they are defined yet: in a recursive function some may not be."""
    for cell in py_function.__closure__ or ():
        with contextlib.suppress(ValueError):
            yield cell.cell_contents
    known = py_function.__globals__
    yield from (known[name] for name in py_function.__code__.co_names if name in known)
