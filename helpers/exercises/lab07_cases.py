"""What lab 07 is tried on: needs of kernels on any GPU of the table, columns of which the greatest are kept, sums."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural
from helpers.hardware import gpus
from helpers.hardware.occupancy import occupancy

MOST_REGISTERS, MOST_KIB = 255, 228
SIZES = range(32, 1025, 32)
KEPT = 8
THREADS = 128
BLOCKS = 2
WARPS = BLOCKS * THREADS // 32
EACH = 20
"""Elements of a thread where loads are counted."""


def _names(dice: np.random.Generator, count: int) -> list[str]:
    return [str(name) for name in dice.choice(list(gpus.GPUS), count)]


# -- how far a kernel may grow


def blocks(registers, kib, threads, gpu, unit: int = 1024) -> int:
    return occupancy(registers, unit * kib, threads, gpu).blocks_per_sm


def room(registers, kib, threads, gpu, unit: int = 1024) -> tuple[int, int]:
    held = blocks(registers, kib, threads, gpu, unit)
    if not held:
        return 0, 0
    most = max(r for r in range(registers, MOST_REGISTERS + 1) if blocks(r, kib, threads, gpu, unit) == held)
    return most, max(k for k in range(kib, MOST_KIB + 1) if blocks(registers, k, threads, gpu, unit) == held)


def room_case(registers: int, kib: int, threads: int, name: str) -> Case:
    gpu = gpus.find(name)
    what = f"{registers} registers, {kib} KiB, {threads} threads on {name}"
    return Case(what, (registers, kib, threads, gpu), expected=room(registers, kib, threads, gpu))


def rooms_drawn(dice: np.random.Generator) -> list[Case]:
    found = [
        room_case(int(dice.integers(16, 120)), int(dice.integers(0, 40)), 32 * int(dice.integers(1, 17)), name)
        for name in _names(dice, 6)
    ]
    return [*found, room_case(int(dice.integers(100, 255)), 0, 1024, "A100")]


def for_one_block(case: Case) -> tuple[int, int]:
    """What comes out where one block has to fit, and no more."""
    registers, kib, threads, gpu = case.arguments
    if not blocks(registers, kib, threads, gpu):
        return 0, 0
    most = max(r for r in range(registers, MOST_REGISTERS + 1) if blocks(r, kib, threads, gpu))
    return most, max(k for k in range(kib, MOST_KIB + 1) if blocks(registers, k, threads, gpu))


def room_by_steps(step: int):
    """What comes out where only every `step`-th number of registers is tried, from the present one on."""

    def wrong(case: Case) -> tuple[int, int]:
        (most, more), registers = case.expected, case.arguments[0]
        return most - max(0, most - registers) % step, more

    return wrong


def by_hand(of_registers: bool, of_shared: bool):
    """What comes out where one of the two, or both, are divided, without units and without what the driver keeps."""

    def wrong(case: Case) -> tuple[int, int]:
        registers, kib, threads, gpu = case.arguments
        (most, more), held = case.expected, blocks(registers, kib, threads, gpu)
        if not held:
            return 0, 0
        return (
            gpu.registers_per_sm // held // threads if of_registers else most,
            gpu.shared_per_sm // held // 1024 if of_shared else more,
        )

    return wrong


def full(case: Case) -> tuple[int, int]:
    """What comes out for full occupancy, instead of for what there is."""
    registers, kib, threads, gpu = case.arguments
    wanted = gpu.warps_per_sm // (threads // 32)
    found = [r for r in range(MOST_REGISTERS + 1) if blocks(r, kib, threads, gpu) >= wanted]
    more = [k for k in range(MOST_KIB + 1) if blocks(registers, k, threads, gpu) >= wanted]
    return max(found, default=0), max(more, default=0)


# -- a launch of one wave


def launch(registers, floats, n, gpu, *, sizes=SIZES, shared=4, of="warps_per_sm", last=False) -> tuple[int, int]:
    held = {threads: occupancy(registers, shared * floats * threads, threads, gpu) for threads in sizes}
    best = max(getattr(each, of) for each in held.values())
    threads = [size for size in sizes if getattr(held[size], of) == best][-1 if last else 0]
    return threads, min(held[threads].blocks_per_sm * gpu.sms, cover(n, threads))


def launched(**changes):
    return lambda case: launch(*case.arguments, **changes)


def launch_case(registers: int, floats: int, n: int, name: str) -> Case:
    gpu = gpus.find(name)
    what = f"{registers} registers, {plural(floats, 'float')} a thread, {plural(n, 'element')} on {name}"
    return Case(what, (registers, floats, n, gpu), expected=launch(registers, floats, n, gpu))


def launches_drawn(dice: np.random.Generator) -> list[Case]:
    return [
        launch_case(int(dice.integers(16, 150)), int(dice.integers(0, 33)), int(10 ** dice.uniform(1, 7)), name)
        for name in _names(dice, 8)
    ] + [_full_blocks(dice)]


def _full_blocks(dice: np.random.Generator) -> Case:
    """So few elements that they are less than a wave, and as many as whole blocks have threads."""
    needs, name = (int(dice.integers(16, 60)), int(dice.integers(0, 9))), _names(dice, 1)[0]
    threads, blocks = launch(*needs, 10**7, gpus.find(name))
    return launch_case(*needs, threads * int(dice.integers(2, max(3, min(blocks, 40)))), name)


def wave(
    of_all_sms: bool = True,
    capped: bool = True,
    rounded_up: bool = True,
    of: int = 0,
    of_warps: bool = False,
    each: int = 0,
    held: bool = True,
    least=min,
    one_more: bool = False,
    to_nearest: bool = False,
):
    """What comes out where the block size is right and the number of blocks is found otherwise."""

    def wrong(case: Case) -> tuple[int, int]:
        registers, floats, n, gpu = case.arguments
        threads, _ = case.expected
        seen = occupancy(registers, 4 * floats * (of or threads), of or threads, gpu)
        at_once = (seen.warps_per_sm if of_warps else seen.blocks_per_sm) * (gpu.sms if of_all_sms else 1)
        needed = n // threads + one_more if one_more or not rounded_up else cover(n, each or threads)
        if to_nearest:
            needed = round(n / threads)
        if not held:
            return threads, needed
        return threads, least(at_once, needed) if capped else at_once

    return wrong


# -- the greatest of each column


def top(x: np.ndarray, start: float = -np.inf) -> np.ndarray:
    held = np.full((KEPT, x.shape[1]), start, np.float32)
    return -np.sort(-np.vstack([x, held]), axis=0)[:KEPT]


def top_case(rows: int, columns: int, seed: int = 0) -> Case:
    x = numbers((rows, columns), seed=seed or rows + columns)
    what = f"{plural(rows, 'row')} of {plural(columns, 'column')}"
    return Case(what, (x, Out(top(x))), (cover(columns, THREADS),), (THREADS,))


def tops_drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [
        (int(dice.integers(2, 8)), int(dice.integers(2, 31))),
        (int(dice.integers(9, 40)), int(dice.integers(129, 256))),
        (int(dice.integers(90, 130)), 8 * int(dice.integers(28, 33))),
    ]
    return [top_case(*size, int(dice.integers(1, 10**6))) for size in sizes]


def least(case: Case) -> np.ndarray:
    return -top(-case.arguments[0])


def each_once(case: Case) -> np.ndarray:
    x = case.arguments[0]
    columns = [top(np.unique(x[:, i])[:, None]) for i in range(x.shape[1])]
    return np.hstack(columns)


def not_moved_down(case: Case) -> np.ndarray:
    """What comes out where a greater value takes the place of another, which is lost."""
    x = case.arguments[0]
    held = np.full((KEPT, x.shape[1]), -np.inf, np.float32)
    for row in x:
        place = np.argmax(row > held, axis=0)
        columns = np.flatnonzero((row > held).any(axis=0))
        held[place[columns], columns] = row[columns]
    return held


def passed_on(case: Case) -> np.ndarray:
    """What comes out where each place hands on what it held, even if it keeps it."""
    x = case.arguments[0]
    held = np.full((KEPT, x.shape[1]), -np.inf, np.float32)
    for row in x:
        for place in range(KEPT):
            row, held[place] = held[place].copy(), np.maximum(held[place], row)
    return held


# -- sums in place


def sum_case(n: int, blocks: int = BLOCKS, threads: int = THREADS, seed: int = 0) -> Case:
    grad, a, b = (numbers(n, seed=(seed or n) + k) for k in range(3))
    wanted = (grad + np.float32(0.5) * (a + b)).astype(np.float32)
    what = f"{plural(n, 'element')}, {plural(blocks, 'block')} of {threads}"
    return Case(what, (Out(wanted, initial=grad), a, b, np.int32(n)), (blocks,), (threads,))


def counted_sum(less: int, seed: int = 0, warp: int = 0) -> Case:
    """Every thread of that warp of the launch has `EACH` elements, and the last threads one less."""
    watched = divmod(warp, THREADS // 32)
    return replace(sum_case(EACH * BLOCKS * THREADS - less, seed=seed), watched=watched)


def sums_drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [
        (int(dice.integers(2, 31)), 1, 32),
        (int(dice.integers(400, 700)), 3, 96),
        (int(dice.integers(3000, 5000)), 1, 256),
    ]
    return [
        *(sum_case(*size, int(dice.integers(1, 10**6))) for size in sizes),
        # Which warp is counted is drawn too: else a kernel would be sparing in the first one alone.
        counted_sum(int(dice.integers(1, 33)), int(dice.integers(1, 10**6)), int(dice.integers(1, WARPS - 1))),
    ]


def times_added(outcome) -> np.ndarray | None:
    """How often each element got its part, where that can be told."""
    out = outcome.case.out
    part = out.expected - out.initial
    if outcome.got is None:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(part == 0, 1, (outcome.got - out.initial) / np.where(part == 0, 1, part))
