from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil

import numpy as np

from helpers.checking.exercise import Case, Out, cover, numbers, plural
from helpers.checking.measures import total
from vgpu.base.errors import Unsupported
from vgpu.compile.machine_code import MachineInstruction
from vgpu.hardware import gpus
from vgpu.hardware.gpus import GPU
from vgpu.tools.sass import loads_in_flight
from vgpu.tools.steps.dependencies import Chain

BLOCK, EACH = 128, 4


def _case(n: int) -> Case:
    x, y = numbers(n, seed=n), numbers(n, seed=n + 1)
    arguments = (x, y, Out(np.float32(3) * x + y), np.int32(n))
    return Case(plural(n, "element"), arguments, (cover(n, EACH * BLOCK),), (BLOCK,))


def _waits(seen: tuple[Chain, Callable[[GPU], Sequence[MachineInstruction]]]) -> float:
    """How often a warp waits for memory: in machine code, where the assembler may have moved loads ahead of stores."""
    chain, machine_code = seen
    try:
        together = loads_in_flight(machine_code(gpus.find("A100")))
    except Unsupported:  # no disassembler here: PTX alone has to do
        return chain.waits
    return min(chain.waits, ceil(chain.loads / max(1, together)))


def cases() -> list[Case]:
    return [_case(n) for n in (1, 3, 127, 128, 129, 500, 512, 1021)]


def measured() -> Case:
    return _case(2 * EACH * BLOCK)


MEASURES = {
    "times that a warp waits for memory": _waits,
    "sectors loaded for 2 × 1,024 floats": total("global_read_sectors"),
}
