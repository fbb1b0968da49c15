"""Exceptions of kernels under `@cuda.jit(debug=True)`: Numba's code stores them on the device; they are raised here.

Such a kernel has variables for an error code and for the first thread that raised. Numba reads them after each launch
and raises the exception that the code stands for, with its own prefix before the message; here the user's line follows.
Without `debug=True` a thread that raises ends silently.
"""

from __future__ import annotations

import ast
import ctypes
import os
import textwrap
from typing import TYPE_CHECKING

from vgpu.base import tracebacks

if TYPE_CHECKING:
    from vgpu.compile.python import CompiledPython
    from vgpu.launch import launch

Index = tuple[int, ...]
_WORDS = ("errcode", *(f"{index}{axis}" for index in ("tid", "ctaid") for axis in "xyz"))


class KernelExceptions:
    """The error code of one compiled kernel, and the exceptions that it stands for."""

    def __init__(self, kernel: launch.Kernel, compiled: CompiledPython):
        self._kernel, self._compiled = kernel, compiled
        addresses = {word: kernel.module.address(f"{kernel.entry}__{word}__") for word in _WORDS}
        self._words = {word: ctypes.c_int32.from_address(address) for word, address in addresses.items()}

    def clear(self) -> None:
        """Reset the error code of an earlier launch."""
        self._words["errcode"].value = 0

    def check(self) -> None:
        """Raise the exception of the last launch, if there is one, with the attributes `line`, `thread`, `block`."""
        code = self._words["errcode"].value
        if not code:
            return
        self.clear()
        thread, block = (tuple(self._words[index + axis].value for axis in "xyz") for index in ("tid", "ctaid"))
        assert self._compiled.exception is not None, "the kernel is compiled with debug=True"
        kind, arguments, place = self._compiled.exception(code)
        message = f"tid={list(thread[::-1])} ctaid={list(block[::-1])}"
        if place is not None:
            message = f"In function {place[0]!r}, file {os.path.abspath(place[1])}, line {place[2]}, {message}"
        first, *others = arguments or ("",)
        message += f": {first}" if arguments else ""
        line = place[2] if place is not None else None
        if kind is ZeroDivisionError and line is None:  # Numba doesn't keep the line of these
            line = next(iter(lines), None) if len(lines := self._divisions()) == 1 else None
        error = kind(f"{message}\n  {self._description(kind, thread, block, line)}", *others)
        error.line, error.thread, error.block = line, thread, block
        tracebacks.shorten(error)
        raise error

    def _description(self, kind: type[BaseException], thread: Index, block: Index, line: int | None) -> str:
        who = f"thread {_short(thread)} of block {_short(block)}"
        if kind is SystemError and line is None:
            return (
                f"{who} raised an exception in a device function, whose kind Numba does not keep: call the function's "
                "py_func on the host, or raise in the kernel itself."
            )
        text = self._kernel.line_text(line)
        at = f" at line {line}" + (f": {text}" if text else "") if line is not None else ""
        if kind is ZeroDivisionError and not at and (lines := self._divisions()):
            at = f" at one of the lines {', '.join(map(str, sorted(lines)))}"
        # Numba numbers the exceptions of each function from 1, and keeps only those of the kernel itself.
        doubt = " (or another, in a device function that it calls: Numba cannot tell)" if self._compiled.calls else ""
        return f"{who} raised {kind.__name__}{at}{doubt}"

    def _divisions(self) -> set[int]:
        """The lines of the source that divide."""
        try:
            tree = ast.parse(textwrap.dedent("\n".join(self._compiled.source)))
        except SyntaxError:
            return set()
        dividing = (ast.Div, ast.FloorDiv, ast.Mod)
        return {
            node.lineno + self._compiled.first_line - 1
            for node in ast.walk(tree)
            if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, dividing)
        }


def _short(index: Index) -> str:
    used = max((axis for axis in range(3) if index[axis]), default=0) + 1
    return "(" + ", ".join(map(str, index[:used])) + ")"
