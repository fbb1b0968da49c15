"""CuTe DSL's kernels with the user's names and lines."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from vgpu.base.errors import VirtualGPUError
from vgpu.launch import launch

_FILE = re.compile(r'^\s*\.file\s+1 "([^"]*)"', re.MULTILINE)
_ENTRY = re.compile(r"(?=^\.visible \.entry )", re.MULTILINE)
_NAME = re.compile(r"\.visible \.entry (\S+?)\(")
_LINE = re.compile(r"^\s*\.loc\s+1 (\d+) ", re.MULTILINE)


@lru_cache(maxsize=256)
def loaded(ptx: str) -> dict[str, launch.Kernel]:
    """The kernels of a PTX text by entry: each has the name of its function, and the lines of the file it stands in."""
    found = _FILE.search(ptx)
    if found is None:
        raise VirtualGPUError("CuTe DSL's compiler has written no PTX, or none with line information")
    lines = tuple(line.rstrip() for line in linecache.getlines(found[1]))
    functions = {first: (name, last) for first, last, name in _functions("\n".join(lines))}
    head, *parts = _ENTRY.split(ptx)
    names = {}
    for at, part in enumerate(parts):
        entry, first = _NAME.match(part), _LINE.search(part)
        if entry is None or first is None or int(first[1]) not in functions:
            continue
        names[entry[1]], last = functions[int(first[1])]
        # The function's end has the next line that isn't empty, which belongs to something else.
        below = next((number for number in range(last + 1, len(lines) + 1) if lines[number - 1].strip()), last + 1)
        parts[at] = re.sub(rf"(\.loc\s+1 ){below} 0$", rf"\g<1>{last} 0", part, flags=re.MULTILINE)
    kernels = launch.load("".join([head, *parts]), language="cute", filename=found[1], source=lines)
    return {entry: replace(kernel, name=names.get(entry, entry)) for entry, kernel in kernels.items()}


def _functions(source: str) -> Iterator[tuple[int, int, str]]:
    """First line, last line and name of each function; the first decorator is its first line."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # a notebook's cell with a magic
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            yield first, node.end_lineno or first, node.name
