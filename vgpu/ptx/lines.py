"""Source lines of instructions."""

from __future__ import annotations

from collections.abc import Collection

from vgpu.ptx import Function, Instruction, Location, Module


def line_table(module: Module, function: Function, filename: str | None = None) -> tuple[int | None, ...]:
    """The user's line of every statement of a function's body (labels get the one before), None where
    unknown.

    Code inlined from a header counts for the user's line that called it. Line 0 is the compiler's way of
    saying "made up": such an instruction belongs to the line before it. `filename` is the user's file as
    `.file` writes it; without it, it is the file of the function's first location.
    """
    files = {index for index, name in module.files.items() if name == filename}
    found, current = [], None
    for statement in function.body or ():
        if isinstance(statement, Instruction) and statement.location is not None:
            if not files and filename is None:
                files = {_outermost(statement.location).file}
            current = line_of(statement.location, files) or current
        found.append(current)
    first = next((line for line in found if line is not None), None)
    return tuple(first if line is None else line for line in found)


def line_of(location: Location | None, files: Collection[int]) -> int | None:
    """The innermost position within the user's files."""
    while location is not None and not (location.file in files and location.line):
        location = location.inlined_at
    return location.line if location is not None else None


def _outermost(location: Location) -> Location:
    while location.inlined_at is not None:
        location = location.inlined_at
    return location
