"""Numba's compile errors in the user's terms: one line and the usual fix, without pages of candidates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from vgpu.base.errors import CompileError, VirtualGPUError
from vgpu.compile.python_complaints import TABLE
from vgpu.compile.python_source import source_of

# Once something was compiled for the CPU, Numba tries the CPU's code for NumPy too, and complains of that as well.
_OWN_TROUBLE = re.compile(r'Untyped global name [^\n]*\s+File "[^"]*\bnumba(?:_cuda)?[/\\][^"]*"')


def explain(error: Exception, py_function: Any, arguments: Sequence[Any] = ()) -> VirtualGPUError:
    """A `CompileError` for an error of Numba (its `original`); an error of the virtual GPU is returned unchanged."""
    if isinstance(error, VirtualGPUError):
        return error
    text = _OWN_TROUBLE.sub("", f"{type(error).__name__}: {error}")
    what, remedy, groups = _match(text)
    line = _line(error, text, py_function, groups)
    name = py_function.__name__
    where = f"`{name}`" if line is None else f"`{name}`, line {line}"
    shown = f"\n\n  {line:>4} | {source}" if line is not None and (source := _text(py_function, line)) else ""
    types = f"\nArgument types: ({', '.join(map(str, arguments))})" if arguments else ""
    failure = CompileError(f"{where}: {what}{shown}\n\n{remedy}{types}", line)
    failure.original = error
    failure.__suppress_context__ = True
    return failure


def _match(text: str) -> tuple[str, str, list[str]]:
    for pattern, what, remedy in TABLE:
        if match := re.search(pattern, text, re.DOTALL):
            groups = [_plain(group or "") for group in match.groups()]
            return what.format(*groups), remedy.format(*groups), groups
    rows = [
        row for row in text.splitlines() if row.strip() and "Failed in" not in row and not row.startswith("During:")
    ]
    return (
        f"Numba cannot compile it: {_plain(rows[0] if rows else text)}",
        "See Numba's list of supported features.",
        [],
    )


def _plain(group: str) -> str:
    """Numba's spelling of a type, without the parts that mean nothing to a user."""
    group = re.sub(r"Literal\[(\w+)\]\((.*?)\)", r"\1 \2", group)
    return re.sub(r"<iv=.*?>|\s+", " ", group).strip()


# Constructs that Numba refuses without saying where: they are looked for in the source.
_CONSTRUCTS = (
    ("cannot return a value", r"\breturn\s+(?!None\b)\S"),
    ("`with`", r"^\s*with\b"),
    ("`import`", r"^\s*(import|from)\b"),
    ("`yield`", r"\byield\b"),
    ("`try`", r"^\s*try\b"),
    ("assign to a global", r"^\s*global\b"),
)


def _line(error: Exception, text: str, py_function: Any, groups: Sequence[str]) -> int | None:
    what = _match(text)[0]
    for sign, pattern in _CONSTRUCTS:
        if sign in what and (line := line_with(py_function, pattern)):
            return line
    return (
        _from_frames(error, py_function)
        or _from_text(text)
        or (groups and line_with(py_function, rf"\b{re.escape(groups[0])}\b"))
        or None
    )


def _from_frames(error: Exception, py_function: Any) -> int | None:
    """The innermost line of the user's file that Numba was compiling when it failed."""
    filename, found = py_function.__code__.co_filename, None
    walk = error.__traceback__
    while walk is not None:
        values = walk.tb_frame.f_locals
        for name in ("loc", "inst", "stmt", "expr", "self"):
            value = values.get(name)
            location: Any = getattr(value, "loc", value)
            if getattr(location, "filename", None) == filename and isinstance(getattr(location, "line", None), int):
                found = location.line
        walk = walk.tb_next
    return found


def _from_text(text: str) -> int | None:
    match = re.search(r'File "[^"]*", line (\d+):', text) or re.search(r" at \S+ \((\d+)\)", text)
    return int(match[1]) if match else None


def line_with(py_function: Any, pattern: str) -> int | None:
    """The first line of a function whose code, comments apart, has the pattern."""
    lines, first = source_of(py_function)
    code = ("" if line.lstrip().startswith("@") else line.split("#")[0] for line in lines)
    return next((first + i for i, line in enumerate(code) if re.search(pattern, line)), None)


def _text(py_function: Any, line: int) -> str:
    import linecache

    return linecache.getline(py_function.__code__.co_filename, line).strip()
