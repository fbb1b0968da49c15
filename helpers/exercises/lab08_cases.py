"""What lab 08 is tried on, and what its budgets measure: series in time, an axis along which a thread has to walk."""

from __future__ import annotations

import functools

import numpy as np

from helpers.checking.exercise import Case, plural
from helpers.checking.stream_work import OnDevice, Out, Pageable, microseconds, of
from helpers.results.streams.recording import Timeline

NEVER = 1e6
"""Microseconds of work that no kernel did."""
TIMES = 8
"""How often the third part of `lab08.branches` is smoothed."""
STEPS, SERIES = 256, 512
"""Of what is counted: 512 KiB, which a kernel of two blocks takes about as long for as a copy does."""
BLOCK = (128,)
_REPEAT = 8  # so many series are data, the others repeat them: results stay short in JSON

SMOOTH = r"""extern "C" __global__
void smooth(float* x, int series, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= series) return;
    float level = 0;
    for (int t = 0; t < steps; ++t) {
        level = (level + x[t * series + i]) / 2;
        x[t * series + i] = level;
    }
}"""
CARRY = r"""extern "C" __global__
void smooth(float* x, float* level, int series, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= series) return;
    float held = level[i];
    for (int t = 0; t < steps; ++t) {
        held = (held + x[t * series + i]) / 2;
        x[t * series + i] = held;
    }
    level[i] = held;
}"""
LAYER = r"""extern "C" __global__
void layer(const float* x, float* y, int series, int steps, int backward) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= series) return;
    float level = 0;
    for (int k = 0; k < steps; ++k) {
        int t = backward ? steps - 1 - k : k;
        level = (level + x[t * series + i]) / 2;
        y[t * series + i] = level;
    }
}"""
ADD = r"""extern "C" __global__
void add(float* x, const float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += y[i];
}"""


@functools.cache
def _kernel(source: str, name: str):
    from helpers.vgpu.standins import cupy as cp

    return cp.RawKernel(source, name)


