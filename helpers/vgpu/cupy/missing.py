"""What CuPy has and the virtual GPU has not: one error that says so and what to use."""

from __future__ import annotations

from helpers.vgpu.errors import Unsupported


class Missing(Unsupported, AttributeError):
    """A name of CuPy that the virtual GPU lacks; an AttributeError too, so that hasattr answers False."""


def missing(name: str, instead: str = "") -> Missing:
    """The error for a name of CuPy that is not here; `instead` says what to use."""
    advice = (
        f" Use {instead}." if instead else " If CuPy has it, it works on a machine with a GPU, where cp is CuPy itself."
    )
    return Missing(f"cupy.{name} is not on the virtual GPU.{advice}")


def getter(prefix: str, table: dict[str, str]):
    """A module's `__getattr__`: `table` has what is known to be missing and what to use instead of it."""

    def __getattr__(name: str):
        if name in table:
            raise missing(prefix + name, table[name])
        if name.startswith("_"):
            raise AttributeError(name)
        raise missing(prefix + name)

    return __getattr__
