"""Launches of `@cute.jit` functions: the host's code runs, and what it launches runs or goes to the tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cutlass.base_dsl.jit_executor import JitExecutor
from cutlass.cutlass_dsl.cuda_jit_executor import CudaDialectJitCompiledFunction

from vgpu.base.errors import LaunchError
from vgpu.launch import launch
from vgpu.standins.cute.hidden import in_place_of
from vgpu.standins.cute.runtime import handling, raising


def activate() -> None:
    """Raise errors of kernels where the host's code was called."""
    JitExecutor.run_compiled_program = _raising(JitExecutor.run_compiled_program)
    loading = _raising(CudaDialectJitCompiledFunction._load_cuda_library)

    @in_place_of(loading)
    def load(self: Any) -> list:
        loading(self)
        return []  # libraries that a driver would have to unload

    CudaDialectJitCompiledFunction._load_cuda_library = load


def _raising(function: Callable[..., Any]) -> Callable[..., Any]:
    @in_place_of(function)
    def wrapper(*args: Any) -> Any:
        with raising():
            return function(*args)

    return wrapper


class CuteKernel:
    """A `@cute.jit` function, or what `cute.compile` made of it, with the interface of the other kernels here."""

    takes_meta = True

    def __init__(self, function: Callable[..., Any]):
        self.function = function

    def prepare(self, args: tuple, grid: object = None, block: object = None, **meta: Any) -> launch.Prepared:
        """Everything that the launch in the function needs, without launching; `meta` are arguments by name.

        Errors: TypeError for a grid or a block, which the function chooses; LaunchError where it launches no kernel, or
        several.
        """
        if grid is not None or block is not None:
            raise TypeError("a @cute.jit function chooses grid and block itself: pass None for both.")
        found: list[launch.Prepared] = []
        with handling(lambda prepared, queue, dependent: found.append(prepared)):
            self.function(*args, **meta)
        if len(found) != 1:
            names = f": {', '.join(each.kernel.name for each in found)}" if found else ""
            raise LaunchError(
                f"the function launches {len(found)} kernels{names}, and one is looked at here. Pass a @cute.jit "
                "function that launches one."
            )
        return found[0]


def stand_in(kernel: Callable[..., Any]) -> CuteKernel:
    """The `CuteKernel` for what `cute.jit` or `cute.compile` made, or for an object whose `__call__` is such."""
    return CuteKernel(kernel)
