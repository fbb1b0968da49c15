"""Lab 07, occupancy: how far a kernel may grow, what to launch, few registers, and many loads within few registers."""

from __future__ import annotations

import math

from helpers.checking.exercise import Budget, Exercise
from helpers.checking.measures import loaded_for_needed, total
from helpers.exercises import lab07_cases as cases
from helpers.exercises import lab07_choice_mistakes as choice_mistakes
from helpers.exercises import lab07_mistakes as mistakes
from helpers.exercises.lab07_mistakes import LOADED, NO_REGISTERS, REGISTERS, SPILLS, WAITS

GPUS = ("A100", "H100")
"""Those on which 32 registers a thread let every place for a warp be taken."""


def _worst(*names: str):
    """The sum of compiler's numbers on the GPU where it is largest."""
    return lambda profile: max(sum(getattr(profile.on(gpu).resources, name) for name in names) for gpu in GPUS)


def _waits_per_kib(chain) -> float:
    """Waits of a warp; one that loads nothing leaves its share to others."""
    sectors = sum(link.sectors for link in chain.links if link.op == "load" and link.space == "global")
    return 32 * chain.waits / sectors if sectors else math.inf


FEW_REGISTERS = Budget(
    REGISTERS,
    _worst("registers"),
    32,
    f"The worse of {' and '.join(GPUS)}: with 32 registers a thread all 64 warps fit on an SM.",
)
NO_SPILLS = Budget(
    SPILLS, _worst("spill_store_bytes", "spill_load_bytes"), 0, "A limit on registers does not make values fewer."
)
LOADED_ONCE = Budget(
    LOADED,
    loaded_for_needed,
    1.1,
    "Every sector comes once if the lanes of a warp read neighbours, and nobody reads them again.",
)

