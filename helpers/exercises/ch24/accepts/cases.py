from __future__ import annotations

from collections.abc import Callable

import numpy as np

from helpers.checking.exercise import Case

Operator = Callable[[np.ndarray, np.ndarray, float], np.ndarray]


def _mean(x: np.ndarray) -> np.ndarray:
    return np.square(x).mean(axis=1, keepdims=True)


def _norm(x: np.ndarray, weight: np.ndarray, eps: float) -> np.ndarray:
    return (x / np.sqrt(_mean(x) + np.float32(eps)) * weight).astype(np.float32)


def _in_fp64(x: np.ndarray, weight: np.ndarray, eps: float) -> np.ndarray:
    return _norm(x.astype(np.float64), weight, eps)


def _one_after_another(x: np.ndarray, weight: np.ndarray, eps: float) -> np.ndarray:
    squares = np.cumsum(np.square(x), axis=1, dtype=np.float32)[:, -1:]
    scale = np.float32(1) / np.sqrt(squares / np.float32(x.shape[1]) + np.float32(eps))
    return x * scale * weight


def _eps_added_to_the_root(x: np.ndarray, weight: np.ndarray, eps: float) -> np.ndarray:
    return x / (np.sqrt(_mean(x)) + np.float32(eps)) * weight


def _fp16_sums(x: np.ndarray, weight: np.ndarray, eps: float) -> np.ndarray:
    with np.errstate(over="ignore"):
        mean = _mean(x.astype(np.float16)).astype(np.float32)
    return x / np.sqrt(mean + np.float32(eps)) * weight


def _without_eps(x: np.ndarray, weight: np.ndarray, eps: float) -> np.ndarray:
    return x / np.sqrt(np.maximum(_mean(x), np.float32(1e-30))) * weight


def _layer_norm(x: np.ndarray, weight: np.ndarray, eps: float) -> np.ndarray:
    return _norm(x - x.mean(axis=1, keepdims=True), weight, eps)


def _first_128(x: np.ndarray, weight: np.ndarray, eps: float) -> np.ndarray:
    return x / np.sqrt(_mean(x[:, :128]) + np.float32(eps)) * weight


def _last_row(x: np.ndarray, weight: np.ndarray, eps: float) -> np.ndarray:
    y = _norm(x, weight, eps)
    y[1:] = y[1:] if len(y) < 2 else np.concatenate([y[1:-1], 0 * y[-1:]])
    return y


def _in_place(x: np.ndarray, weight: np.ndarray, eps: float) -> np.ndarray:
    x /= np.sqrt(_mean(x) + np.float32(eps))
    return x * weight


def _nan_for_zeros(x: np.ndarray, weight: np.ndarray, eps: float) -> np.ndarray:
    return np.where(_mean(x) > 0, _norm(x, weight, eps), np.float32(np.nan))


def _squares_clipped(x: np.ndarray, weight: np.ndarray, eps: float) -> np.ndarray:
    mean = np.minimum(np.square(x), np.float32(65504)).mean(axis=1, keepdims=True)
    return x / np.sqrt(mean + np.float32(eps)) * weight


def _cut_to_bf16(x: np.ndarray, weight: np.ndarray, eps: float) -> np.ndarray:
    return (_norm(x, weight, eps).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)


def _sum(x: np.ndarray, weight: np.ndarray, eps: float) -> np.ndarray:
    return x / np.sqrt(_mean(x) * x.shape[1] + np.float32(eps)) * weight


OPERATORS: tuple[tuple[str, Operator, bool], ...] = (
    ("right, sums in FP32", _norm, True),
    ("right, sums in FP64", _in_fp64, True),
    ("right, one square after another", _one_after_another, True),
    ("wrong: without eps", _without_eps, False),
    ("wrong: eps added to the root", _eps_added_to_the_root, False),
    ("wrong: always 10⁻⁶ for eps", lambda x, weight, eps: _norm(x, weight, 1e-6), False),
    ("wrong: without the weight", lambda x, weight, eps: _norm(x, np.ones_like(weight), eps), False),
    ("wrong: the weight's size only", lambda x, weight, eps: _norm(x, np.abs(weight), eps), False),
    ("wrong: the sum for the mean", _sum, False),
    ("wrong: the mean subtracted", _layer_norm, False),
    ("wrong: 128 columns squared", _first_128, False),
    ("wrong: the last of several rows left out", _last_row, False),
    ("wrong: sums in FP16", _fp16_sums, False),
    ("wrong: the result cut to BF16", _cut_to_bf16, False),
    ("wrong: squares clipped at 65,504", _squares_clipped, False),
    ("wrong: NaN for a row of zeros", _nan_for_zeros, False),
    ("wrong: changes x", _in_place, False),
)


def cases() -> list[Case]:
    return [Case(name, (operator,), expected=wanted) for name, operator, wanted in OPERATORS]
