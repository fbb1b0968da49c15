"""What the prose says of trained networks, as bands: numbers that a cell prints, and between what they have to lie.

Training is deterministic in the seed, but processors differ in the last bits, so no such number can be exact. The bands
stand here, so that the learners' cells hold no asserts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Band:
    """Every number that `pattern` finds, as its only group, in what the cell prints lies from `low` to `high`."""

    chapter: str
    cell: str
    pattern: str
    low: float
    high: float


BANDS = (
    Band("19", "curves-checked", r"losses: ([\d.e-]+)", 0, 0.001),
    Band("19", "curves-checked", r"(?:kernels|PyTorch) ([\d.]+)%", 92, 98),
    Band("19", "zoo-table", r"([\d.]+)%", 85, 100),
    Band("19", "zoo-table", r"ResNet .* ([\d.]+)%", 95, 100),
    Band("19", "deep-checked", r"24, batch norm  .*? ([\d.]+)%", 10, 75),
    Band("19", "deep-checked", r"\d+ plain layers .*? ([\d.]+)%", 75, 94),
    Band("19", "deep-checked", r"residual .*? ([\d.]+)%", 86, 98),
    Band("19", "autocast", r"([\d.]+)% of the guesses", 97, 100),
    Band("21", "run-mend", r"D faster than G .* ([\d.]+)", 6, 8),
    Band("21", "run-mend", r"G still faster .* ([\d.]+)", 0, 3),
    Band("21", "seeds-told", r"D fast +(\d)  ", 6, 8),
    Band("21", "seeds-told", r"D slow +(\d)  ", 0, 2),
    Band("21", "judge", r"right on ([\d.]+)%", 96, 100),
    Band("21", "table", r"DCGAN +confident in +([\d.]+) of 100", 50, 85),
    Band("21", "table", r"DCGAN .* score +([\d.]+)", 5.5, 8.5),
    Band("21", "table", r"noise .* score +([\d.]+)", 1, 3.5),
    Band("21", "table", r"held-out digits .* score +([\d.]+)", 8.8, 10),
    Band("21", "own-compare", r"20 steps: ([\d.e-]+)", 0, 0.001),
    Band("21", "own-compare", r"our kernels: (\d)", 6, 8),
)


def beyond(path: Path, notebook) -> list[str]:
    """What breaks a band of that chapter, or is no longer printed, in words."""
    printed = {
        cell.id: "".join(output.get("text", "") for output in cell.get("outputs", ())) for cell in notebook.cells
    }
    found = []
    for band in (band for band in BANDS if path.name.startswith(band.chapter)):
        numbers = [float(number) for number in re.findall(band.pattern, printed.get(band.cell, ""))]
        if not numbers:
            found.append(f"{band.cell} prints nothing like {band.pattern!r}")
        found += [f"{band.cell}: {band.pattern!r} is {number:g}, not from {band.low:g} to {band.high:g}"
                  for number in numbers if not band.low <= number <= band.high]  # fmt: skip
    return found
