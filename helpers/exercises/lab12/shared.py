"""What the exercises of lab 12 share: data whose exponentials overflow, and attention in NumPy."""

from __future__ import annotations

import numpy as np

from helpers.checking.exercise import fractions

HEAD, FAR = 32, 128
"""How wide a head is; and the first number of a query, up to its sign: it makes scores whose exponentials overflow."""
DISTANCES = ("17, 8, 4, 2, 1", "16, 9, 4, 2, 1", "16, 8, 5, 2, 1", "16, 8, 4, 3, 1")
"""Other distances of shuffles that lead from each lane to every other, once."""
IN_TILES = (
    *((("16; apart > 0; apart /= 2)\n" + after, "17; apart > 0; apart /= 2)\n" + after),
       "from each lane to every other, once")
      for after in (" " * 16 + "top", " " * 12 + "l[i]")),
    *(((f"{tile}[32][{width}]", f"{tile}[{size}]"), "more room than is used")
      for tile, width, sizes in (("_q", 32, ("33][32", "32][33")), ("_k", 33, ("33][33",)),
                                 ("_v", 32, ("33][32", "32][33")))
      for size in sizes),
    *(((f"{name}[4]{after}", f"{name}[5]{after}"), "more room than is used")
      for name, after in (("m", ", l"), ("l", ", o"), ("o", ", s"), ("s", ";"))),
    *(((f"i < 4; ++i){after}", f"i {more}; ++i){after}"), "a fifth query is nowhere, and goes nowhere")
      for after in ("\n" + " " * 12 + "s[i]", "\n" + " " * 16 + "s[i]", "\n" + " " * 16 + "o[i]",
                    " {\n            if (")
      for more in ("<= 4", "< 5")),
    (("l[i] = o[i] = 0", "l[i] = o[i] = 1"), "shrink is 0 at first"),
    (("+ lane] : 0;\n            tile_v", "+ lane] : 1;\n            tile_v"), "is masked"),
    (("+ lane] : 0;\n        }\n        __s", "+ lane] : 1;\n        }\n        __s"), "its weight is 0"),
    (("s[i] = 0;", "s[i] = 1;"), "the same added to all scores"),
    (("s[i] = LOWEST", "s[i] += LOWEST"), "a score and minus infinity are minus infinity"),
    (("float top", "int top"), "the whole number beside the maximum keeps exponentials as small"),
)  # fmt: skip
"""Of the kernels in CUDA C: what leaves them right."""
ANEW = (
    "When the maximum grows, all that was summed up before is too large: `l` and `o` alike are multiplied by "
    "`exp(m - top)`."
)
BARRIERS = (
    "A warp that is ahead writes the next tile over the one that others are reading. A barrier before the tiles are "
    "filled keeps them together, and one after it says that they are full."
)
SCALED = "Each score is multiplied by `scale` once, before the exponential."
LANES_SUM = "Every lane has added up the weights of its own keys. The output is divided by the sum of all of them."
BANKS = (
    "Right, but lanes queue at a bank: down a column of a tile with 32 floats a row, all words are in the same one. "
    "One unused float a row moves each row on by one bank."
)
"""Words for mistakes that several exercises know."""


def given(of_queries: tuple[int, ...], of_keys: tuple[int, ...], seed: int) -> tuple[np.ndarray, ...]:
    """q, k and v; scores are far above 0 for one row of numbers and far below for the next, and float32 holds them."""
    q, k, v = fractions(of_queries, seed) / 2, fractions(of_keys, seed + 1) / 4, fractions(of_keys, seed + 2)
    signs = np.where(np.arange(q[..., 0].size) % 2, -1, 1).reshape(q.shape[:-1])
    q[..., 0], k[..., 0] = FAR * signs, 8 + k[..., 0] / 8
    return q, k, v


def attended(q: np.ndarray, k: np.ndarray, v: np.ndarray, scale: float, seen=True) -> np.ndarray:
    """Attention over the last two axes, in float64; `seen`: which keys a query sees, of shape (queries, keys)."""
    scores = scale * (q.astype(np.float64) @ k.astype(np.float64).swapaxes(-2, -1))
    scores = np.where(seen, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (weights / weights.sum(axis=-1, keepdims=True) @ v).astype(np.float32)
