"""A launch as data: what is launched, how, and with what; given to whatever runs it in its own way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vgpu.tools.profile import Profile


@dataclass(frozen=True, eq=False)
class Launch:
    """A kernel with its grid, block and arguments, and in `what` a few words on what it does.

    `out` is the argument that holds the result, where it is to be compared, and `before` what it holds when the
    kernel starts, for kernels that add to it; `shared_bytes` is dynamic shared memory per block.
    """

    kernel: object
    grid: int | tuple[int, ...]
    block: int | tuple[int, ...]
    args: tuple
    what: str = ""
    out: object = None
    before: float | None = None
    shared_bytes: int = 0
    meta: Mapping[str, object] = field(default_factory=dict)

    def profile(self, **options) -> Profile:
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
