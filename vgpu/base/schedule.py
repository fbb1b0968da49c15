"""Schedules: blocks, warps and lanes run as workers take them, one after another, or in an order that a seed repeats.

On a GPU nothing says which warp runs first. A kernel whose result depends on it has a race, and gives different
results under different seeds.
"""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass

import numpy as np

from vgpu.base.errors import LaunchError

MOST_BLOCKS = 1 << 22  # in a random order, which is drawn before the launch
WINDOW = 64  # blocks that are resident together under a random schedule; they start in order of such groups
KINDS = ("sequential", "random")
_thread = threading.local()


@dataclass(frozen=True)
class Schedule:
    """A random schedule with its seed; without one, blocks go in order to `workers` threads (None: one a core)."""

    seed: int | None = None
    workers: int | None = None

    @property
    def random(self) -> bool:
        return self.seed is not None


_USUAL = Schedule()


def _schedule(kind: str, seed: int | None) -> Schedule:
    if kind not in KINDS:
        raise ValueError(f"a schedule is {' or '.join(map(repr, KINDS))}, not {kind!r}")
    if kind == "sequential":
        if seed is not None:
            raise ValueError('a seed belongs to the schedule "random"; the sequential one has none')
        return Schedule(workers=1)
    if seed is not None and not isinstance(seed, int | np.integer):
        raise TypeError(f"a seed is a whole number, such as 3, not {seed!r}")
    return Schedule(int(seed or 0), workers=1)


def chosen(kind: str | None = None, seed: int | None = None) -> Schedule:
    """The schedule of a launch: the one given, else that of the innermost `scheduled` in this thread."""
    if kind is None and seed is None:
        return getattr(_thread, "schedule", _USUAL)
    return _schedule(kind or "random", seed)


class scheduled(contextlib.ContextDecorator):
    """Within `with scheduled("random", seed=3):` kernels run in another order, which the seed repeats.

    kind: "random", or "sequential": each block runs when the one before it has ended, so that even a race gives the
    same result each time (outside, every core runs blocks). seed: a whole number (default 0). The order of blocks and
    warps, the length of their time slices, and which lanes of a warp run first vary with the seed, as they may on a
    GPU: a kernel without a race gives the same result under every seed. It holds for this thread's launches on the
    virtual GPU, `sanitize` included; a real GPU follows its own order. Counts of instructions depend on it, as lanes
    may diverge anywhere. Errors: ValueError for another kind or a seed that has no effect, TypeError for a seed that is
    no whole number.
    """

    def __init__(self, kind: str = "random", seed: int | None = None):
        self.schedule = _schedule(kind, seed)
        self.before: list[Schedule] = []

    def __enter__(self) -> scheduled:
        self.before.append(getattr(_thread, "schedule", _USUAL))
        _thread.schedule = self.schedule
        return self

    def __exit__(self, *error: object) -> None:
        _thread.schedule = self.before.pop()

    def __repr__(self) -> str:
        random = self.schedule.random
        call = f'scheduled("random", seed={self.schedule.seed})' if random else 'scheduled("sequential")'
        state = "in use" if self.before else f"not in use: write `with {call}:` above the launch"
        return f"<{call}, {state}>"


def state(seed: int) -> int:
    """The first state of the generator in compiled code: never 0, and unrelated for neighbouring seeds."""
    return int(np.random.default_rng(seed & (1 << 63) - 1).integers(1, 1 << 62))


def block_order(blocks: int, seed: int) -> np.ndarray:
    """The order in which blocks start: random within groups that can be resident together.

    So a block that waits for one with a lower number, as in a look-back scan, never waits for one that can't start.
    """
    if blocks > MOST_BLOCKS:
        raise LaunchError(
            f"a random schedule takes grids of at most {MOST_BLOCKS} blocks, and this one has {blocks}. Look for races "
            "with fewer blocks, or leave the schedule sequential."
        )
    order = np.arange(blocks, dtype=np.int64)
    generator = np.random.default_rng((seed & (1 << 63) - 1, 1))
    for start in range(0, blocks, WINDOW):
        generator.shuffle(order[start : start + WINDOW])
    return order
