"""Launches of Triton's kernels, for the driver and for `profile`, `trace` and `record`."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from triton.runtime import driver
from triton.runtime.cache import get_cache_manager
from triton.runtime.jit import JITFunction

from vgpu import operations
from vgpu.base import own
from vgpu.base.errors import ArgumentError, LaunchError, Unsupported
from vgpu.launch import launch
from vgpu.standins.triton.arguments import Packer, flattened, present
from vgpu.standins.triton.lines import user_lines

LANES = 32

# The handler of launches; the default runs them.
_handling: ContextVar[Callable[[launch.Prepared], None]] = ContextVar("handling")


@contextmanager
def handling(handle: Callable[[launch.Prepared], None]) -> Iterator[None]:
    """Within a `with` block, pass every launch to `handle` instead of running it."""
    token = _handling.set(handle)
    try:
        yield
    finally:
        _handling.reset(token)


def run(prepared: launch.Prepared, observe: bool = False):
    """Run a launch to its end; its counters if `observe`."""
    grid, block = prepared.grid, prepared.block
    assert grid is not None and block is not None, "a Triton kernel chooses both"
    given = prepared.kernel, grid, block, prepared.params, prepared.arrays, prepared.shared_bytes
    try:
        if observe:
            return launch.launch(*given, observe=True, cooperative=prepared.cooperative)
        return operations.kernel(operations.LEGACY, *given, cooperative=prepared.cooperative)
    finally:
        # After a fault too: as on a GPU, earlier writes stay.
        prepared.finish()


class Launcher:
    """One compiled kernel, ready to be launched; Triton calls it with the grid and the arguments."""

    def __init__(self, src, metadata):
        self.src, self.metadata = src, metadata
        self.kernel = _load(src, metadata)
        self.block = (LANES * metadata.num_warps, 1, 1)
        self.maps = metadata.tensordesc_meta  # how the tensor maps are made that the kernel is given; [] for none

    def __call__(self, x, y, z, stream, function, kernel_metadata, launch_metadata, enter, leave, *args) -> None:
        if x * y * z <= 0:  # as Triton's own launcher
            return
        packer = Packer(self.kernel.name)
        for kind, value, name in flattened(self.src.signature.values(), args, self.src.signature, self.maps):
            packer.add(kind, value, name)
        x *= self.metadata.num_ctas  # the blocks of a cluster, which share a program
        blocks = x * y * z
        packer.scratch(blocks * self.metadata.global_scratch_size)
        packer.scratch(blocks * self.metadata.profile_scratch_size)
        prepared = launch.Prepared(
            self.kernel, packer.params, packer.arrays, self.metadata.shared, packer.finish, (x, y, z), self.block,
            bool(self.metadata.launch_cooperative_grid),
        )  # fmt: skip
        if enter is not None:
            enter(launch_metadata)
        _handling.get(run)(prepared)
        if leave is not None:
            leave(launch_metadata)


def _load(src, metadata) -> launch.Kernel:
    """The kernel's PTX from Triton's cache, where the compiler has just put it or found it."""
    path = get_cache_manager(metadata.hash).get_group(f"{src.name[:150]}.json") or {}
    path = path.get(f"{src.name[:150]}.ptx")
    if path is None or not Path(path).is_file():
        raise Unsupported(
            f"the PTX of `{src.name}` is not in Triton's cache, and the virtual GPU runs PTX. Unset "
            "TRITON_STORE_BINARY_ONLY, or empty the folder that TRITON_CACHE_DIR names."
        )
    filename, source = "", ""
    if isinstance(getattr(src, "fn", None), JITFunction):
        filename = src.fn.fn.__code__.co_filename
        source = "".join(linecache.getlines(filename))
    ptx = user_lines(Path(path).read_text(encoding="utf-8"), filename)
    kernels = launch.load(ptx, language="triton", name=src.name, filename=filename, source=source)
    return kernels[metadata.name]


class TritonKernel:
    """A Triton kernel (or one under `autotune` or `heuristics`) with the interface of the other kernels here."""

    takes_meta = True

    def __init__(self, kernel):
        self.jit = kernel

    def prepare(self, args, grid=None, block=None, **meta) -> launch.Prepared:
        """Everything a launch needs, without launching; `meta` are constants, num_warps and the like.

        Under `autotune` the configurations are tried first. `grid` may be a function of the constants, as in a
        launch. Errors: ArgumentError for a block, which is 32 × num_warps threads, and for an unknown keyword.
        """
        if block is not None:
            raise ArgumentError(
                "a Triton kernel chooses its block itself, 32 × num_warps threads: pass None for the block, and "
                "num_warps=… by name."
            )
        found: list[launch.Prepared] = []
        with own.LAUNCHING, _virtual_driver(), handling(found.append):
            try:
                self.jit[_grid(grid)](*map(present, args), **meta)
            except KeyError as error:
                if "unrecognised" not in str(error):
                    raise
                raise ArgumentError(str(error.args[0])) from None
        if len(found) != 1:
            raise LaunchError("the grid is empty, so there is nothing to run: every dimension needs at least 1.")
        return found[0]


@contextmanager
def _virtual_driver() -> Iterator[None]:
    """Compile for and launch on the virtual GPU, even where Triton's driver is a real GPU's; needs `own.LAUNCHING`."""
    from vgpu.standins.triton.driver import VirtualDriver

    before = driver._active
    if not isinstance(before, VirtualDriver):
        driver.set_active(VirtualDriver())
    try:
        yield
    finally:
        driver._active = before


def _grid(grid):
    if callable(grid):
        return grid
    return grid if isinstance(grid, tuple) else tuple(grid) if isinstance(grid, list) else (grid,)


def stand_in(kernel) -> TritonKernel:
    """The `TritonKernel` for what `triton.jit`, `triton.autotune` or `triton.heuristics` made."""
    return TritonKernel(kernel)
