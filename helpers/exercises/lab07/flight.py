"""Sums in place, of any launch: loads of a batch first, then sums and stores, within few registers."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from helpers.checking.exercise import SECTOR, Budget, Case, Exercise, Mistake, Out, cover, numbers, plural
from helpers.exercises.lab07.budgets import FEW_REGISTERS, LOADED_ONCE, NO_SPILLS

BLOCKS, THREADS = 2, 128
EACH = 20  # elements of a thread where loads are counted
LOOP, SUM = "for (; i < n; i += 4 * all)", "u[k] + 0.5f * (v[k] + w[k])"
ONE = "for (; i < n; i += all) grad[i] += 0.5f * (a[i] + b[i]);"
EIGHT = (("4 * all", "8 * all"), ("[4]", "[8]"), ("k < 4", "k < 8"))
TWO = """for (; i + all < n; i += 2 * all) {
        float u = grad[i], v = a[i], w = b[i], x = grad[i + all], y = a[i + all], z = b[i + all];
        grad[i] = u + 0.5f * (v + w), grad[i + all] = x + 0.5f * (y + z);
    }"""


def _waits_per_kib(chain) -> float:
    """Waits of a warp; one that loads nothing leaves its share to others."""
    sectors = sum(link.sectors for link in chain.links if link.op == "load" and link.space == "global")
    return 32 * chain.waits / sectors if sectors else math.inf


def _case(n: int, blocks: int = BLOCKS, threads: int = THREADS, seed: int = 0) -> Case:
    grad, a, b = (numbers(n, seed=(seed or n) + k) for k in range(3))
    wanted = (grad + np.float32(0.5) * (a + b)).astype(np.float32)
    what = f"{plural(n, 'element')}, {plural(blocks, 'block')} of {threads}"
    reads = 3 * SECTOR * cover(grad.nbytes, SECTOR)  # what is added to is read as well
    return Case(what, (Out(wanted, initial=grad), a, b, np.int32(n)), (blocks,), (threads,), reads=reads)


def _counted(less: int, seed: int = 0, warp: int = 0) -> Case:
    """Every thread of that warp of the launch has `EACH` elements, and the last threads one less."""
    return replace(_case(EACH * BLOCKS * THREADS - less, seed=seed), watched=divmod(warp, THREADS // 32))


def _drawn(dice: np.random.Generator) -> list[Case]:
    launches = ((2, 31, 1, 32), (400, 700, 3, 96), (3000, 5000, 1, 256))
    sizes = [(int(dice.integers(least, end)), *launch) for least, end, *launch in launches]
    cases = [_case(*size, int(dice.integers(1, 10**6))) for size in sizes]
    # Which warp is counted is drawn too: else a kernel would be sparing in the first one alone.
    return [*cases, _counted(*(int(dice.integers(1, end)) for end in (33, 10**6, BLOCKS * THREADS // 32 - 1)))]


EXERCISE = Exercise(
    key="lab07.flight",
    title="more loads under way, within 32 registers, in CUDA C",
    language="cuda",
    name="accumulate",
    cases=lambda: [
        _case(*launch)
        for launch in ((1, 1, 32), (31, 2, 64), (97, 1, 32), (512, 1, 128), (1000, 2, 96), (5003, 3, 128))
    ],
    measured=lambda: _counted(77),
    drawn=_drawn,
    sanitize=True,
    shared_out=True,
    budgets=(
        Budget(
            "waits per KiB",
            _waits_per_kib,
            1.6,
            "One warp's waits for memory, for each KiB that it loads. One element at a time makes 5.3.",
            of="warp",
        ),
        FEW_REGISTERS,
        NO_SPILLS,
        LOADED_ONCE,
    ),
    hints=(
        "What must come between two loads in your kernel, by the rules of the language? grad might be a.",
        "Batches of four elements, a whole grid of threads apart: twelve loads into three arrays of four, in a loop "
        "with #pragma unroll; a second loop that adds and stores.",
        "for (; i < n; i += 4 * all): u[k] = at < n ? grad[at] : 0, likewise v[k] and w[k], at i + k * all; then, "
        "if at < n, grad[at] = u[k] + 0.5f * (v[k] + w[k]).",
    ),
    why="By Little's law a GPU wants bandwidth times latency in bytes under way, and a thread can put them there "
    "as well as further warps can. Each load under way needs a register to arrive in, though: four elements fit "
    "into 32 registers, and with them full occupancy remains possible; eight ask for more on some GPUs, and then "
    "the cap spills. So the two ways to hide latency are paid from one purse. The order counted is that of PTX; the "
    "assembler may improve on it where it may.",
    stretch="eight elements without a cap: fewer warps fit, with more loads each. What does `schedule` say?",
    equivalent=(
        (("i < n; i +=", "i <= n; i +="), "each element of a batch has a guard of its own"),
        *(((f"{name}[4]", f"{name}[5]"), "a fifth place, which nobody uses") for name in "uvw"),
        *(((f"{name}[at] : 0", f"{name}[at] : 1"), "what is not there is not stored") for name in ("grad", "a", "b")),
        *((("k < 4; ++k) {", f"{end}; ++k) {{"), "the compiler leaves out what is done past the four registers")
          for end in ("k < 5", "k <= 4")),
    ),
    mistakes=(
        Mistake("two threads have the same element",
            "Two threads come to one element of grad, so parts are lost or come twice. A thread's elements are its "
            "place in the whole grid, and every gridDim.x * blockDim.x further. Clamped to n - 1, threads beyond "
            "the end come to an element that has an owner: load and store grad only where the true index is below n.",
            (("gridDim.x * blockDim.x;", "blockDim.x;"), ("blockIdx.x * blockDim.x + ", ""),
             (("at = i + k * all", "at = min(i + k * all, n - 1)"), (" at < n ?", ""), (" : 0", "")),
             ("if (i + k * all < n) grad[i + k * all]", "grad[min(i + k * all, n - 1)]"))),
        Mistake("grad is overwritten",
            "What grad held is lost: it is +=, so add to what was loaded.", (("u[k] + ", ""),)),
        Mistake("no half",
            "The sum of a and b is added, and half of it was asked for.",
            (("0.5f * ", ""),)),
        Mistake("grad is counted twice",
            "What grad held is added to itself: either += what is new, or = all of it together.",
            (("] = u[k]", "] += u[k]"),)),
        Mistake("half of something else",
            "Half of the sum of a and b is asked for, and all of what grad held: 0.5f * (a[i] + b[i]).",
            ((SUM, "u[k] + 0.5f * v[k] + w[k]"), (SUM, "0.5f * (u[k] + v[k] + w[k])"))),
        Mistake("a or b twice",
            "One of the two micro-batches came twice, the other not at all.",
            (("v[k] + w[k]", "v[k] + v[k]"), ("v[k] + w[k]", "w[k] + w[k]"))),
        Mistake("some elements are added more than once",
            "A trip of the loop does several elements, so the next trip begins that many grids of threads later.",
            (("i += 4 * all", "i += all"),)),
        Mistake("some elements are left out",
            "Any launch has to do all n: after a batch go on, and do what is left over too.",
            ((LOOP, "if (i < n)"), ("i < n; i +=", "i + 3 * all < n; i +="))),
        Mistake("neighbours in a thread instead of neighbours in a warp",
            "Sectors come more than once. A thread with several elements side by side leaves its neighbours as far "
            "apart: chapter 04. Let a thread's elements be a whole grid of threads apart, or load float4; and load "
            "no value twice.",
            ((("i + k * all", "4 * i + k"), ("i < n; i += 4 * all", "4 * i < n; i += all")),)),
        Mistake("a value is used before the next is asked for",
            "A warp goes on until it needs a value that is not there. In the PTX, a store to grad stands ahead of "
            "the next load, which may not pass it, or a sum stands between two loads. Load a whole batch into "
            "arrays of its own first, then compute and store. (`__restrict__` only allows the compiler to move "
            "loads; arrays are registers only where loops are unrolled.)",
            (ONE, f"{TWO} {ONE}", ("#pragma unroll", "#pragma unroll 1"))),
        Mistake("the registers were taken away, the values were not",
            "With a cap of 32 registers so large a batch does not fit: its values go to local memory and back. Take "
            "a smaller batch.",
            ((*EIGHT, ('"accumulate")', '"accumulate", ("-maxrregcount=32",))')),
             (*EIGHT, ("__global__ void", "__global__ void __launch_bounds__(1024, 2)")))),
        Mistake("too many values at once",
            "Each value under way needs a register to arrive in, each 64-bit address two. Take a smaller batch or "
            "int indices, or say with __launch_bounds__ what you want to launch, and see whether it spills.",
            (EIGHT,)),
    ),
)  # fmt: skip
