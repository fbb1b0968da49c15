"""The widest tile of a product whose parts fit into shared memory and registers."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

BLOCKS = (
    # shared bytes, registers a thread, threads, step
    (48 * 1024, 255, 256, 8),
    (48 * 1024, 128, 256, 8),
    (48 * 1024, 64, 64, 8),
    (48 * 1024, 255, 1024, 32),
    (16 * 1024, 255, 256, 32),
    (163 * 1024, 255, 512, 16),
    (99 * 1024, 168, 128, 16),
    (8 * 1024, 255, 256, 8),
    (1024, 104, 256, 1),
    (48 * 1024, 41, 32, 8),
    (12, 255, 32, 1),
)


def _widest(shared_bytes: int, registers: int, threads: int, step: int) -> int:
    width = 1
    while 2 * (2 * width) * step * 4 <= shared_bytes and (2 * width) ** 2 / threads + 40 <= registers:
        width *= 2
    return width


def _case(shared_bytes: int, registers: int, threads: int, step: int) -> Case:
    name = f"{shared_bytes:,} bytes, {registers} registers, {threads} threads, step {step}"
    given = (shared_bytes, registers, threads, step)
    return Case(name, given, expected=_widest(*given))


EXERCISE = Exercise(
    key="ch13.widest",
    title="the widest tile that fits",
    language="python",
    name="widest",
    cases=lambda: [_case(*block) for block in BLOCKS],
    hints=(
        "Write down what a tile of width W needs: bytes of shared memory, and registers of one thread.",
        "Shared memory: two tiles of W × step floats, 4 bytes each. A thread: W · W / threads results and 40 more.",
        "Start with width 1, and double it as long as the doubled width fits both limits.",
    ),
    solution="""
def widest(shared_bytes, registers, threads, step):
    width = 1
    while True:
        wider = 2 * width
        needed_bytes = 2 * wider * step * 4
        needed_registers = wider * wider / threads + 40
        if needed_bytes > shared_bytes or needed_registers > registers:
            return width
        width = wider
""",
    why="Shared memory grows with the width, registers with its square, so for wide tiles the registers are the limit: "
    "256 threads with 255 registers hold 128 × 128 results and no more. That is why the kernels of this chapter stop "
    "there, and why tensor cores of later GPUs keep their sums in a memory of their own.",
    stretch="two blocks shall fit on an SM with 65,536 registers. How wide may the tile be then?",
    mistakes=(
        Mistake(
            "one doubling too far",
            "The width that is returned does not fit any more. Ask about the doubled width before you take it.",
            (("return width", "return wider"),),
        ),
        Mistake(
            "registers are forgotten",
            "The tiles fit, but each thread holds width · width / threads results in registers, and 40 more values.",
            ((" or needed_registers > registers", ""),),
        ),
        Mistake(
            "shared memory is forgotten",
            "The results fit into registers. Both tiles have to fit into shared memory, too.",
            (("needed_bytes > shared_bytes or ", ""),),
        ),
        Mistake(
            "one of the two is enough",
            "Both have to fit: stop as soon as either the bytes or the registers do not.",
            ((" or needed", " and needed"),),
        ),
        Mistake(
            "elements are not bytes",
            "A float has 4 bytes: two tiles of width × step floats are 2 · width · step · 4 bytes.",
            (("2 * wider * step * 4", "2 * wider * step"),),
        ),
        Mistake(
            "two factors, two tiles",
            "There is a tile of a and a tile of b, each of width × step floats.",
            (("2 * wider * step * 4", "wider * step * 4"),),
        ),
        Mistake(
            "the tile of the result lies in registers",
            "Shared memory holds a tile of each factor, width × step floats. The results are in registers.",
            (("2 * wider * step * 4", "2 * wider * wider * 4"), ("2 * wider * step * 4", "wider * wider * 4")),
        ),
        Mistake(
            "the other registers are forgotten",
            "A thread needs 40 registers besides those of its results.",
            (("/ threads + 40", "/ threads"),),
        ),
        Mistake(
            "the results are shared out among the threads",
            "The block has width · width results, and each thread holds its part of them: divide by `threads`.",
            (("wider * wider / threads", "wider * wider"), ("wider * wider / threads", "wider / threads")),
        ),
        Mistake(
            "what just fits, fits",
            "A tile that needs just as much as there is fits: stop only when it needs more.",
            (
                ("needed_bytes > shared_bytes", "needed_bytes >= shared_bytes"),
                ("needed_registers > registers", "needed_registers >= registers"),
            ),
        ),
    ),
)  # fmt: skip
