"""Checks of a launch configuration: dimensions, shared memory, parameters."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, SupportsIndex

from vgpu.base.errors import LaunchError
from vgpu.hardware.device import current
from vgpu.lower import Lowered
from vgpu.storage import layout

if TYPE_CHECKING:
    from vgpu.launch.launch import Kernel
    from vgpu.ptx import Function

Dimensions = SupportsIndex | Sequence[SupportsIndex]
WARP = 32
MAX_THREADS_PER_BLOCK = 1024
MAX_BLOCK = (1024, 1024, 64)
MAX_GRID = (2**31 - 1, 65535, 65535)
MAX_CLUSTER = 8
LARGE_CLUSTER = 16
"""The blocks of a cluster where the host allows one that isn't portable."""


def check_dimensions(
    grid: Dimensions | None, block: Dimensions | None
) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """grid and block as three ints each, or `LaunchError`."""
    blocks, threads = _three("grid", grid, MAX_GRID), _three("block", block, MAX_BLOCK)
    if math.prod(threads) > MAX_THREADS_PER_BLOCK:
        shape = " × ".join(map(str, threads))
        raise LaunchError(
            f"a block of {shape} = {math.prod(threads)} threads is too large: a GPU allows at most "
            f"{MAX_THREADS_PER_BLOCK} threads a block. Use smaller blocks and more of them."
        )
    return blocks, threads


_ROUND_UP = " Round the number of blocks up: (n + threads - 1) // threads, in C++ with /."


def _three(what: str, given: Dimensions | None, limits: tuple[int, int, int]) -> tuple[int, int, int]:
    """The size of the grid or block in x, y and z, or `LaunchError`."""
    try:
        sizes = tuple([size.__index__() for size in (given if isinstance(given, (tuple, list)) else (given,))])
    except AttributeError:
        raise LaunchError(
            f"the {what} size must be whole numbers, not {given!r}. Dividing with / gives a float: "
            "use (n + threads - 1) // threads."
        ) from None
    if not 1 <= len(sizes) <= 3:
        raise LaunchError(f"the {what} size has {len(sizes)} dimensions; give one, two or three.")
    x, y, z = (*sizes, 1, 1)[:3]
    for axis, size, limit in zip("xyz", (x, y, z), limits, strict=True):
        if size < 1:
            raise LaunchError(
                f"the {what} size in {axis} is {size}; every dimension needs at least 1."
                + (_ROUND_UP if what == "grid" else "")
            )
        if size > limit:
            raise LaunchError(
                f"the {what} size in {axis} is {size}; a GPU allows at most {limit}."
                + (" Use smaller blocks and more of them." if what == "block" else "")
            )
    return x, y, z


def launch_bounds(function: Function) -> tuple[int, int]:
    """The threads that a block may have at most, and must have exactly (`.maxntid`, `.reqntid`); 0 for no bound."""
    most, exactly = (math.prod(function.directives.get(name) or (0,)) for name in ("maxntid", "reqntid"))
    return most, exactly


def cluster_of(name: str, function: Function, most: int = MAX_CLUSTER) -> tuple[int, int, int]:
    """The blocks of a cluster in x, y and z, (1, 1, 1) without clusters; `LaunchError` for what a GPU refuses."""
    x, y, z = (*function.directives.get("reqnctapercluster", ()), 1, 1, 1)[:3]
    if not 1 <= x * y * z <= most:
        more = (
            f", and up to {LARGE_CLUSTER} after cudaFuncSetAttribute(kernel, "
            "cudaFuncAttributeNonPortableClusterSizeAllowed, 1)"
        )
        raise LaunchError(
            f"{name} has clusters of {x} × {y} × {z} = {x * y * z} blocks; a GPU takes 1 to {most}"
            f"{more if most < LARGE_CLUSTER else ''}. Change `__cluster_dims__`, or the launch attribute."
        )
    return x, y, z


def check_cluster(kernel: Kernel, grid: tuple[int, int, int]) -> None:
    """A `LaunchError` for a grid that can't be divided into the kernel's clusters."""
    if any(blocks % size for blocks, size in zip(grid, kernel.cluster, strict=True)):
        raise LaunchError(
            f"{kernel.name} runs in clusters of {kernel.cluster} blocks, and the grid of {grid} blocks can't be "
            "divided into these. Launch a multiple in each dimension."
        )


