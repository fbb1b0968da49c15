"""Names of CuPy that the virtual GPU lacks: the error for them, which says what to use instead."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from vgpu.base.errors import Unsupported


class Missing(Unsupported, AttributeError):
    """A name of CuPy that the virtual GPU lacks; an AttributeError too, so that hasattr answers False."""


def missing(name: str, instead: str = "") -> Missing:
    """The error for a name of CuPy or cupyx that is not here; `instead` says what to use."""
    name = name if name.startswith("cupyx.") else f"cupy.{name}"
    advice = (
        f" Use {instead}." if instead else " If CuPy has it, it works on a machine with a GPU, where cp is CuPy itself."
    )
    return Missing(f"{name} is not on the virtual GPU.{advice}")


def submodule(name: str, has: dict[str, object], table: dict[str, str] | None = None) -> ModuleType:
    """A small module of CuPy with the names in `has`; `table` as for `getter`."""
    made = ModuleType(name, f"`{name}` of CuPy on the virtual GPU.")
    made.__dict__.update(has, __getattr__=getter(f"{name}.", table or {}))
    return made


def getter(prefix: str, table: dict[str, str]) -> Callable[[str], Any]:
    """A module's `__getattr__`: `table` has names known to be missing and what to use instead."""

    def __getattr__(name: str) -> Any:
        if name in table:
            raise missing(prefix + name, table[name])
        if name.startswith("_"):
            raise AttributeError(name)
        raise missing(prefix + name)

    return __getattr__
