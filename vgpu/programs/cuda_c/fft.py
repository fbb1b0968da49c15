"""cuFFT on NumPy's transforms; neither direction scales."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vgpu.operations import CUDARuntimeError, Queue
from vgpu.programs.cuda_c.handles import Handles
from vgpu.programs.cuda_c.operands import submit, view

DOUBLE = 0x40
R2C, C2R = 0x2A, 0x2C  # the kinds of single precision; all others are C2C


@dataclass(frozen=True)
class _Side:
    """The numbers that a plan reads or writes: batches and axes, and the steps between numbers along each."""

    shape: tuple[int, ...]
    steps: tuple[int, ...]
    of: type[np.generic]


@dataclass
class _Plan:
    stream: int = 0
    kind: int = 0
    sizes: tuple[int, ...] = ()
    sides: tuple[_Side, ...] = ()


class Fft:
    """cuFFT's calls. `queue_of`: the queue of a stream's handle."""

    def __init__(self, handles: Handles, queue_of: Callable[[int], Queue]):
        self._handles, self._queue = handles, queue_of

    def do_fft_create(self, target: int) -> None:
        ctypes.c_int.from_address(target).value = self._handles.add(_Plan())

    def do_fft_destroy(self, plan: int) -> None:
        self._handles.drop(plan)

    def do_fft_stream(self, plan: int, stream: int) -> None:
        self._handles[plan].stream = stream

    def do_fft_plan(
        self, plan: int, rank: int, sizes: int, inembed: int, istride: int, idist: int, onembed: int, ostride: int,
        odist: int, kind: int, batch: int,
    ) -> None:  # fmt: skip
        found: _Plan = self._handles[plan]
        found.sizes, found.kind = _ints(sizes, rank), kind
        half = (*found.sizes[:-1], found.sizes[-1] // 2 + 1)
        real, wide = (np.float64, np.complex128) if kind & DOUBLE else (np.float32, np.complex64)
        source, target = {R2C: (real, wide), C2R: (wide, real)}.get(kind & ~DOUBLE, (wide, wide))
        found.sides = tuple(
            _side(half if source is not target and of is wide else found.sizes, of, embedding, step, between, batch)
            for of, embedding, step, between in (
                (source, _ints(inembed, rank), istride, idist), (target, _ints(onembed, rank), ostride, odist)
            )
        )  # fmt: skip

    def do_fft_run(self, plan: int, kind: int, source: int, target: int, direction: int) -> None:
        found: _Plan = self._handles[plan]
        if found.kind != kind:
            raise CUDARuntimeError("cudaErrorInvalidValue: the plan was made for other types than this call's")
        given, result = (
            view(address, side.shape, side.steps, side.of)
            for address, side in zip((source, target), found.sides, strict=True)
        )
        axes = tuple(range(1, len(found.sizes) + 1))

        def run() -> None:
            if kind & ~DOUBLE == R2C:
                result[...] = np.fft.rfftn(given, axes=axes)
            elif kind & ~DOUBLE == C2R:
                result[...] = np.fft.irfftn(given, found.sizes, axes, norm="forward")
            elif direction < 0:
                result[...] = np.fft.fftn(given, axes=axes)
            else:
                result[...] = np.fft.ifftn(given, axes=axes, norm="forward")

        submit(self._queue(found.stream), "cuFFT", [given], [result], run)


def _side(
    shape: tuple[int, ...], of: type[np.generic], embedding: tuple[int, ...], step: int, between: int, batch: int
) -> _Side:
    if not embedding:  # then numbers stand side by side, and the steps given don't count
        embedding, step, between = shape, 1, int(np.prod(shape))
    inner = (step * int(np.prod(embedding[at + 1 :], dtype=np.int64)) for at in range(len(embedding)))
    return _Side((batch, *shape), (between, *inner), of)


def _ints(address: int, count: int) -> tuple[int, ...]:
    return tuple((ctypes.c_int * count).from_address(address)) if address else ()
