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
    Band("15", "run-prune", rf"^up to layer \d: {PER_CENT}", 88, 99),
    Band("15b", "run-fp4", rf"^one scale: .* are {PER_CENT}", 99, 100),
    Band("15b", "run-hopper", rf"^{PER_CENT} off", 4, 9),
    Band("15b", "counted", r"after 1 characters: ([\d.]+) bits", 3.2, 3.8),
    Band("15b", "counted", r"after 2 characters: ([\d.]+) bits", 2.4, 2.9),
    Band("19", "baselines", rf"^logistic regression +{PER_CENT}", 35, 52),
    Band("19", "baselines", rf"^SVM, Gaussian kernel +{PER_CENT}", 48, 58),
    Band("19", "run-curves", r"first 50 steps: ([\d.e-]+)", 0, 0.01),
    Band("19", "curves-checked", rf"(?:kernels|PyTorch) {PER_CENT}", 68, 90),
    Band("19", "run-shifted", rf"^image gradient: one row off +{PER_CENT}", 58, 90),
    Band("19b", "run-plain", rf"(?:linear|LeNet) {PER_CENT}", 92, 100),
    Band("19b", "moved", rf"^moved by 4 pixels: LeNet {PER_CENT}, SVM {PER_CENT}", 5, 50),
    Band("19b", "maps-train", rf"^held-out digits: {PER_CENT}", 70, 97),
    Band("19b", "autocast", rf"{PER_CENT} of the guesses", 95, 100),
    Band("20", "memory-task", rf"at once: {PER_CENT}", 97, 100),
    Band("20", "run-memory", rf"^nn.RNN: {PER_CENT}", 20, 100),
    Band("20", "run-memory", rf"^nn.(?:LSTM|GRU): {PER_CENT}", 18, 60),
    Band("20", "run-memory", rf"^LSTM, open gates: {PER_CENT}", 90, 100),
    Band("20b", "run-majority", rf"^forwards: {PER_CENT}", 73, 79),
    Band("20b", "run-majority", rf"^both: {PER_CENT}", 97, 100),
    Band("20b", "text", r"^(?:bz2|xz): ([\d.]+) bits", 1.5, 2.6),
    Band("20b", "run-contexts", r"^order 2: ([\d.]+) bits", 3.2, 3.8),
    Band("20b", "run-contexts", r"^order 5: ([\d.]+) bits", 1.6, 2.2),
    Band("20b", "run-delay", rf"^pieces of 4: {PER_CENT}", 20, 35),
    Band("20b", "run-delay", rf"^pieces of 16: {PER_CENT}", 85, 100),
    Band("20b", "judge", r"trained briefly: ([\d.]+) bits", 1.8, 3.6),
    Band("20b", "run-rain", r"^15 January: (\d+) mm", 0, 9),
    Band("20b", "run-rain", r"^15 April: (\d+) mm", 24, 30),
    Band("20b", "run-rain", r"^15 July: (\d+) mm", 12, 20),
    Band("20b", "baselines", r"^linear .*: ([\d.]+)", 0.1, 0.35),
    Band("20b", "baselines", r"^boosted trees, 30 days: ([\d.]+)", 0.65, 0.82),
    Band("20b", "baselines", r"^boosted trees, sums .*: ([\d.]+)", 0.88, 0.96),
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
    Band("21b", "own-run", r"first 5 steps ([\d.e+-]+)", 0, 0.0001),
    Band("22b", "run-alone", r"of the last ([\d.]+)$", 2.5, 3.1),
    Band("22b", "baselines", r"^character frequencies ([\d.]+)", 3.0, 3.3),
    Band("22b", "baselines", r"bigrams ([\d.]+)", 2.3, 2.5),
    Band("22b", "baselines", r"transformer here ([\d.]+)", 2.5, 2.99),
    Band("22b", "run-divide", r"at most ([\d.e-]+) from one process", 1e-4, 0.05),
    Band("23", "works", r"^after one epoch: ([\d.]+)%", 60, 96),
)


def _printed(output) -> str:
    """What a cell prints, folded or not."""
    return output.get("text") or output.get("data", {}).get("text/plain", "")


def beyond(path: Path, notebook) -> list[str]:
    """What breaks a band of that chapter, or is no longer printed, in words."""
    printed = {cell.id: "\n".join(map(_printed, cell.get("outputs", ()))) for cell in notebook.cells}
    found = []
    for band in (band for band in BANDS if path.name.startswith(f"{band.chapter}_")):
        matches = re.finditer(band.pattern, printed.get(band.cell, ""), re.MULTILINE)
        numbers = [float(number) for match in matches for number in match.groups()]
        if not numbers:
            found.append(f"{band.cell} prints nothing like {band.pattern!r}")
        found += [f"{band.cell}: {band.pattern!r} is {number:g}, not from {band.low:g} to {band.high:g}"
                  for number in numbers if not band.low <= number <= band.high]  # fmt: skip
    return found
