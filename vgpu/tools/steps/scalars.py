"""The numbers that a kernel was launched with, by the user's names."""

from __future__ import annotations

import re
from types import CellType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    from vgpu.launch.launch import Kernel


def scalars(kernel: Any, args: tuple, meta: dict, loaded: Kernel) -> dict[str, int | float]:
    """The arguments (and for a Python kernel its globals and closure variables) that are plain numbers, by name.

    kernel, args, meta: as given to `profile`; loaded: the kernel that runs.
    """
    function = kernel
    while function is not None and not hasattr(function, "__code__"):
        function = getattr(function, "py_func", None) or getattr(function, "fn", None)
    found: dict = {}
    if function is not None:
        cells = (cell.cell_contents for cell in function.__closure__ or () if _filled(cell))
        surroundings = {**function.__globals__, **dict(zip(function.__code__.co_freevars, cells, strict=False))}
        found |= {name: surroundings[name] for name in function.__code__.co_names if name in surroundings}
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
    else:
        names = _declared("\n".join(loaded.source), loaded.name)
    found |= dict(zip(names, args, strict=False)) | meta
    return {name: number for name, value in found.items() if (number := _number(value)) is not None}


def _filled(cell: CellType) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _number(value: object) -> int | float | None:
    if isinstance(value, np.integer | np.bool_ | int):
        return int(value)
    # NumPy's floats stay as they are: float32 arithmetic has to stay in float32.
    return cast(float, value) if isinstance(value, float | np.floating) else None


def _declared(source: str, kernel: str) -> list[str]:
    """The names of a CUDA C kernel's parameters, in order; none where no plain declaration is found."""
    found = re.search(rf"\b{re.escape(kernel)}\s*\(([^)]*)\)\s*\{{", source)
    names = [re.search(r"(\w+)\s*(?:\[\s*\])?\s*$", part) for part in found[1].split(",")] if found else []
    return [name[1] if name else "" for name in names]
