"""Times for the libraries that time kernels themselves: from the counters of a launch and the modelled GPU's row."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from vgpu.compile.cuda_c import OLDEST
from vgpu.compile.resources import Resources, resources
from vgpu.hardware.device import current
from vgpu.hardware.occupancy import occupancy
from vgpu.hardware.time_model import model_time

if TYPE_CHECKING:
    from vgpu.launch.grid import Grid
    from vgpu.launch.launch import Kernel


def seconds(done: Grid) -> float:
    """The modelled seconds of a counted launch."""
    gpu, needs = current(), needed(done.kernel)
    resident = occupancy(needs.registers, needs.shared_bytes + done.dynamic_shared, math.prod(done.block), gpu)
    return model_time(done.counters(), resident, gpu).seconds


def needed(kernel: Kernel) -> Resources:
    """Registers, shared memory and spills of a loaded kernel on the modelled GPU, or on the newer one of its PTX."""
    capability, target = max(current().compute_capability, OLDEST), kernel.module.module.target
    number = re.match(r"sm_(\d+)", target)
    made_for = divmod(int(number[1]), 10) if number else (0, 0)
    arch = target if made_for > capability else "sm_{}{}".format(*capability)
    return resources(kernel.ptx, "ptx", arch, kernel.entry)
