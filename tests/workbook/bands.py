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
    """Every number that a group of `pattern` catches in the lines that the cell prints lies from `low` to `high`."""

    chapter: str
    cell: str
    pattern: str
    low: float
    high: float


PER_CENT = r"([\d.]+)\s?%"
THREE = rf"{PER_CENT}, {PER_CENT}, {PER_CENT}"

BANDS = (
    Band("15", "accuracies", rf"^FP32: {PER_CENT}", 90, 99),
    Band("15", "accuracies", rf"^FP16, no scale: {PER_CENT}", 0, 30),
    Band("15", "accuracies", rf"^FP16, (?:fixed|dynamic) scale: {PER_CENT}", 90, 99),
    Band("15", "accuracies", rf"^BF16, no scale: {PER_CENT}", 90, 99),
    Band("15", "grad-scaler", rf"^right: {PER_CENT}", 90, 99),
    Band("15", "run-fp8", rf"FP8 {PER_CENT}", 88, 99),
    Band("15", "run-fp4", rf"^one scale: .* are {PER_CENT}", 99, 100),
    Band("15", "run-prune", rf"^up to layer \d: {PER_CENT}", 88, 99),
    Band("19", "curves-checked", r"losses: ([\d.e-]+)", 0, 0.001),
    Band("19", "curves-checked", r"(?:kernels|PyTorch) ([\d.]+)%", 92, 98),
    Band("19", "zoo-table", r"([\d.]+)%", 85, 100),
    Band("19", "zoo-table", r"ResNet .* ([\d.]+)%", 95, 100),
    Band("19", "deep-checked", r"24, batch norm  .*? ([\d.]+)%", 10, 75),
    Band("19", "deep-checked", r"\d+ plain layers .*? ([\d.]+)%", 75, 94),
    Band("19", "deep-checked", r"residual .*? ([\d.]+)%", 86, 98),
    Band("19", "autocast", r"([\d.]+)% of the guesses", 97, 100),
    Band("20", "run-memory", rf"^plain RNN: {THREE}", 15, 75),
    Band("20", "run-memory", rf"^LSTM as it comes: {PER_CENT}, {PER_CENT}", 15, 50),
    Band("20", "run-memory", rf"^LSTM, open gates: {THREE}", 85, 100),
    Band("20", "run-majority", rf"^forwards: {PER_CENT}", 73, 79),
    Band("20", "run-majority", rf"^both: {PER_CENT}", 97, 100),
    Band("20", "train-writer", r"^held back: ([\d.]+) bits", 1.5, 2.69),
    Band("20", "forecast", r"^LSTM ([\d.]+)", 0.16, 0.4),
    Band("20", "forecast", r"a week ago ([\d.]+)", 0.6, 0.8),
    Band("21", "run-rates", r"D faster than G .* ([\d.]+)", 6, 8),
    Band("21", "run-rates", r"G still faster .* ([\d.]+)", 0, 3),
    Band("21", "seeds-told", r"D fast +(\d)  ", 6, 8),
    Band("21", "seeds-told", r"D slow +(\d)  ", 0, 2),
    Band("21", "run-apart", r"by [421]: loss of the best D +([\d.]+)", 0, 0.01),
    Band("21", "run-critic", r"true distance: ([\d.]+)", 0.7, 1),
    Band("21", "strong-critic", r"after [246]00 .* ([\d.]+)", 0.5, 2),
    Band("21b", "judge", r"right on ([\d.]+)%", 97, 100),
    Band("21b", "judge", r"on ([\d.]+)% in other", 95, 100),
    Band("21b", "frechet", r"^ 1000 .* ([\d.]+)", 2, 25),
    Band("21b", "run-noise", r"noise: +sure of (\d+)%", 60, 100),
    Band("21b", "run-template", r"template per digit +\d+ +[\d.]+ +([\d.]+)", 0, 0.05),
    Band("21b", "run-template", r"template per digit .* ([\d.]+)", 9, 10),
    Band("21b", "cgan-load", r"in (\d+)%", 85, 100),
    Band("21b", "own-run", r"first 5 steps ([\d.e-]+)", 0, 0.0001),
    Band("23", "accuracy", r"^(?:FP32|tensor cores): ([\d.]+) of 100", 78, 93),
    Band("23", "turn-filters", r"at most ([\d.]+) off", 0, 0.006),
    Band("23", "underflow", r"; (\d+) become 0", 0, 20),
)


def beyond(path: Path, notebook) -> list[str]:
    """What breaks a band of that chapter, or is no longer printed, in words."""
    printed = {
        cell.id: "".join(output.get("text", "") for output in cell.get("outputs", ())) for cell in notebook.cells
    }
    found = []
    for band in (band for band in BANDS if path.name.startswith(f"{band.chapter}_")):
        matches = re.finditer(band.pattern, printed.get(band.cell, ""), re.MULTILINE)
        numbers = [float(number) for match in matches for number in match.groups()]
        if not numbers:
            found.append(f"{band.cell} prints nothing like {band.pattern!r}")
        found += [f"{band.cell}: {band.pattern!r} is {number:g}, not from {band.low:g} to {band.high:g}"
                  for number in numbers if not band.low <= number <= band.high]  # fmt: skip
    return found
