"""How many elements each thread has to load at once, so that a full SM has enough bytes under way."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake, plural
from vgpu.hardware import gpus
from vgpu.hardware.occupancy import occupancy

WANTED = (  # bytes under way in an SM, registers of a thread, threads of a block, bytes of an element, GPU
    (16384, 56, 256, 4, "A100"),
    (32768, 32, 128, 4, "H100"),
    (65536, 24, 128, 2, "B200"),
    (12288, 24, 256, 4, "V100"),
    (16384, 40, 96, 8, "A100"),
    (10000, 24, 1024, 1, "RTX 4090"),
    (8192, 24, 32, 4, "T4"),
    (1000, 24, 256, 4, "RTX 3090"),
    (8193, 32, 128, 4, "H100"),
)


def _elements(wanted: int, registers: int, threads: int, itemsize: int, name: str) -> int:
    at_once = occupancy(registers, 0, threads, gpus.find(name)).blocks_per_sm * threads * itemsize
    return -(-wanted // at_once)


def _case(*launch) -> Case:
    wanted, registers, threads, itemsize, name = launch
    said = f"{wanted:,} bytes, {registers} registers, blocks of {threads}, {plural(itemsize, 'byte')} each on {name}"
    return Case(said, launch, expected=_elements(*launch))


EXERCISE = Exercise(
    key="ch09.flight",
    title="elements a thread, from the bytes under way, in Python",
    language="python",
    name="elements",
    cases=lambda: [_case(*launch) for launch in WANTED],
    hints=(
        "How many threads are on a full SM? What do they ask for, if each of them loads one element?",
        "occupancy(registers, 0, threads, gpus.find(name)).blocks_per_sm blocks, each of `threads` threads, ask for "
        "itemsize bytes a thread.",
        "Divide the wanted bytes by that, and round up: (a + b - 1) // b.",
    ),
    solution="""
from helpers import gpus, occupancy

def elements(wanted, registers, threads, itemsize, name):
    held = occupancy(registers, 0, threads, gpus.find(name))
    at_once = held.blocks_per_sm * threads * itemsize
    return (wanted + at_once - 1) // at_once
""",
    why="Little's law says how many bytes have to be under way, and occupancy says how many threads there are to ask "
    "for them. What a thread has to ask for is the quotient. If elements are small, it takes more of them.",
    stretch="more elements a thread need more registers, which may cost occupancy: take 4 registers for each element.",
    equivalent=((("registers, 0,", "registers, 1,"), "a byte of shared memory costs no block here"),),
    mistakes=(
        Mistake(
            "rounded down",
            "So many elements are not quite enough. Round up.",
            (("(wanted + at_once - 1) // at_once", "wanted // at_once"),),
        ),
        Mistake(
            "one element too many",
            "If the bytes are reached exactly, no further element is needed.",
            (("(wanted + at_once - 1) // at_once", "wanted // at_once + 1"),),
        ),
        Mistake(
            "not every place for a warp is taken",
            "You count with all places of the SM. Registers, or the places for blocks, may allow fewer threads.",
            (
                ("held.blocks_per_sm * threads", "gpus.find(name).threads_per_sm"),
                ("held.blocks_per_sm * threads", "32 * held.max_warps_per_sm"),
            ),
        ),
        Mistake(
            "an element has a size",
            "The wanted number is one of bytes, and each element has `itemsize` of them.",
            (("threads * itemsize", "threads"), ("threads * itemsize", "threads * 4")),
        ),
        Mistake(
            "one block is not all",
            "An SM holds held.blocks_per_sm blocks at a time, and all of them ask.",
            (("held.blocks_per_sm * threads", "threads"),),
        ),
        Mistake(
            "bytes of all SMs",
            "The wanted bytes are those of one SM, not of the whole GPU.",
            (("* threads * itemsize", "* threads * itemsize * gpus.find(name).sms"),),
        ),
    ),
)
