"""cuRAND's host API on NumPy's generators: its distributions, but not its numbers."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field

import numpy as np

from vgpu.base.errors import Unsupported
from vgpu.programs.cuda_c.handles import Handles


@dataclass
class _Generator:
    """A generator of cuRAND's host API."""

    seed: int = 0
    offset: int = 0
    draws: np.random.Generator | None = field(default=None, repr=False)


class Random:
    """cuRAND's calls."""

    def __init__(self, handles: Handles):
        self._handles = handles

    def do_random_create(self, target: int, kind: int) -> None:
        if not 100 <= kind < 200:
            raise Unsupported("the virtual GPU's cuRAND has pseudorandom numbers, and no quasirandom ones (Sobol).")
        ctypes.c_size_t.from_address(target).value = self._handles.add(_Generator())

    def do_random_destroy(self, generator: int) -> None:
        self._handles.drop(generator)

    def do_random_seed(self, generator: int, seed: int) -> None:
        found: _Generator = self._handles[generator]
        found.seed, found.draws = seed, None

    def do_random_offset(self, generator: int, offset: int) -> None:
        found: _Generator = self._handles[generator]
        found.offset, found.draws = offset, None

    def do_random_draw(
        self, generator: int, kind: int, size: int, target: int, n: int, mean_bits: int, deviation_bits: int
    ) -> None:
        found: _Generator = self._handles[generator]
        if found.draws is None:
            found.draws = np.random.Generator(np.random.Philox(found.seed & (1 << 64) - 1).advance(found.offset))
        mean, deviation = (np.int64(bits).view(np.float64) for bits in (mean_bits, deviation_bits))
        draws = found.draws
        drawn: np.ndarray = (
            lambda: draws.integers(0, 1 << 8 * size, n, np.dtype(f"u{size}")),
            lambda: 1 - draws.random(n, np.dtype(f"f{size}")),  # in (0, 1]
            lambda: draws.normal(mean, deviation, n).astype(f"f{size}"),
            lambda: draws.lognormal(mean, deviation, n).astype(f"f{size}"),
            lambda: draws.poisson(mean, n).astype(np.uint32),
        )[kind]()
        ctypes.memmove(target, drawn.tobytes(), drawn.nbytes)
