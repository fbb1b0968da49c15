"""Launch one kernel of a CUDA C++ file that has no `main`, with arguments from the command line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vgpu import operations
from vgpu.base.errors import ArgumentError
from vgpu.base.words import plural
from vgpu.programs.cuda_c.run import compiled, read
from vgpu.standins import cupy as cp
from vgpu.standins.cupy.arguments import KernelParameter, kernel_parameters, pack
from vgpu.standins.cupy.signature import parameters

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
ARRAY = re.compile(r"(\w+)\[(\d+(?:x\d+)*)\](?:=(\w+|[-+.\deE]+))?")
FILLS = ("random", "range", "zeros")
USAGE = (
    "an argument is a number (1000), or an array as type[size]=fill: float32[1000]=random, int32[64x64]=range, "
    "float32[1000]=0; without a fill it's random"
)


def launch(
    path: Path, kernel: str, grid: str, block: str, arguments: Sequence[str], options: Sequence[str] = (),
    shared_bytes: int = 0,
) -> list[np.ndarray]:  # fmt: skip
    """Compile the file's kernels, launch one, and return its arrays as they are afterwards.

    kernel: its name, or an instance of a template ("scale<float>"). grid, block: "4" or "16x16". Raises ArgumentError
    for an argument that isn't understood, and what a launch raises.
    """
    source = read(path, options).device(kernel)
    loaded = compiled(source, path, {kernel: kernel}, options)[kernel]
    wanted = kernel_parameters(kernel, loaded.parameters, parameters(source, kernel.partition("<")[0]))
    if len(wanted) != len(arguments):
        raise ArgumentError(f"{kernel} takes {plural(len(wanted), 'argument')}, and {len(arguments)} were given.")
    given = [argument(text, parameter) for text, parameter in zip(arguments, wanted, strict=True)]
    params, arrays = pack(kernel, wanted, given)
    operations.kernel(operations.LEGACY, loaded, _sizes(grid), _sizes(block), params, arrays, shared_bytes)
    return [each.get() for each in given if isinstance(each, cp.ndarray)]


def argument(text: str, parameter: KernelParameter | None) -> Any:
    """An argument from its text; a number has the type of the kernel's parameter."""
    if NUMBER.fullmatch(text) and parameter is not None and parameter.dtype is not None:
        return parameter.dtype.type(float(text) if parameter.dtype.kind == "f" else int(float(text)))
    match = ARRAY.fullmatch(text)
    if match is None:
        raise ArgumentError(f"{text!r} isn't understood: {USAGE}.")
    try:
        dtype = np.dtype(match[1])
    except TypeError:
        raise ArgumentError(f"{match[1]!r} in {text!r} is no type, such as float32, int32 or float16.") from None
    shape = tuple(map(int, match[2].split("x")))
    return cp.asarray(_filled(match[3] or "random", shape, dtype, text))


def _filled(fill: str, shape: tuple[int, ...], dtype: np.dtype, text: str) -> np.ndarray:
    if NUMBER.fullmatch(fill):
        return np.full(shape, float(fill)).astype(dtype)
    if fill not in FILLS:
        raise ArgumentError(f"{fill!r} in {text!r} is no way to fill an array: {', '.join(FILLS)}, or a number.")
    if fill == "zeros":
        return np.zeros(shape, dtype)
    if fill == "range":
        return np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
    random = np.random.default_rng(0)
    return (random.random(shape) if dtype.kind == "f" else random.integers(0, 100, shape)).astype(dtype)


def _sizes(text: str) -> tuple[int, ...]:
    if not re.fullmatch(r"\d+(x\d+){0,2}", text):
        raise ArgumentError(f"{text!r} is no grid or block: write 4, 16x16 or 8x8x4.")
    return tuple(map(int, text.split("x")))