def _values(*shape: int, seed: int) -> np.ndarray:
    """Quarters from -8 to 8, which repeat along the last axis."""
    few = np.random.default_rng(seed).integers(-32, 33, (*shape[:-1], min(shape[-1], _REPEAT))) / 4
    return np.ascontiguousarray(np.tile(few, -(-shape[-1] // _REPEAT))[..., : shape[-1]], np.float32)


def _blank(*shape: int) -> np.ndarray:
    return np.full(shape, np.nan, np.float32)


def smoothed(x: np.ndarray, level=0, times: int = 1) -> np.ndarray:
    """Along the second axis from the end each value becomes the mean of itself and of what came out before."""
    for _ in range(times):
        held, x = np.zeros_like(x[..., 0, :]) + level, x.copy()
        for t in range(x.shape[-2]):
            held = x[..., t, :] = (held + x[..., t, :]) / 2
    return x


def _batches(count: int) -> str:
    return "1 batch" if count == 1 else f"{count:,} batches"


def _seed(dice: np.random.Generator) -> int:
    return int(dice.integers(1, 10**6))


# -- what recordings come to


def time(timeline: Timeline) -> float:
    """Modelled microseconds; of a recording without a kernel, `NEVER`: the host has done the work, if anybody."""
    kernels = of(timeline, "kernel") or of(timeline, "graph")
    return microseconds(timeline) if kernels else NEVER


def requests(timeline: Timeline) -> float:
    """What the host asks for: copies, launches, graphs, waits, and once what is in each graph."""
    graphs = {id(each.graph): len(each.nodes) for each in of(timeline, "graph")}
    asked = [each for each in timeline.operations if each.kind not in ("host read", "host write", "record", "wait")]
    return len(asked) + sum(graphs.values()) if of(timeline, "kernel") or graphs else NEVER


def filled_mebibytes(timeline: Timeline) -> float:
    """Device memory that copies from the host fill, each byte once, in MiB."""
    return _of_copies_in(timeline, writes=True)


def sent_mebibytes(timeline: Timeline) -> float:
    """The host's memory that copies to the device come from, each byte once, in MiB."""
    return _of_copies_in(timeline, writes=False)


def _of_copies_in(timeline: Timeline, writes: bool) -> float:
    spans = sorted(
        (int(each.starts[0]), int(each.ends[-1]))
        for operation in of(timeline, "H2D")
        for each in operation.accesses
        if each.writes == writes
    )
    found, past = 0, 0
    for start, end in spans:
        found += max(0, end - max(start, past))
        past = max(past, end)
    return found / 2**20


# -- batches through two pinned buffers


def stage_case(batches: int, steps: int, series: int, seed: int = 1) -> Case:
    x = _values(batches, steps, series, seed=seed)
    arguments = (
        Pageable(x), _blank(2, steps, series), OnDevice(_blank(*x.shape)), Out(smoothed(x)), _kernel(SMOOTH, "smooth"),
    )  # fmt: skip
    return Case(f"{_batches(batches)} of {steps} × {series}", arguments, block=BLOCK)


def stages_drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [(2, 1, int(dice.integers(2, 9))), (int(dice.integers(5, 8)), int(dice.integers(2, 40)), 129)]
    return [stage_case(*size, _seed(dice)) for size in (*sizes, (8, STEPS, SERIES))]


def wrong_buffer(case: Case) -> np.ndarray:
    """What comes out where one buffer is filled, and both are sent: what was not filled is not a number."""
    x = case.arguments[0].array.copy()
    x[1::2] = np.nan
    return smoothed(x)


# -- three chains that join


def branches_case(steps: int, series: int, seed: int = 1) -> Case:
    x, y, z = (_values(steps, series, seed=seed + k) for k in range(3))
    return Case(f"{steps} × {series}", (x, y, z, Out(joined(x, y, z))), block=BLOCK)


def joined(x, y, z, once: int = 1, again: int = 1, times: int = TIMES) -> np.ndarray:
    both = smoothed(x, times=once) + smoothed(y, times=once)
    return smoothed(both, times=again) + smoothed(z, times=times)


def one_not_smoothed(which: int):
    """What comes out where x, or y, is added as it came."""

    def wrong(case: Case) -> np.ndarray:
        x, y, z = case.arguments[:3]
        parts = [part if n == which else smoothed(part) for n, part in enumerate((x, y))]
        return smoothed(sum(parts)) + smoothed(z, times=TIMES)

    return wrong


def twice(first: int, second: int):
    """What comes out where the part `first` stands in the place of `second`."""

    def wrong(case: Case) -> np.ndarray:
        parts = list(case.arguments[:3])
        parts[second] = parts[first]
        return joined(*parts)

    return wrong


def branches_drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [(1, int(dice.integers(2, 30))), (int(dice.integers(3, 40)), 131), (int(dice.integers(41, 70)), 257)]
    return [branches_case(*size, _seed(dice)) for size in (*sizes, (STEPS, SERIES))]


# -- a long series through two small buffers


def carry_case(length: int, steps: int, series: int, seed: int = 1) -> Case:
    x, level = _values(length, series, seed=seed), _values(series, seed=seed + 1)
    arguments = (
        x, OnDevice(_blank(2, steps, series)), OnDevice(level), Out(smoothed(x, level)), _kernel(CARRY, "smooth"),
    )  # fmt: skip
    return Case(f"{length:,} × {series} in pieces of {steps}", arguments, block=BLOCK)


def carries_drawn(dice: np.random.Generator) -> list[Case]:
    short = int(dice.integers(2, 9))
    sizes = [
        (short, short, 33),
        (int(dice.integers(20, 60)), int(dice.integers(3, 7)), 1),
        (int(dice.integers(100, 140)), int(dice.integers(20, 30)), 130),
    ]
    counted = 1800 + int(dice.integers(0, 200)), STEPS, SERIES
    return [carry_case(*size, _seed(dice)) for size in (*sizes, counted)]


def forgetful(case: Case) -> np.ndarray:
    """What comes out where each piece begins at the first level again."""
    x, buffers, level = case.arguments[0], case.arguments[1].array, case.arguments[2].array
    steps = buffers.shape[1]
    return np.concatenate([smoothed(x[first : first + steps], level) for first in range(0, len(x), steps)])


# -- a graph for each batch


def epoch_case(batches: int, steps: int, series: int, depth: int, seed: int = 1) -> Case:
    x = _values(batches, steps, series, seed=seed)
    blank = OnDevice(_blank(steps, series))
    kernels = _kernel(LAYER, "layer"), _kernel(ADD, "add")
    arguments = (x, blank, blank, blank, Out(both_ways(x, depth)), *kernels, depth)
    return Case(f"{_batches(batches)} of {steps} × {series}, {plural(depth, 'layer')}", arguments, block=BLOCK)


def both_ways(x: np.ndarray, depth: int, ahead: bool = True, backwards: bool = True) -> np.ndarray:
    """The sum of both chains; without `backwards` or `ahead` both run the other way."""
    forward, back = smoothed(x, times=depth), smoothed(x[:, ::-1], times=depth)[:, ::-1]
    return (forward if ahead else back) + (back if backwards else forward)


def epochs_drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [
        (2, 1, int(dice.integers(2, 9)), 1),
        (int(dice.integers(4, 7)), int(dice.integers(3, 20)), 37, 2),
        (3, int(dice.integers(20, 40)), 130, 4),
    ]
    return [epoch_case(*size, _seed(dice)) for size in (*sizes, (8, 64, 128, 3))]


def first_batch_again(case: Case) -> np.ndarray:
    """What comes out where the graph copies in the batch that it was captured with."""
    wanted = case.out.expected
    return np.broadcast_to(wanted[:1], wanted.shape)


DEPTHS = (("depth", 1), (1, "depth"), *((n, n) for n in range(1, 5)), ("one more", "one more"))
"""Numbers of layers, forward and backward, that come of layers which all read x, of a number that never changes, and of
a layer too many."""


def of_depths(ahead: int | str, back: int | str):
    """What comes out with another number of layers in the one direction or the other."""

    def wrong(case: Case) -> np.ndarray:
        x, depth = case.arguments[0], case.arguments[-1]
        times = [{"depth": depth, "one more": depth + 1}.get(n, n) for n in (ahead, back)]
        return smoothed(x, times=times[0]) + smoothed(x[:, ::-1], times=times[1])[:, ::-1]

    return wrong


def nearest_part(outcome) -> np.ndarray:
    """How far each element is from the nearest of f, b and their sum."""
    x, depth = outcome.case.arguments[0], outcome.case.arguments[-1]
    ahead, back = smoothed(x, times=depth), smoothed(x[:, ::-1], times=depth)[:, ::-1]
    with np.errstate(invalid="ignore"):
        apart = [np.nan_to_num(np.abs(outcome.got - each), nan=np.inf) for each in (ahead, back, ahead + back)]
    return np.minimum.reduce(apart)