EXERCISES = (
    Exercise(
        key="lab07.room",
        title="how far a kernel may grow, in Python",
        language="python",
        name="room",
        cases=lambda: [
            cases.room_case(*needs)
            for needs in (
                (56, 0, 256, "A100"),
                (33, 20, 128, "A100"),
                (40, 7, 96, "RTX 4090"),
                (24, 30, 64, "H100"),
                (61, 3, 512, "T4"),
                (200, 0, 512, "A100"),
                (30, 60, 64, "A100"),
            )
        ],
        drawn=cases.rooms_drawn,
        mistakes=choice_mistakes.ROOM,
        hints=(
            "Nothing is lost as long as blocks_per_sm stays what it is.",
            "For registers try every value from the present one up to 255, and keep the last with which as many blocks "
            "fit. Then KiB by KiB, with the registers as they were.",
            "held = occupancy(registers, 1024 * kib, threads, gpu).blocks_per_sm; most = max(r for r in "
            "range(registers, 256) if occupancy(r, 1024 * kib, threads, gpu).blocks_per_sm == held).",
        ),
        why=(
            "Occupancy is a staircase: blocks come whole, registers in units of 8 a thread, and between two steps more "
            "costs nothing. A kernel with 33 registers may as well have 40, and keep a value that it would load again "
            "or load something earlier. So know the width of the step that you stand on before you save registers, and "
            "before you spend them. It is another one on each GPU."
        ),
        stretch="which block size has the widest step, for 33 registers on each GPU of the table?",
    ),
    Exercise(
        key="lab07.launch",
        title="a block size, and one wave of blocks, in Python",
        language="python",
        name="choose",
        cases=lambda: [
            cases.launch_case(*needs)
            for needs in (
                (24, 0, 10**6, "A100"),
                (40, 16, 10**6, "RTX 4090"),
                (72, 8, 10**7, "H100"),
                (50, 20, 5000, "T4"),
                (36, 3, 97, "B200"),
                (32, 60, 10**5, "L4"),
                (90, 12, 10**6, "RTX 3090"),
                (32, 0, 1, "A100"),
                (24, 0, 6400, "A100"),
            )
        ],
        drawn=cases.launches_drawn,
        mistakes=choice_mistakes.LAUNCH,
        hints=(
            "First the block size, by warps_per_sm; then the number of blocks.",
            "for threads in range(32, 1025, 32), and a new best only where it is greater than the old one.",
            "held = occupancy(registers, 4 * floats * threads, threads, gpu); in the end blocks = "
            "min(held.blocks_per_sm * gpu.sms, -(-n // threads)).",
        ),
        why=(
            "All of a wave's blocks run from the start, so one full wave of a kernel with a grid-stride loop has no "
            "tail: nobody waits for a second wave that fills a part of the GPU only. It also prepares what a block "
            "prepares once, a table in shared memory say, as seldom as possible. More warps than that would queue, and "
            "fewer leave places empty. Where the arrays are short the launch is what they need, and no choice fills "
            "the GPU."
        ),
        stretch="several waves of smaller blocks even out blocks that take unequally long. What would you change?",
    ),
    Exercise(
        key="lab07.top",
        title="the eight greatest of each column, in registers, in Numba",
        language="numba",
        name="top",
        cases=lambda: [cases.top_case(*size) for size in ((1, 1), (5, 31), (8, 97), (13, 128), (40, 131))],
        measured=lambda: cases.top_case(100, 256),
        shared_out=True,
        drawn=cases.tops_drawn,
        sanitize=True,
        budgets=(
            Budget(
                NO_REGISTERS,
                total("local_requests", "shared_requests"),
                0,
                "An array stands in registers only where the compiler knows every index.",
                "local_load_requests",
            ),
            FEW_REGISTERS,
            NO_SPILLS,
            LOADED_ONCE,
        ),
        mistakes=mistakes.TOP,
        hints=(
            "A new value meets the greatest first. One of the two stays; what becomes of the other?",
            "It meets the next place, and so on, eight times, whatever the values are. So no index depends on data.",
            "for j in range(8): held, best[j] = best[j], max(best[j], v); v = min(held, v). The array is "
            "cuda.local.array(8, np.float32).",
        ),
        why=(
            "Registers have no addresses, so an array can stand in them only if every index is known when the kernel "
            "is compiled. Sorting a new value in by a search stops early and looks cheaper, but its index is data: the "
            "array goes to local memory, and each step to L1 at best. Eight exchanges always, without a branch, are 16 "
            "instructions and nothing else. And with at most 32 registers every place for a warp can be taken."
        ),
        stretch="also keep from which row each came. How many registers does that take, and which GPUs mind?",
    ),
    Exercise(
        key="lab07.flight",
        title="more loads under way, within 32 registers, in CUDA C",
        language="cuda",
        name="accumulate",
        cases=lambda: [
            cases.sum_case(*launch)
            for launch in ((1, 1, 32), (31, 2, 64), (97, 1, 32), (512, 1, 128), (1000, 2, 96), (5003, 3, 128))
        ],
        measured=lambda: cases.counted_sum(77),
        drawn=cases.sums_drawn,
        sanitize=True,
        shared_out=True,
        budgets=(
            Budget(
                WAITS,
                _waits_per_kib,
                1.6,
                "One warp's waits for memory, for each KiB that it loads. One element at a time makes 5.3.",
                of="warp",
            ),
            FEW_REGISTERS,
            NO_SPILLS,
            LOADED_ONCE,
        ),
        mistakes=mistakes.FLIGHT,
        hints=(
            "What must come between two loads in your kernel, by the rules of the language? grad might be a.",
            "Batches of four elements, a whole grid of threads apart: twelve loads into three arrays of four, in a "
            "loop with #pragma unroll; a second loop that adds and stores.",
            "for (; i < n; i += 4 * all): u[k] = at < n ? grad[at] : 0, likewise v[k] and w[k], at i + k * all; "
            "then, if at < n, grad[at] = u[k] + 0.5f * (v[k] + w[k]).",
        ),
        why=(
            "By Little's law a GPU wants bandwidth times latency in bytes under way, and a thread can put them there "
            "as well as further warps can. Each load under way needs a register to arrive in, though: four elements "
            "fit into 32 registers, and with them full occupancy remains possible; eight ask for more on some GPUs, "
            "and then the cap spills. So the two ways to hide latency are paid from one purse. The order counted is "
            "that of PTX; the assembler may improve on it where it may."
        ),
        stretch="eight elements without a cap: fewer warps fit, with more loads each. What does `schedule` say?",
    ),
)
