"""Check the arguments of `profile`, `trace`, `record` and `sanitize`, and make the launch ready to run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vgpu.base.errors import ArgumentError
from vgpu.standins.calls import in_place_of_a_kernel
from vgpu.standins.twins import twin

if TYPE_CHECKING:
    from vgpu.launch.launch import Prepared

Dimensions = int | Sequence[int]
"""Up to three sizes, or one number."""
Grid = Any  # Dimensions, or for a Triton kernel a function of its constants


def prepare(
    verb: str, kernel: Any, grid: Grid, block: Dimensions | None, args: Sequence, meta: Mapping[str, object]
) -> tuple[Any, Prepared, Callable[[], None]]:
    """The virtual kernel, its prepared launch, and `finish`, to be called after the run.

    verb: the caller's name, for errors; meta: constants and options of a Triton kernel. `finish` copies results back
    to where the arguments came from. Errors: ArgumentError for something that isn't a kernel, for arguments that aren't
    a tuple, and for unknown names; else as a launch.
    """
    if not isinstance(args, tuple | list):
        raise ArgumentError(f"args is a tuple, such as (x, y), or (x,) for one argument; got {type(args).__name__}")
    other, args, copy_back = twin(kernel, tuple(args))
    if not hasattr(other, "prepare"):
        raise ArgumentError(_not_a_kernel(verb, kernel))
    if meta and not getattr(other, "takes_meta", False):
        raise ArgumentError(
            f"{verb} does not know {', '.join(f'{name}=…' for name in meta)}; constants by name are for Triton kernels"
        )
    prepared = other.prepare(args, grid=grid, block=block, **meta)

    def finish() -> None:
        prepared.finish()
        copy_back()

    return other, prepared, finish


def _not_a_kernel(verb: str, given: object) -> str:
    usage = f"{verb}(kernel, grid, block, args)"
    if (words := in_place_of_a_kernel(given)) is not None:
        return f"{verb} takes a kernel, and {words}: {usage}"
    kind = f"{type(given).__module__}.{type(given).__qualname__}"
    return f"{verb} takes a @cuda.jit or @triton.jit kernel or a cp.RawKernel, and this is a {kind}: {usage}"
