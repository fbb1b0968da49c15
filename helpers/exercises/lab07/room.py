"""How far a kernel may grow before a block less fits on an SM."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, Exercise, Mistake
from vgpu.hardware import gpus
from vgpu.hardware.occupancy import occupancy

MOST_REGISTERS, MOST_KIB = 255, 228
REGISTERS = "max(r for r in range(registers, 256) if fitting(r, kib) == held)"
KIB = "max(k for k in range(kib, 229) if fitting(registers, k) == held)"
OTHERS = ("A100", "H100", "RTX 4090", "T4")
ANSWER = "return most, max("


def _blocks(registers, kib, threads, gpu) -> int:
    return occupancy(registers, 1024 * kib, threads, gpu).blocks_per_sm


def _room(registers, kib, threads, gpu) -> tuple[int, int]:
    held = _blocks(registers, kib, threads, gpu)
    if not held:
        return 0, 0
    most = max(r for r in range(registers, MOST_REGISTERS + 1) if _blocks(r, kib, threads, gpu) == held)
    return most, max(k for k in range(kib, MOST_KIB + 1) if _blocks(registers, k, threads, gpu) == held)


def _case(registers: int, kib: int, threads: int, name: str) -> Case:
    gpu = gpus.find(name)
    what = f"{registers} registers, {kib} KiB, {threads} threads on {name}"
    return Case(what, (registers, kib, threads, gpu), expected=_room(registers, kib, threads, gpu))


def _drawn(dice: np.random.Generator) -> list[Case]:
    found = [
        _case(int(dice.integers(16, 120)), int(dice.integers(0, 40)), 32 * int(dice.integers(1, 17)), str(name))
        for name in dice.choice(list(gpus.GPUS), 6)
    ]
    return [*found, _case(int(dice.integers(100, 255)), 0, 1024, "A100")]


EXERCISE = Exercise(
    key="lab07.room",
    title="how far a kernel may grow, in Python",
    language="python",
    name="room",
    cases=lambda: [
        _case(*needs)
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
    drawn=_drawn,
    hints=(
        "Nothing is lost as long as blocks_per_sm stays what it is.",
        "For registers try every value from the present one up to 255, and keep the last with which as many blocks "
        "fit. Then KiB by KiB, with the registers as they were.",
        "held = occupancy(registers, 1024 * kib, threads, gpu).blocks_per_sm; most = max(r for r in "
        "range(registers, 256) if occupancy(r, 1024 * kib, threads, gpu).blocks_per_sm == held).",
    ),
    why="Occupancy is a staircase: blocks come whole, registers in units of 8 a thread, and between two steps more "
    "costs nothing. A kernel with 33 registers may as well have 40, and keep a value that it would load again or "
    "load something earlier. So know the width of the step that you stand on before you save registers, and before "
    "you spend them. It is another one on each GPU.",
    stretch="which block size has the widest step, for 33 registers on each GPU of the table?",
    equivalent=(
        (("256", "257"), "no thread may have 256 registers"),
        (("229", "230"), "no block may have 229 KiB"),
        (("229", "228"), "no block may have 228 KiB"),
    ),
    mistakes=(
        Mistake("a kernel that does not fit",
            "With 200 registers a thread no block of 512 fits, so there is nothing to keep: return (0, 0).",
            (("if not held", "if False"), ("return 0, 0", "return None"))),
        Mistake("bytes instead of KiB",
            "Shared memory is asked for in KiB, and answered in KiB.",
            ((ANSWER, "return most, 1024 * max("),)),
        Mistake("one GPU for all",
            "The answer is that of one GPU, whichever is asked for: hand `gpu` on to `occupancy`.",
            (*(("    held =", f"    gpu = gpus.find({name!r})\n    held =") for name in OTHERS),)),
        Mistake("nothing more than now",
            "Those are the needs as they are. Compare blocks_per_sm alone: two results of `occupancy` differ as "
            "soon as the needs do.",
            (((".blocks_per_sm", ""), ("not held", "not held.blocks_per_sm")),)),
        Mistake("the last register is left out",
            "A thread may have 255 registers, and range(…, 255) ends at 254.",
            (("256", "255"),)),
        Mistake("no value is as good as the present one",
            "max() found no value, yet the present one itself keeps as many blocks. Try each need with the other as "
            "it is, beginning at the present value.",
            (("fitting(r, kib)", "fitting(r, 0)"),)),
        Mistake("no value is worse than the present one",
            "Not every kernel loses a block on the way up to 255 registers, or to 228 KiB. Look for the last value "
            "that is as good as the present one, which there always is.",
            ((("max(", "min("), ("== held", "< held")),)),
        Mistake("one step too far",
            "Those are the first values with which a block less fits. Return the last ones with which as many do.",
            ((ANSWER, "return most + 1, 1 + max("),)),
        Mistake("how much more, instead of how much",
            "That is what may be added. Return the whole: registers a thread, and KiB a block.",
            ((ANSWER, "return most - registers, -kib + max("),)),
        Mistake("what full occupancy would need",
            "The question is what may be added without losing a block that fits now, full or not.",
            ("""    held = gpu.warps_per_sm // (threads // 32)
    most = max((r for r in range(256) if fitting(r, kib) >= held), default=0)
    return most, max((k for k in range(229) if fitting(registers, k) >= held), default=0)""",)),
        Mistake("what one block could have",
            "With so much at least one block fits. The question is up to where as many fit as now.",
            (("== held", ">= 1"),)),
        Mistake("values are left out",
            "Registers were tried in steps from the present value on, and the last one as good lies between two of "
            "them. Try every value.",
            (*(("256)", f"256, {step})") for step in (2, 4, 8, 16, 32)),)),
        Mistake("KiB are taken for bytes",
            "`occupancy` takes bytes, and a KiB has 1024 of them: 1024 * kib.",
            (("1024 * k", "k"), ("1024 * k", "1000 * k"))),
        Mistake("divided by hand",
            "Registers are given to warps, in units of 256 from a quarter of the SM; of shared memory the driver "
            "keeps 1 KiB of each block from compute capability 8.0 on, and one block may not have all of it. "
            "`occupancy` knows that: ask it, value by value.",
            ((REGISTERS, "gpu.registers_per_sm // held // threads"), (KIB, "gpu.shared_per_sm // held // 1024"),
             ((REGISTERS, "gpu.registers_per_sm // held // threads"), (KIB, "gpu.shared_per_sm // held // 1024")))),
    ),
)  # fmt: skip