def check_launch_bounds(kernel: Kernel, block: tuple[int, int, int]) -> None:
    """A `LaunchError` for a block outside the launch bounds that the kernel was compiled for."""
    threads, (most, exactly) = math.prod(block), kernel.bounds
    if (most and threads > most) or (exactly and threads != exactly):
        raise LaunchError(
            f"{kernel.name} was compiled for blocks of {f'at most {most}' if most else exactly} threads, and this "
            f"launch has {threads}: a GPU refuses it. Launch smaller blocks, or change the launch bounds "
            "(`__launch_bounds__`, `launch_bounds=`)."
        )


def check_shared(lowered: Lowered, dynamic: int) -> int:
    """Bytes of shared memory a block needs in all, or `LaunchError` if the modelled GPU has less."""
    if dynamic < 0:
        raise LaunchError(f"dynamic shared memory is {dynamic} bytes; it cannot be negative.")
    total = lowered.dynamic_offset + dynamic if dynamic else lowered.static_shared
    gpu = current()
    if lowered.static_shared > gpu.shared_limit:
        raise LaunchError(
            f"the kernel's shared arrays take {lowered.static_shared} bytes, and those of fixed size may take at most "
            f"{gpu.shared_limit}. Use a smaller tile or type, or dynamic shared memory."
        )
    if total > gpu.shared_optin_limit:
        raise LaunchError(
            f"the block asks for {total} bytes of shared memory ({lowered.static_shared} in the kernel, {dynamic} "
            f"at the launch); a block on the {gpu.name} may have at most {gpu.shared_optin_limit}. Use a smaller tile "
            "or type."
        )
    return total


def packing(function: Function) -> tuple[struct.Struct, list[int]]:
    """How the parameters lie in one buffer, and the bytes of each."""
    offsets, _ = layout.parameter_layout(function)
    fields, end = ["<"], 0
    for parameter in function.parameters:
        fields.append(f"{offsets[parameter.name] - end}x{parameter.nbytes}s")
        end = offsets[parameter.name] + parameter.nbytes
    return struct.Struct("".join(fields)), [parameter.nbytes for parameter in function.parameters]


def pack(kernel: Kernel, params: Sequence[bytes]) -> bytes:
    """The parameters in one buffer, each at its offset; `LaunchError` for a wrong number or size."""
    form, sizes = kernel.packing
    given = [len(value) for value in params]
    if given == sizes:
        return form.pack(*params)
    if len(given) != len(sizes):
        raise LaunchError(f"the kernel {kernel.name} takes {len(sizes)} parameters, but {len(given)} were given.")
    index = next(index for index, nbytes in enumerate(given) if nbytes != sizes[index])
    raise LaunchError(f"parameter {index} of {kernel.name} has {sizes[index]} bytes, but {given[index]} were given.")


def check_block_index(
    grid: Dimensions | None, block: Dimensions | None, block_index: int | Sequence[int]
) -> tuple[tuple[int, int, int], tuple[int, int, int], tuple[int, int, int]]:
    """Grid, block and block index as three ints each; raises as a launch does, and IndexError outside the grid."""
    blocks, threads = check_dimensions(grid, block)
    x, y, z = (*((block_index,) if isinstance(block_index, int) else block_index), 0, 0)[:3]
    if not all(0 <= i < n for i, n in zip((x, y, z), blocks, strict=True)):
        raise IndexError(f"block {(x, y, z)} lies outside the grid of {blocks} blocks")
    return blocks, threads, (x, y, z)


def check_warp(warp: int | None, block: tuple[int, int, int]) -> None:
    """Raise IndexError for a warp outside the block, TypeError for a number that isn't whole."""
    if warp is None:
        return
    if not isinstance(warp, Integral):
        raise TypeError(f"warp is a number from 0, or None for all warps; got {warp!r}")
    warps = -(-math.prod(block) // WARP)
    if not 0 <= warp < warps:
        raise IndexError(f"warp {warp} lies outside the block: {math.prod(block)} threads are warps 0 to {warps - 1}")
