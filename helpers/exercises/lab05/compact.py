"""What is positive is kept, in order: places by a scan of zeros and ones."""

from __future__ import annotations

import numpy as np

from helpers.checking.budgets import COALESCED, LOADS_SHARED_OUT
from helpers.checking.exercise import Case, Exercise, Mistake, Out, numbers, plural
from helpers.exercises.lab05.budgets import BARRIERS_A_ROUND, BLOCK, COALESCED_STORES, ENDED, NO_ATOMICS

SIZES = (1, 31, 97, 256, 257, 1021)
BY_ATOMICS = """    s = cuda.shared.array(1, "int32")
    t, lane = cuda.threadIdx.x, cuda.threadIdx.x % 32
    if t == 0:
        s[0] = 0
    cuda.syncthreads()
    for first in range(0, x.size, 256):
        v = x[first + t] if first + t < x.size else np.float32(0)"""
BY_WARPS = f"""{BY_ATOMICS}
        bits, base = cuda.ballot_sync(0xFFFFFFFF, v > 0), 0
        if lane == 0:
            base = cuda.atomic.add(s, 0, cuda.popc(bits))
        base = cuda.shfl_sync(0xFFFFFFFF, base, 0)
        if v > 0:
            out[base + cuda.popc(bits & ((1 << lane) - 1))] = v"""
BY_THREADS = f"""{BY_ATOMICS}
        if v > 0:
            out[cuda.atomic.add(s, 0, 1)] = v"""


def _case(n: int, seed: int = 0, share: float = 0.5) -> Case:
    dice = np.random.default_rng(seed or n)
    x = np.where(dice.random(n) < share, 1, -1) * np.abs(numbers(n, seed=seed or n))
    x = x.astype(np.float32)
    x[3::11] = 0
    kept = np.zeros_like(x)
    kept[: (x > 0).sum()] = x[x > 0]
    return Case(plural(n, "element"), (x, Out(kept, initial=np.zeros(n, np.float32))), (1,), (BLOCK,))


def _drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [int(dice.integers(*band)) for band in ((2, 32), (33, 256), (257, 600), (2000, 4000))]
    return [_case(n, int(dice.integers(1, 10**6)), dice.uniform(0.4, 0.7)) for n in sizes]


EXERCISE = Exercise(
    key="lab05.compact",
    title="keep what is positive, in order, in Numba",
    language="numba", name="compact",
    cases=lambda: [_case(n) for n in SIZES],
    measured=lambda: _case(3001), drawn=_drawn,
    sanitize=True, also_wrong=ENDED, shared_out=True,
    budgets=(COALESCED, COALESCED_STORES, BARRIERS_A_ROUND, NO_ATOMICS, LOADS_SHARED_OUT),
    hints=(
        "In rounds of 256: each thread needs to know how many before it keep their element: in its warp, in the warps "
        "before, in the rounds before.",
        "cuda.ballot_sync(0xFFFFFFFF, keep) has a bit for each lane. cuda.popc counts bits; those of the lanes before "
        "yours are in bits & ((1 << lane) - 1).",
        "Each warp stores its count to s[t // 32]; barrier; a thread's place is carried + the counts of the warps "
        "before + the bits before; carried grows by all eight counts; barrier, and the next round.",
    ),
    why="A place is a sum of what lies before, so compaction is a scan of zeros and ones; one bit a lane makes it an "
    "instruction. The order is that of the array in every run, where an atomic would give the order of arrival. All "
    "threads stay in the loop until its last round, so that barriers and ballots are complete. Kept elements of a warp "
    "lie side by side, so their stores are nearly coalesced without more ado.",
    stretch="let more than one block work: a first launch counts what each block keeps, a second one places it.",
    equivalent=(
        (("array(8", "array(9"), "one place more than warps"),
        (("t % 32 == 0", "t % 33 == 0"), "one lane of each warp still stores: all have the same bits"),
        (("t % 32 == 0", "t % 32 == 1"), "one lane of each warp still stores: all have the same bits"),
        (("t % 32 == 0", "t % 31 == 0"), "one lane or two of each warp store, the same number"),
        (("s[t // 32] =", "s[t // 31] ="), "of those that store, 32 apart, each still has the place of its warp"),
    ),
    mistakes=(
        Mistake(
            "a place too far on",
            "out[0] is empty. An element's place is the number of those kept before it; its own bit does not count.",
            (("(1 << t % 32) - 1", "(2 << t % 32) - 1"),),
        ),
        Mistake(
            "no guard for the last round",
            "The last round has fewer than 256 elements: a thread without one brings 0, which is not kept.",
            ((" if first + t < x.size else np.float32(0)", ""), ("first + t < x", "first + t <= x")),
        ),
        Mistake(
            "two elements in one place",
            "Two threads store to one element of out. A place is the number of elements kept before: in this warp, in "
            "the warps before it, and in all rounds before this one; who keeps nothing stores nothing.",
            ((" if warp < t // 32 else 0", ""), ("if v > 0:\n            out", "if True:\n            out")),
        ),
        Mistake(
            "holes are left",
            "Elements or rounds begin where they stood in x. A place is the number of elements that are kept before "
            "it.",
            (("out[place]", "out[first + t]"), ("carried += s[warp]", "carried += 32")),
        ),
        Mistake(
            "the negative ones are kept",
            "What is greater than 0 is kept, and what is below 0 is not.",
            (("v > 0", "v < 0"),),
        ),
        Mistake(
            "zeros are kept",
            "Zero is not positive, and takes no place.",
            ((("v > 0", "v >= 0"), ("np.float32(0)", "np.float32(-1)")),),
        ),
        Mistake(
            "each round begins at 0",
            "The next 256 elements overwrite what the first ones left: carry on how many have been kept so far.",
            (("carried += s[warp]", "carried += 0"),),
        ),
        Mistake(
            "some rounds are left out",
            "The block has 256 threads, and the array more elements: go on, 256 further each time, until all are met. "
            "What is left after the last 256 is a round more, in which only some threads have an element.",
            (("range(0, x.size,", "range(0, min(x.size, 256),"), ("x.size, 256)", "x.size // 256 * 256, 256)"),
             ("x.size, 256)", "x.size - 256, 256)")),
        ),
        Mistake(
            "the order is that of arrival",
            "Every element is there, and in another order: places went to whoever came first. A warp's place is what "
            "all warps before it have kept, whether they have come yet or not.",
            (BY_WARPS, BY_THREADS),
        ),
        Mistake(
            "places from an atomic",
            "Right here, because warps ran in order, and by nothing else. A scan gives every element its place, "
            "whoever comes first.",
            (f"{BY_THREADS}\n        cuda.syncthreads()",),
        ),
        Mistake(
            "loaded, and loaded again",
            "Right, but elements are loaded twice. In one pass each is loaded once: put it into a variable, which "
            "outlives barriers; the compiler may not keep it across one for you.",
            (("out[place] = v", "out[place] = x[first + t]"),),
        ),
    ),
)  # fmt: skip
