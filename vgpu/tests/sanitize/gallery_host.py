"""Mistakes that take the host's part, or another language: textures, schedules, Triton's masks, leaks."""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vgpu.standins import cupy as cp
from vgpu.standins.cupy.cuda import runtime, texture
from vgpu.tools.sanitize import leaks, sanitize


@dataclass(frozen=True)
class Case:
    """One mistake: `run(wrong)` gives what was found; lines that are to be named are counted as the finding counts."""

    name: str
    kind: str
    language: str
    run: Callable
    lines: frozenset[int]
    first_line: int = 1  # where in its file the text begins that the lines are counted in


CASES: list[Case] = []


def _marked(text: str, mark: str, first: int = 1) -> frozenset[int]:
    return frozenset(number for number, line in enumerate(text.splitlines(), first) if mark in line)


def case(kind: str, language: str, text: str = ""):
    def enter(run):
        CASES.append(Case(run.__name__, kind, language, run, _marked(text, "//!")))
        return run

    return enter


TEXTURE = """
extern "C" __global__ void k(cudaTextureObject_t t, float* out) {
    out[threadIdx.x] = tex2D<float>(t, threadIdx.x, 0); //!
}"""


@case("bad_handle", "CUDA C", TEXTURE)
def texture_over_memory_that_was_freed(wrong):
    address = runtime.malloc(1024)
    memory = cp.cuda.UnownedMemory(address, 1024, None)
    data = cp.ndarray(64, np.float32, cp.cuda.MemoryPointer(memory, 0))
    data.fill(1)
    channel = texture.ChannelFormatDescriptor(32, 0, 0, 0, runtime.cudaChannelFormatKindFloat)
    resource = texture.ResourceDescriptor(
        runtime.cudaResourceTypePitch2D, arr=data, chDesc=channel, width=8, height=2, pitchInBytes=32
    )
    there = texture.TextureObject(resource, texture.TextureDescriptor())
    if wrong:
        runtime.free(address)
    found = sanitize(cp.RawKernel(TEXTURE, "k"), 1, 32, (there, cp.zeros(32, cp.float32)))
    if not wrong:
        runtime.free(address)
    return found


LAST = """
extern "C" __global__ void k(const int* a, int* best) {
    if (threadIdx.x) return;
#ifdef WRONG
    *best = a[blockIdx.x];
#else
    atomicMax(best, a[blockIdx.x]);
#endif
}"""


@case("schedule", "CUDA C", LAST)
def maximum_without_an_atomic(wrong):
    """In order of the blocks the last one, which has the largest number, comes last."""
    kernel = cp.RawKernel(LAST, "k", options=("-DWRONG",) if wrong else ())
    args = cp.arange(64, dtype=cp.int32), cp.zeros(1, cp.int32)
    return sanitize(kernel, 64, 32, args, seeds=(1, 2, 3))


def _round(kept: list, wrong: bool) -> None:
    squares = cp.arange(256, dtype=cp.float32) ** 2  #!
    kept.append(squares if wrong else float(squares.sum()))


@case("leak", "Python")
def arrays_of_old_rounds_in_a_list(wrong):
    kept: list = []
    with leaks() as found:
        for _ in range(5):
            _round(kept, wrong)
    return found


def _address(wrong: bool) -> None:
    address = runtime.malloc(4096)  #!
    if not wrong:
        runtime.free(address)


@case("leak", "Python")
def malloc_without_free(wrong):
    with leaks() as found:
        _address(wrong)
    return found


def _in_python(index: int, function) -> None:
    lines, first = inspect.getsourcelines(function)
    here = CASES[index]
    CASES[index] = Case(here.name, here.kind, here.language, here.run, _marked("".join(lines), "#!", first), first)


_in_python(-2, _round)
_in_python(-1, _address)

if importlib.util.find_spec("triton") is not None:
    from vgpu.tests.sanitize import gallery_triton

    CASES += [
        Case(name, kind, "Triton", run, _marked(text, "#!", first), first)
        for name, kind, run, text, first in gallery_triton.CASES
    ]
