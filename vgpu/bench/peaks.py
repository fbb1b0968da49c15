"""What one core of this machine can do at most: memory traffic, and operations on 32-bit lanes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np

from vgpu.ir import Builder, Value
from vgpu.runtime import jit

WIDTH, CHAINS, TURNS = 16, 8, 100_000  # lanes of a vector, vectors that don't wait for one another, rounds
KIND = f"<{WIDTH} x float>"


def bytes_per_second(nbytes: int, best: Callable[[Callable[[], object]], float]) -> float:
    """Bytes read and written in a second by a copy that touches `nbytes` in all."""
    source = np.ones(max(1, nbytes // 8), np.float32)
    target = np.empty_like(source)
    return 2 * source.nbytes / best(lambda: np.copyto(target, source))


def lane_operations_per_second(best: Callable[[Callable[[], object]], float]) -> float:
    """Fused multiply-adds of floats in a second, each counted as one operation."""
    address = jit.compile_ir(_chains(), ("peak",))["peak"]
    run = ctypes.CFUNCTYPE(ctypes.c_float, ctypes.c_int64)(address)
    return WIDTH * CHAINS * TURNS / best(lambda: run(TURNS))


def _chains() -> str:
    """A function of a loop of multiply-adds in independent chains."""
    ir = Builder()
    factor = ir.number(KIND, 0.5)
    sums = [ir.variable(KIND, float(chain)) for chain in range(CHAINS)]
    with ir.count_to(ir.named("i64", "turns")):
        for chain in sums:
            chain.set(chain.get().intrinsic("llvm.fma", factor, factor))
    total: Value = sums[0].get()
    for chain in sums[1:]:
        total = total + chain.get()
    ir.give(total.lane(0))
    return f"define float @peak(i64 %turns) {{\nentry:\n{ir.body()}\n}}\n"
