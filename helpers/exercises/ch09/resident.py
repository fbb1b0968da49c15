"""How many blocks an SM holds, by hand: each of four resources allows so many, and the scarcest decides."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake, plural
from vgpu.hardware import gpus
from vgpu.hardware.occupancy import occupancy

KERNELS = (  # registers of a thread, bytes of shared memory, threads of a block, GPU
    (56, 0, 256, "A100"),
    (24, 0, 32, "A100"),
    (33, 0, 256, "A100"),
    (40, 0, 96, "A100"),
    (32, 32768, 256, "A100"),
    (37, 8192, 1024, "RTX 3090"),
    (24, 0, 80, "RTX 4090"),
    (32, 10800, 64, "T4"),
    (128, 40960, 128, "B200"),
    (96, 0, 1024, "H100"),
    (24, 0, 513, "A100"),
    (32, 19968, 128, "A100"),
    (32, 19969, 128, "A100"),
)
ALL = "min(by_warps, by_registers, by_shared, gpu.blocks_per_sm)"


def _case(registers: int, shared_bytes: int, threads: int, name: str) -> Case:
    held = occupancy(registers, shared_bytes, threads, gpus.find(name))
    said = f"{registers} registers, {plural(shared_bytes, 'byte')} shared, {threads} threads on {name}"
    return Case(said, (registers, shared_bytes, threads, name), expected=held.blocks_per_sm)


EXERCISE = Exercise(
    key="ch09.resident",
    title="how many blocks an SM holds, in Python",
    language="python",
    name="resident",
    cases=lambda: [_case(*kernel) for kernel in KERNELS],
    hints=(
        "Work out four numbers of blocks, one for each resource, and return the smallest.",
        "Registers: a warp takes 32 * registers, rounded up to a multiple of 256. A quarter of the SM has "
        "gpu.registers_per_sm // 4 of them. Four times what fits a quarter, divided by the warps of a block.",
        "Shared memory: shared_bytes + gpu.shared_reserved, rounded up to a multiple of gpu.shared_granularity. "
        "Rounding n up to a multiple of u is (n + u - 1) // u * u.",
    ),
    solution="""
from helpers import gpus

def resident(registers, shared_bytes, threads, name):
    gpu = gpus.find(name)
    warps = (threads + 31) // 32
    by_warps = gpu.warps_per_sm // warps

    a_warp = (32 * registers + 255) // 256 * 256
    in_a_quarter = gpu.registers_per_sm // 4 // a_warp
    by_registers = 4 * in_a_quarter // warps

    unit = gpu.shared_granularity
    a_block = (shared_bytes + gpu.shared_reserved + unit - 1) // unit * unit
    by_shared = gpu.shared_per_sm // a_block
    return min(by_warps, by_registers, by_shared, gpu.blocks_per_sm)
""",
    why="Each resource alone would allow so many blocks, and a block needs all four. So the smallest number counts, "
    "and what the other resources have left over stays unused.",
    stretch="return the name of the resource that decides as well, or both names where two tie.",
    equivalent=(
        (
            ("255) // 256 * 256", "255) // 257 * 256"),
            "so many registers a thread leave two warps in a quarter either way",
        ),
        (("255) // 256", "254) // 256"), "a warp's registers are a multiple of 32 before they are rounded up"),
        (("256 * 256", "256 * 255"), "a quarter of 16,384 holds as many warps either way"),
    ),
    mistakes=(
        Mistake(
            "only the places for warps",
            "That is what the places for warps allow. Registers, shared memory and places for blocks may allow fewer.",
            ((ALL, "by_warps"),),
        ),
        Mistake(
            "the places for blocks are missing",
            "Small blocks need few registers and few places for warps, but an SM has only gpu.blocks_per_sm places for "
            "blocks.",
            ((ALL, "min(by_warps, by_registers, by_shared)"),),
        ),
        Mistake(
            "registers come in units of 256",
            "A warp of 33 registers a thread takes 1,056, and is given 1,280: registers are given out in units of 256.",
            (("(32 * registers + 255) // 256 * 256", "32 * registers"),),
        ),
        Mistake(
            "a warp cannot take registers of two quarters",
            "The registers lie in four quarters, and a warp lives in one of them. So work out how many warps fit a "
            "quarter, and take that four times.",
            (("4 * in_a_quarter // warps", "gpu.registers_per_sm // (a_warp * warps)"),),
        ),
        Mistake(
            "a part of a warp is a warp",
            "80 threads are three warps, and the third takes its place and its registers like any other. Round up.",
            (("(threads + 31) // 32", "threads // 32"), ("(threads + 31) // 32", "threads / 32")),
        ),
        Mistake(
            "the driver's kibibyte is missing",
            "From Ampere on the driver keeps 1 KiB of shared memory in every block: gpu.shared_reserved.",
            (("shared_bytes + gpu.shared_reserved", "shared_bytes + 1"), ("+ gpu.shared_reserved", "+ 0 + 1")),
        ),
        Mistake(
            "shared memory comes in units",
            "Shared memory is given out in units of gpu.shared_granularity bytes: round up.",
            (("(shared_bytes + gpu.shared_reserved + unit - 1) // unit * unit", "shared_bytes + gpu.shared_reserved"),),
        ),
        Mistake(
            "registers or shared memory are left out",
            "One of the resources does not count in your answer. A block needs all four.",
            (
                (ALL, "min(by_warps, by_registers, gpu.blocks_per_sm)"),
                (ALL, "min(by_warps, by_shared, gpu.blocks_per_sm)"),
            ),
        ),
    ),
)
