"""What PyTorch's profiler writes as a kernel's estimated achieved occupancy, from the launch and the compiler."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake
from vgpu.hardware import gpus
from vgpu.hardware.occupancy import occupancy

LAUNCHES = (  # blocks, threads of a block, registers of a thread, bytes of shared memory, GPU
    (800, 512, 40, 0, "RTX 5090"),
    (64, 256, 56, 0, "A100"),
    (1000, 256, 56, 0, "A100"),
    (432, 256, 56, 0, "A100"),
    (54, 1024, 32, 0, "A100"),
    (300, 128, 168, 49152, "H100"),
    (7, 64, 24, 0, "T4"),
    (10000, 32, 24, 0, "RTX 3090"),
)


def _estimate(blocks: int, threads: int, registers: int, shared_bytes: int, name: str) -> float:
    gpu = gpus.find(name)
    held = occupancy(registers, shared_bytes, threads, gpu)
    return 100 * min(blocks / gpu.sms, held.blocks_per_sm) * threads / gpu.threads_per_sm


def _case(*launch) -> Case:
    blocks, threads, registers, shared_bytes, name = launch
    shared = f", {shared_bytes:,} bytes shared" if shared_bytes else ""
    said = f"{blocks:,} blocks of {threads}, {registers} registers{shared} on {name}"
    return Case(said, launch, expected=_estimate(*launch))


PER_SM = "min(blocks / gpu.sms, held.blocks_per_sm)"

EXERCISE = Exercise(
    key="ch09.profiled",
    title="the profiler's estimated occupancy, in Python",
    language="python",
    name="estimated",
    cases=lambda: [_case(*launch) for launch in LAUNCHES],
    tolerance=1e-6,
    hints=(
        "How many blocks does an SM get on average? It cannot hold more at a time than its resources allow.",
        "blocks / gpu.sms is the average, and occupancy(registers, shared_bytes, threads, gpu).blocks_per_sm the most.",
        "Take the smaller of the two, times the threads of a block, divided by gpu.threads_per_sm, in per cent.",
    ),
    solution="""
from helpers import gpus, occupancy

def estimated(blocks, threads, registers, shared_bytes, name):
    gpu = gpus.find(name)
    held = occupancy(registers, shared_bytes, threads, gpu)
    per_sm = min(blocks / gpu.sms, held.blocks_per_sm)
    return 100 * per_sm * threads / gpu.threads_per_sm
""",
    why="The estimate knows two things that limit the warps of an SM: what the kernel's blocks need, and how many of "
    "them there are. It does not know how the blocks end, so it says nothing of a tail.",
    stretch="tell from the two parts which one limits: too few blocks, or blocks that need too much.",
    mistakes=(
        Mistake(
            "the launch may be too small",
            "That is the theoretical occupancy: it says how many blocks an SM could hold. A small grid has fewer "
            "blocks for each SM.",
            ((PER_SM, "held.blocks_per_sm"),),
        ),
        Mistake(
            "an SM holds only so many",
            "A large grid has many blocks for each SM, but they are not there at the same time: at most "
            "held.blocks_per_sm are.",
            ((PER_SM, "blocks / gpu.sms"),),
        ),
        Mistake(
            "an average need not be whole",
            "64 blocks on 108 SMs are 0.59 blocks an SM on average. The profiler does not round this number.",
            (("blocks / gpu.sms", "blocks // gpu.sms"), ("blocks / gpu.sms", "(blocks + gpu.sms - 1) // gpu.sms")),
        ),
        Mistake(
            "per cent are wanted",
            "Your answer is a share between 0 and 1. The profiler writes per cent.",
            (("100 * per_sm", "per_sm"),),
        ),
        Mistake(
            "threads and warps are mixed",
            "Divide threads by threads, gpu.threads_per_sm, or warps by warps, gpu.warps_per_sm.",
            (("gpu.threads_per_sm", "gpu.warps_per_sm"), ("per_sm * threads", "per_sm")),
        ),
        Mistake(
            "divided among all SMs once more",
            "held.blocks_per_sm already belongs to one SM. Only the blocks of the grid are divided by the SMs.",
            ((PER_SM, "min(blocks, held.blocks_per_sm) / gpu.sms"),),
        ),
    ),
)
