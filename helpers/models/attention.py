"""Attention in tiles, worked out on the host: what each tile makes of (m, l, O), and what every version has to move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


def separate_bytes(length: int, width: int, itemsize: int = 4) -> int:
    """Bytes that scores, softmax and output move as three kernels, for one head of `length` queries of `width` numbers.

    Each kernel loads what it needs once and stores its result once: Q, K, V and O once each, and four times a matrix of
    length² numbers.
    """
    return itemsize * (4 * length * width + 4 * length**2)


def tiled_bytes(length: int, width: int, rows: int, itemsize: int = 4, causal: bool = False, keys: int = 1) -> int:
    """Bytes that blocks of `rows` queries ask for: Q once, O once, and K and V once for every block; L is left out.

    With `causal` a block goes through tiles of `keys` keys up to its last query, and no further.
    """
    asked = 0
    for start in range(0, length, rows):
        end = min(length, start + rows)
        asked += min(length, (end + keys - 1) // keys * keys) if causal else length
    return itemsize * (2 * length * width + 2 * asked * width)


@dataclass(frozen=True, eq=False)
class Visit:
    """One tile that a block of queries has gone through.

    `rows`, `keys`: its queries and keys. `m`, `l`, `o`: of each of its queries, the largest score, the sum and the
    weighted sum of values up to and with this tile. `nbytes`: all that was moved so far, by all blocks up to this one.
    """

    rows: range
    keys: range
    m: np.ndarray
    l: np.ndarray  # noqa: E741 - its name in the papers
    o: np.ndarray
    nbytes: int


@dataclass(frozen=True, eq=False)
class Walk:
    """Attention of one head, tile by tile. `scores`: scaled, -inf where the mask hides; `skipped`: (rows, keys)."""

    scores: np.ndarray
    visits: tuple[Visit, ...]
    skipped: tuple[tuple[range, range], ...]
    width: int

    @property
    def weights(self) -> np.ndarray:
        """The softmax of each row of the scores."""
        weights = np.exp(self.scores - self.scores.max(axis=1, keepdims=True))
        return weights / weights.sum(axis=1, keepdims=True)

    def of_block(self, number: int) -> tuple[Visit, ...]:
        """The visits of the block that makes visit `number`, in order."""
        return tuple(visit for visit in self.visits if visit.rows == self.visits[number].rows)


def checked_head(q: ArrayLike, k: ArrayLike, v: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Q, K and V of one head as arrays of fractions. ValueError where they do not go together."""
    q, k, v = (np.asarray(each, dtype=float) for each in (q, k, v))
    if not (q.ndim == 2 and q.shape == k.shape == v.shape and q.size):
        raise ValueError(
            f"q, k and v of one head have one shape (queries, width), such as (32, 8); got {q.shape}, {k.shape} and "
            f"{v.shape}"
        )
    return q, k, v


def walk(q: ArrayLike, k: ArrayLike, v: ArrayLike, rows: int, keys: int, causal: bool = False) -> Walk:
    """Go through the scores of one head in tiles of `rows` queries and `keys` keys, as FlashAttention does.

    q, k, v: arrays of shape (length, width). Bytes are counted as for numbers of 4 bytes, each tile being loaded once.
    """
    q, k, v = checked_head(q, k, v)
    length, width = q.shape
    scores = q @ k.T / np.sqrt(width)
    if causal:
        scores = np.where(np.tri(length, dtype=bool), scores, -np.inf)
    visits, skipped, nbytes = [], [], 0
    for first in range(0, length, rows):
        block = range(first, min(first + rows, length))
        m, l, o = np.full(len(block), -np.inf), np.zeros(len(block)), np.zeros((len(block), width))  # noqa: E741
        nbytes += 4 * len(block) * width  # Q comes
        for start in range(0, length, keys):
            tile = range(start, min(start + keys, length))
            if causal and start >= block.stop:
                skipped.append((block, tile))
                continue
            part = scores[block.start : block.stop, tile.start : tile.stop]
            m, l, o = _step(part, v[tile.start : tile.stop], m, l, o)  # noqa: E741
            nbytes += 8 * len(tile) * width  # K and V come
            last = tile.stop == length or (causal and tile.stop >= block.stop)
            nbytes += 4 * len(block) * width * last  # O goes
            visits.append(Visit(block, tile, m, l, o, nbytes))
    return Walk(scores, tuple(visits), tuple(skipped), width)


def _step(
    scores: np.ndarray,
    values: np.ndarray,
    m: np.ndarray,
    l: np.ndarray,  # noqa: E741
    o: np.ndarray,
) -> Sequence[np.ndarray]:
    """(m, l, O) of some queries after one more tile."""
    largest = np.maximum(m, scores.max(axis=1))
    shrink = np.exp(m - largest)
    weights = np.exp(scores - largest[:, None])
    return largest, l * shrink + weights.sum(axis=1), o * shrink[:, None] + weights @ values
