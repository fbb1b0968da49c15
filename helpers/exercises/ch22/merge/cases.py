from __future__ import annotations

import numpy as np

from helpers.checking.exercise import Case, numbers, plural

ROWS = (
    (1, 2, (3, 3), 0.0, None),
    (4, 3, (5, 2), 0.0, None),
    (3, 1, (1, 6), 2.0, None),
    (5, 4, (4, 4), 900.0, None),
    (5, 4, (4, 4), -900.0, None),
    (4, 2, (3, 5), 0.0, "a"),
    (4, 2, (3, 5), 0.0, "b"),
)
"""Rows, width, keys of the two blocks, what is added to all scores, and the block that is masked in the last row."""


def _softmax(scores: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Output and logarithm of the sum of exponentials; zeros and −∞ where all keys are masked."""
    most = scores.max(1, keepdims=True)
    terms = np.exp(scores - np.where(np.isfinite(most), most, 0.0))
    total = terms.sum(1)
    with np.errstate(divide="ignore"):
        logsum = np.log(total) + np.where(np.isfinite(most), most, 0.0)[:, 0]
    return terms @ values / np.maximum(total, 1e-300)[:, None], logsum


def _case(rows: int, width: int, keys: tuple[int, int], shift: float, masked: str | None) -> Case:
    scores = numbers((rows, sum(keys)), seed=1).astype(np.float64) + shift
    values = numbers((sum(keys), width), seed=2).astype(np.float64)
    if masked:
        scores[-1, : keys[0]] = -np.inf if masked == "a" else scores[-1, : keys[0]]
        scores[-1, keys[0] :] = -np.inf if masked == "b" else scores[-1, keys[0] :]
    a, b = _softmax(scores[:, : keys[0]], values[: keys[0]]), _softmax(scores[:, keys[0] :], values[keys[0] :])
    words = f"{plural(rows, 'row')} of width {width}, {keys[0]} and {plural(keys[1], 'key')}"
    words += f", scores near {shift:g}" if shift else ""
    words += f", block {masked} masked in the last row" if masked else ""
    return Case(words, (*a, *b), expected=_softmax(scores, values))


def cases() -> list[Case]:
    return [_case(*row) for row in ROWS]
