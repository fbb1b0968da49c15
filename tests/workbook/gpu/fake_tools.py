"""NVIDIA's programs for machines that have none: small scripts that print what the real ones do."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from helpers.workbook.gpu import counters

LOCKED = (
    "==PROF== Connected to process 9012 (/usr/bin/python3.12)\n"
    "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the "
    "target device 0. For instructions on enabling permissions and to get more information see "
    "https://developer.nvidia.com/ERR_NVGPUCTRPERM\n==PROF== Disconnected from process 9012\n"
)
"""What a user without the right to profile gets."""


def write_tool(path: Path, said: str, status: int = 0) -> Path:
    """A program at `path` that prints a text and ends with a status; asked for its version, it prints that."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f"#!{sys.executable}\nimport sys\n"
        'if "--version" in sys.argv:\n    print("Version 2025.3.1.0 (build 36398880)")\n    sys.exit()\n'
        f"print({said!r}, end='')\nsys.exit({status})\n",
        encoding="utf-8",
    )
    path.chmod(0o755)
    return path


def as_ncu_prints(measured: Sequence[Mapping[str, int]]) -> str:
    """These counters as `ncu --csv --page raw` prints them, a sum of several metrics in the first of them."""
    values = [
        {
            name: row[key] if at == 0 else 0
            for key, names in counters.nsight_names().items()
            for at, name in enumerate(names)
        }
        for row in measured
    ]
    rows = [["ID", "Kernel Name", *values[0]], ["", "", *["sector"] * len(values[0])]]
    rows += [[str(number), "k", *(f"{value:,}" for value in row.values())] for number, row in enumerate(values)]
    lines = [",".join(f'"{cell}"' for cell in row) for row in rows]
    return "\n".join(["==PROF== Connected to process 7", *lines, "==PROF== Disconnected from process 7", ""])
