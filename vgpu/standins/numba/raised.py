"""Exceptions that kernels of `@cuda.jit(debug=True)` raise: noted on the device by Numba's code, raised here.

Such a kernel has variables for an error code and for the thread that came first. Numba reads them after each launch
and raises the exception that the code stands for, with its own words before the message; here the user's line
follows. Without `debug=True` a thread that raises ends, and nobody hears of it.
"""

from __future__ import annotations

import ast
import ctypes
import os
import textwrap

from vgpu.base import tracebacks
from vgpu.compile.python import CompiledPython
from vgpu.launch import launch

_WORDS = ("errcode", *(f"{index}{axis}" for index in ("tid", "ctaid") for axis in "xyz"))


class Raised:
    """The error code of one compiled kernel, and what it stands for."""

    def __init__(self, kernel: launch.Kernel, compiled: CompiledPython):
        self._kernel, self._compiled = kernel, compiled
        addresses = {word: kernel.module.address(f"{kernel.entry}__{word}__") for word in _WORDS}
        self._words = {word: ctypes.c_int32.from_address(address) for word, address in addresses.items()}

    def clear(self) -> None:
        """Forget what an earlier launch may have left."""
        self._words["errcode"].value = 0

    def check(self) -> None:
        """Raise what a thread of the last launch has raised, if one has; the error knows `line`, `thread`, `block`."""
        code = self._words["errcode"].value
        if not code:
            return
        self.clear()
        thread, block = (tuple(self._words[index + axis].value for axis in "xyz") for index in ("tid", "ctaid"))
        kind, arguments, place = self._compiled.exception(code)
        said = f"tid={list(thread[::-1])} ctaid={list(block[::-1])}"
        if place is not None:
            said = f"In function {place[0]!r}, file {os.path.abspath(place[1])}, line {place[2]}, {said}"
        first, *others = arguments or ("",)
        said += f": {first}" if arguments else ""
        line = place[2] if place is not None else None
        if kind is ZeroDivisionError and line is None:  # of these Numba keeps no place
            line = next(iter(places), None) if len(places := self._divisions()) == 1 else None
        error = kind(f"{said}\n  {self._told(kind, thread, block, line)}", *others)
        error.line, error.thread, error.block = line, thread, block
        tracebacks.shorten(error)
        raise error

    def _told(self, kind, thread, block, line: int | None) -> str:
        who = f"thread {_short(thread)} of block {_short(block)}"
        if kind is SystemError and line is None:
            return (
                f"{who} raised an exception in a device function, whose kind Numba does not keep: call the function's "
                "py_func on the host, or raise in the kernel itself."
            )
        text = self._kernel.line_text(line)
        at = f" at line {line}" + (f": {text}" if text else "") if line is not None else ""
        if kind is ZeroDivisionError and not at and (places := self._divisions()):
            at = f" at one of the lines {', '.join(map(str, sorted(places)))}"
        # Numba counts the exceptions of each function anew, and keeps the numbers of the kernel's own only.
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


def _short(index: tuple[int, int, int]) -> str:
    used = max((axis for axis in range(3) if index[axis]), default=0) + 1
    return "(" + ", ".join(map(str, index[:used])) + ")"
