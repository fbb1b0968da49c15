"""Bytes of a block that lie on the chip, and bytes that lie off it."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake, plural

RESOURCES = (  # threads a block, registers a thread, shared bytes a block, local bytes a thread
    (1, 32, 0, 0), (32, 16, 0, 128), (128, 40, 4096, 0), (256, 255, 49152, 16), (1024, 64, 100, 4), (96, 24, 8, 1020),
)  # fmt: skip


def _case(threads: int, registers: int, shared: int, local: int) -> Case:
    name = f"{plural(threads, 'thread')}, {registers} registers, {shared} bytes shared, {local} local"
    near = 4 * threads * registers + shared, threads * local
    return Case(name, (threads, registers, shared, local), expected=near)


EXERCISE = Exercise(
    key="ch03.bytes",
    title="bytes of a block, on the chip and off it",
    language="python",
    name="bytes_of_block",
    cases=lambda: [_case(*row) for row in RESOURCES],
    hints=(
        "Which of the three are a thread's own, and which one is the block's?",
        "Registers and shared memory lie in the SM, local memory does not.",
        "On the chip: threads * registers * 4 + shared. Off it: threads * local.",
    ),
    solution="""
def bytes_of_block(threads, registers, shared, local):
    return threads * registers * 4 + shared, threads * local
""",
    why="Registers and local memory belong to a thread, so they count once for each; shared memory belongs to the "
    "block. Only local memory is off the chip, and its cached part takes room in L1.",
    stretch="an SM has 65,536 registers: how many such blocks could it hold, going by registers alone?",
    mistakes=(
        Mistake(
            "local memory counted as on chip",
            "Local memory is a thread's own, and yet it lies in DRAM.",
            (
                ("shared, threads * local", "shared + threads * local, 0"),
                ("shared, threads * local", "shared + threads * local, threads * local"),
            ),
        ),
        Mistake(
            "on and off the chip swapped",
            "The first number is what lies on the chip, the second what lies off it.",
            ((("return ", "return threads * local, "), ("shared, threads * local", "shared")),),
        ),
        Mistake(
            "a register is taken for more or less than 4 bytes",
            "A register has 32 bits, which are 4 bytes.",
            ((" * 4", ""), ("4", "8"), ("4", "32"), ("4", "2")),
        ),
        Mistake(
            "shared memory counted for each thread",
            "There is one piece of shared memory for the whole block.",
            (("+ shared", "+ threads * shared"),),
        ),
        Mistake(
            "what each thread has is counted once",
            "A block has `threads` threads, each with registers and local memory of its own.",
            (
                ("threads * registers", "registers"), (", threads * local", ", local"),
                (("threads * registers", "registers"), (", threads * local", ", local")),
            ),
        ),
        Mistake(
            "memory in the SM counted as off chip",
            "Registers and shared memory lie in the SM, beside one another. A thread's own memory is off the chip only "
            "where it is local.",
            (
                (" + shared, threads", ", shared + threads"),
                ("threads * registers * 4 + shared,", "shared, threads * registers * 4 +"),
                ("threads * registers * 4 + shared,", "0, threads * registers * 4 + shared +"),
            ),
        ),
        Mistake(
            "bytes counted as words",
            "Registers are counted in words of 4 bytes; shared and local memory are given in bytes.",
            (
                ("+ shared", "+ 4 * shared"), (", threads", ", 4 * threads"),
                (("+ shared", "+ 4 * shared"), (", threads", ", 4 * threads")),
            ),
        ),
        Mistake(
            "one of the three is left out",
            "On the chip are registers and shared memory, off it is local memory.",
            ((" + shared", ""), ("threads * registers * 4 + ", ""), (", threads * local", ", 0")),
        ),
    ),
)  # fmt: skip
