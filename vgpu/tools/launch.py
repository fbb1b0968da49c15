"""A launch as data: a kernel, its configuration and its arguments, for tools that run it in different ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vgpu.tools.profile import Profile


@dataclass(frozen=True, eq=False)
class Launch:
    """A kernel with its grid, block and arguments; `what` describes it in a few words.

    `out` is the argument that holds the result, where it is to be compared; `before` is its value when the kernel
    starts, for kernels that add to it. `shared_bytes` is dynamic shared memory per block, `meta` the constants and
    options of a Triton kernel.
    """

    kernel: Any  # of CuPy, Numba or Triton, which have no types
    grid: int | tuple[int, ...]
    block: int | tuple[int, ...]
    args: tuple
    what: str = ""
    out: Any = None  # an array of any of them
    before: float | None = None
    shared_bytes: int = 0
    meta: Mapping[str, Any] = field(default_factory=dict)

    def profile(self, **options: Any) -> Profile:
        """Run it once, counted."""
        from vgpu.tools.profile import profile

        return profile(
            self.kernel, self.grid, self.block, self.args, shared_bytes=self.shared_bytes, **options, **self.meta
        )

    def run(self) -> None:
        """Launch it as a program would."""
        from vgpu.standins.backend import module

        if isinstance(self.kernel, module("cp").RawKernel):
            grid, block = ((dims,) if isinstance(dims, int) else tuple(dims) for dims in (self.grid, self.block))
            self.kernel(grid, block, self.args, shared_mem=self.shared_bytes)
        elif self.meta:
            self.kernel[self.grid](*self.args, **self.meta)
        else:
            self.kernel[self.grid, self.block, 0, self.shared_bytes](*self.args)
