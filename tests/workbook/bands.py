"""What training ends with, as bands: processors differ in last bits, so prose gives bands and so do tests.

A row of `BANDS` is about what one cell prints: the mean of all numbers that a pattern's groups catch lies in the band.
"""

from __future__ import annotations

import re
from statistics import mean

PER_CENT = r"([\d.]+)\s?%"

BANDS = {
    "15_mixed_precision": (
        # cell, pattern, from, to
        ("accuracies", rf"^FP32: {PER_CENT}", 90, 99),
        ("accuracies", rf"^FP16, no scale: {PER_CENT}", 0, 30),
        ("accuracies", rf"^FP16, fixed scale: {PER_CENT}", 90, 99),
        ("accuracies", rf"^FP16, dynamic scale: {PER_CENT}", 90, 99),
        ("accuracies", rf"^BF16, no scale: {PER_CENT}", 90, 99),
        ("grad-scaler", rf"^right: {PER_CENT}", 90, 99),
        ("run-fp8", rf"FP8 {PER_CENT}", 88, 99),
        ("run-fp4", rf"^one scale: .* are {PER_CENT}", 99, 100),
        ("run-prune", rf"^up to layer \d: {PER_CENT}", 88, 99),
    ),
    "20_recurrent_networks": (
        ("run-memory", rf"^plain RNN: {PER_CENT}, {PER_CENT}, {PER_CENT}", 15, 65),
        ("run-memory", rf"^LSTM as it comes: {PER_CENT}, {PER_CENT}", 15, 45),
        ("run-memory", rf"^LSTM, open gates: {PER_CENT}, {PER_CENT}, {PER_CENT}", 85, 100),
        ("run-majority", rf"^forwards: {PER_CENT}", 73, 79),
        ("run-majority", rf"^both: {PER_CENT}", 97, 100),
        ("train-writer", r"^held back: ([\d.]+) bits", 1.5, 2.69),
        ("forecast", r"^LSTM ([\d.]+)", 0.16, 0.4),
        ("forecast", r"a week ago ([\d.]+)", 0.6, 0.8),
    ),
}


def outside(name: str, notebook) -> list[str]:
    """What in an executed chapter lies outside its bands, or is not printed any more; empty when all is well."""
    printed = {
        cell.id: "".join(output.text for output in cell.outputs if output.output_type == "stream")
        for cell in notebook.cells
        if cell.cell_type == "code"
    }
    found = []
    for cell, pattern, low, high in BANDS.get(name, ()):
        matches = re.finditer(pattern, printed.get(cell, ""), flags=re.MULTILINE)
        numbers = [float(number) for match in matches for number in match.groups()]
        if not numbers:
            found.append(f"{cell}: prints nothing like {pattern!r}")
        elif not low <= mean(numbers) <= high:
            found.append(f"{cell}: {mean(numbers):g} is not from {low} to {high} ({pattern!r})")
    return found
