"""Our figure for one that others have published: a counter, or a modelled time."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from vgpu.bench.fidelity.manifest import Published
from vgpu.bench.fidelity.outcome import run


def compared(figure: Published, folder: Path) -> float | None:
    """Profile the program on the figure's GPU and return our figure, scaled; None where the kernel isn't launched."""
    program = dataclasses.replace(figure.program, flags=("--gpu", figure.gpu, *figure.program.flags))
    for row in run("profile", program, folder).report:
        if re.search(figure.kernel, row["kernel"]):
            value = row["modelled_seconds"] if figure.metric == "seconds" else row["metrics"].get(figure.metric)
            return None if value is None else value * figure.scale
    return None
