"""Our figures for those that others have published: counters, modelled times, registers."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

from vgpu.bench.fidelity.manifest import Program, Published
from vgpu.bench.fidelity.outcome import run

MODELLED = """
import dataclasses, sys
from vgpu.hardware import device, gpus
from vgpu.programs.command import main
device.device(dataclasses.replace(gpus.find({gpu!r}), **{changes!r}))
sys.exit(main())
"""


def compared(published: Published, folder: Path) -> dict[str, float | None]:
    """Profile the program on the GPU, and return our figures, scaled; None for what the profile doesn't have."""
    code = MODELLED.format(gpu=published.gpu, changes=dict(published.changes))
    report = _report(published.program, folder, code)
    found = next((row for row in report if re.search(published.kernel, row["kernel"])), None)
    return {name: None if found is None else _figure(found, name, published.scale) for name in published.figures}


@functools.lru_cache(maxsize=1)  # figures of several kernels of a program follow each other
def _report(program: Program, folder: Path, code: str) -> list[dict[str, Any]]:
    return run("profile", program, folder, start=("-c", code)).report


def _figure(row: dict[str, Any], name: str, scale: float) -> float | None:
    if name == "registers":
        return row["registers"]
    value = row["modelled_seconds"] if name == "seconds" else row["metrics"].get(name)
    return None if value is None else value * scale
