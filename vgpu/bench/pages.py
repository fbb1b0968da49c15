"""What pages of measurements share: with what they were made, and tables."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Mapping, Sequence
from importlib import metadata

PACKAGES = ("vgpu", "llvmlite", "numpy", "nvidia-cuda-nvrtc", "numba-cuda", "triton", "torch")


def made() -> dict[str, str]:
    """The day, this machine, and the versions of what takes part and is installed."""
    from vgpu.runtime import jit

    found = {
        "day": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "processor": jit.cpu(), "cores": str(os.cpu_count()), "Python": platform.python_version(),
    }  # fmt: skip
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def made_with(found: Mapping[str, str]) -> str:
    """What `made` returned, as a sentence."""
    return "Made with: " + ", ".join(f"{name} {value}" for name, value in found.items()) + "."


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: bool = False) -> str:
    """A table in Markdown; numbers: all columns but the first are aligned to the right."""
    rule = ["---:" if numbers and i else "---" for i in range(len(head))]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |"
        for row in (head, rule, *rows)
    )
