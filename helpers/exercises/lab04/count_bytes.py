"""How often each byte occurs: private bins of a block, and copies of them."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake, Out, plural
from helpers.exercises.lab04.budgets import ATOMICS_A_BLOCK, BLOCK, BLOCKS, QUEUE, loads

BIN = "t % 4 * 257 + (word >> shift & 255)"
UP = "mine[k] + mine[257 + k] + mine[514 + k] + mine[771 + k]"
ADD_UP = f"atomicAdd(&counts[k], {UP})"
LOOP = "for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)"
ZEROS = "for (int k = t; k < 4 * 257; k += blockDim.x)"
OVER_BINS = "for (int k = t; k < 256; k += blockDim.x)"


def _case(n: int, seed: int = 0, hot: float = 0.0) -> Case:
    """`n` words of four bytes, of which a fraction `hot` is one value."""
    dice = np.random.default_rng(seed or n)
    values = np.where(dice.random(4 * n) < hot, dice.integers(0, 256), dice.integers(0, 256, 4 * n)).astype(np.uint8)
    wanted = Out(np.bincount(values, minlength=256).astype(np.int32), initial=np.zeros(256, np.int32))
    name = f"{plural(n, 'word')}" + (f", {100 * hot:.0f} % of one value" if hot else "")
    return Case(name, (values.view(np.uint32), wanted, np.int32(n)), (BLOCKS,), (BLOCK,))


def _drawn(dice: np.random.Generator) -> list[Case]:
    sizes = [(int(dice.integers(*band)), hot) for band, hot in (((2, 64), 0.0), ((513, 900), 0.5), ((2000, 3000), 0.9))]
    return [_case(n, int(dice.integers(1, 10**6)), hot) for n, hot in sizes]


EXERCISE = Exercise(
    key="lab04.count_bytes",
    title="how often each byte occurs, in CUDA C",
    language="cuda", name="count_bytes",
    cases=lambda: [*(_case(n) for n in (1, 31, 97, 512)), _case(1021, hot=0.5), _case(600, hot=1.0)],
    measured=lambda: _case(2500, hot=0.9), drawn=_drawn,
    sanitize=True, shared_out=True,
    budgets=(
        ATOMICS_A_BLOCK,
        QUEUE,
        loads(1.1, "A word brings four bytes: load it once, by lanes that read neighbours."),
    ),
    hints=(
        "Private bins of the block first. Then look at a warp: 29 of 32 lanes want the same bin. How could they want "
        "different words?",
        "Four or eight copies of the bins; lane t uses copy t % 4. Or __match_any_sync: lanes with the same byte find "
        "one another, and the first adds their number.",
        "__shared__ int mine[4 * 257]; for k = 0, 8, 16, 24: atomicAdd(&mine[t % 4 * 257 + (word >> k & 255)], 1). At "
        "the end add the four copies of a bin, and only then to counts.",
    ),
    why="Privatisation works on two levels: bins of a block keep blocks apart, copies of bins keep lanes apart. Rows "
    "of 257 put the copies of one bin into different banks. Evenly spread data never show the queue, and pictures are "
    "not evenly spread: the sky is one colour. More copies cost shared memory and a longer sum at the end, so take as "
    "many as the data ask for.",
    stretch="compare four equal bytes of a word first: one atomic adds 4. What does that do to even data, and to hot "
    "ones?",
    equivalent=(
        (("shift < 32", "shift < 31"), "the last shift is 24"),
        *(((ZEROS, ZEROS.replace("blockDim.x", step)), "set more than once, to the same") for step in
          ("blockDim.y", "gridDim.x")),
        *((("mine[4 * 257]", f"mine[{room}]"), "more room than it takes") for room in ("5 * 257", "4 * 258")),
    ),
    mistakes=(
        Mistake(
            "bytes taken for signed ones",
            "A bin outside of the 256: bytes above 127 are negative as `char`, and a shifted word still has its upper "
            "bytes. Take & 255 of an unsigned number.",
            ((" & 255", ""), (BIN, "(char)(word >> shift)"), ("word >> shift & 255", "(int)(char)(word >> shift)")),
        ),
        Mistake(
            "too little room for the bins",
            "The shared array is smaller than what is set or counted in it. Multiply: copies times their distance, "
            "which is more than 256 where they are moved on by a bank.",
            (("mine[4 * 257]", "mine[4 * 256]"), ("mine[4 * 257]", "mine[257]"), ("mine[4 * 257]", "mine[256]")),
        ),
        Mistake(
            "counted without an atomic",
            "x++ reads, adds and writes. Two threads with the same byte lose one of two counts.",
            ((f"atomicAdd(&mine[{BIN}], 1)", f"mine[{BIN}]++"),),
        ),
        Mistake(
            "the last block wins",
            "Every block has bins of its own, and counts is for all blocks, and 0 before. Who stores there overwrites "
            "what others have added: add, atomically.",
            ((ADD_UP, f"counts[k] = {UP}"), (ADD_UP, f"counts[k] += {UP}"),
             ("int t = threadIdx.x;", "int t = threadIdx.x; counts[t] = counts[128 + t] = 0;")),
        ),
        Mistake(
            "one byte of four",
            "A word holds four bytes, at bits 0, 8, 16 and 24.",
            (("shift < 32", "shift < 8"), ("shift = 0", "shift = 24")),
        ),
        Mistake(
            "one word a thread",
            "512 threads looked at 512 words and stopped. Step on by gridDim.x * blockDim.x until n.",
            ((LOOP, "int i = blockIdx.x * blockDim.x + t; if (i < n)"),),
        ),
        Mistake(
            "in other bins",
            "As many are counted as there are bytes, and some in bins of others: all eight bits of a byte, and only "
            "those, are its bin: word >> shift & 255.",
            (("& 255", "& 127"), ("& 255", "& 254"), ("& 255", "& 15")),
        ),
        Mistake(
            "counts are missing",
            "No bin has too much, and some too little. Four bytes of each word, all n words; and in the end all 256 "
            "bins of all blocks, with all copies of each, in numbers wide enough for a count.",
            ((OVER_BINS, "int k = t;"), (" + mine[771 + k]", ""), (UP, "mine[k]"), (UP, f"(unsigned char){UP}"),
             ("shift < 32", "shift < 24"), ("shift = 0", "shift = 8"), ("i < n", "i < n - 1"), ("k < 256", "k < 255")),
        ),
        Mistake(
            "counted more than once",
            "No bin has too little, and some too much. Shifts are 0, 8, 16 and 24; a thread goes on in steps of all "
            "threads of the launch, gridDim.x * blockDim.x; a copy is added once.",
            (("i += gridDim.x * blockDim.x", "i += blockDim.x"), ("shift += 8", "shift += 4"),
             ("shift < 32", "shift <= 32"), ("i = blockIdx.x * blockDim.x + t", "i = t")),
        ),
        Mistake(
            "a queue at the hot bin",
            "Right, but nine in ten bytes are the same, and lanes of a warp queue for its bin. Give lanes of one warp "
            "several copies, in different banks: copies that are a multiple of 32 apart share one. Or add up equal "
            "values before asking.",
            ((("t % 4 * 257 + ", ""), (UP, "mine[k]")), ("t % 4 * 257", "t / 32 * 257"), ("t % 4 *", "shift / 8 *"),
             (("257", "256"), ("514", "512"), ("771", "768")), ("t % 4", "t % 2")),
        ),
    ),
)  # fmt: skip
