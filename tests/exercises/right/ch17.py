"""Right answers to the exercises of chapter 17, by other routes than the solution."""

ROWS = [
    (
        "ch17.score_bytes",
        "math.prod",
        """import math


def score_bytes(layers, batch, heads, length, itemsize):
    return math.prod((layers, batch, heads, itemsize)) * length**2""",
    ),
    (
        "ch17.score_bytes",
        "one table, times their number",
        (
            (
                "    return layers * batch * heads * length * length * itemsize",
                """    table = length * length * itemsize
    return table * layers * batch * heads""",
            ),
        ),
    ),
    (
        "ch17.one_pass",
        "two cases a key",
        (
            (
                """            now = max(largest, s)
            total = total * math.exp(largest - now) + math.exp(s - now)
            largest = now
""",
                """            if s > largest:
                total = total * math.exp(largest - s) + np.float32(1)
                largest = s
            else:
                total += math.exp(s - largest)
""",
            ),
        ),
    ),
    (
        "ch17.one_pass",
        "from minus infinity",
        (
            (
                """        largest = scores[0, query]
        total = np.float32(1)
        for key in range(1, scores.shape[0]):""",
                """        largest = np.float32(-np.inf)
        total = np.float32(0)
        for key in range(scores.shape[0]):""",
            ),
        ),
    ),
    (
        "ch17.join",
        "weights in one array",
        """import numpy as np


def join(m1, l1, o1, m2, l2, o2):
    parts = np.stack([m1, m2])
    m = parts.max(0)
    weights = np.exp(parts - m)
    l = (weights * np.stack([l1, l2])).sum(0)
    o = (weights[..., None] * np.stack([o1, o2])).sum(0)
    return m, l, o""",
    ),
    (
        "ch17.join",
        "by broadcasting columns",
        (
            (
                "    o = first[:, None] * o1 + second[:, None] * o2",
                "    o = (first * o1.T + second * o2.T).T",
            ),
            (
                "np.maximum(m1, m2)",
                "np.where(m1 > m2, m1, m2)",
            ),
        ),
    ),
    (
        "ch17.causal_tiles",
        "counted by formulas a row of tiles",
        """def causal_tiles(length, rows, keys):
    visited = masked = 0
    for first in range(0, length, rows):
        last = min(first + rows, length) - 1
        tiles = last // keys + 1
        whole = sum(1 for tile in range(tiles) if min((tile + 1) * keys, length) - 1 <= first)
        visited += tiles
        masked += tiles - whole
    return [visited, masked]""",
    ),
    (
        "ch17.causal_tiles",
        "a mask looked at tile by tile",
        """import numpy as np


def causal_tiles(length, rows, keys):
    allowed = np.tri(length, dtype=bool)
    found = [0, 0]
    for top in range(0, length, rows):
        for left in range(0, length, keys):
            tile = allowed[top : top + rows, left : left + keys]
            if tile.any():
                found[0] += 1
                found[1] += int(not tile.all())
    return found""",
    ),
    (
        "ch17.window",
        "a distance in place of two comparisons",
        (
            (
                """    seen = (keys[None, :] <= rows[:, None]) & (keys[None, :] > rows[:, None] - window)
    s = np.where(seen, s, -np.inf)""",
                """    back = rows[:, None] - keys[None, :]
    s = np.where((back >= 0) & (back < window), s, -np.inf)""",
            ),
        ),
    ),
    (
        "ch17.window",
        "weights set to zero by the mask",
        (
            (
                """    s = np.where(seen, s, -np.inf)
    largest = np.maximum(m, s.max(axis=1))""",
                """    s[~seen] = -np.inf
    largest = np.maximum(m, np.max(s, axis=1))""",
            ),
            (
                "    p = np.exp(s - base[:, None])",
                "    p = np.where(seen, np.exp(s - base[:, None]), 0)",
            ),
        ),
    ),
    (
        "ch17.score_gradient",
        "a two-dimensional view, restrict",
        (
            (
                "const float* s, const float* L, const float* dp, const float* D, float* ds,",
                """const float* __restrict__ s, const float* __restrict__ L, const float* __restrict__ dp,
                    const float* __restrict__ D, float* __restrict__ ds,""",
            ),
            (
                """    if (i < queries * keys) {
        int row = i / keys;""",
                """    if (i / keys < queries) {
        const int row = i / keys;""",
            ),
        ),
    ),
    (
        "ch17.score_gradient",
        "grid-stride",
        (
            (
                """    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < queries * keys) {""",
                """    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < queries * keys; i += gridDim.x * blockDim.x) {""",
            ),
        ),
    ),
    (
        "ch17.decode",
        "online, in one loop",
        """import math
import numpy as np


@cuda.jit
def decode(m, l, o, out):
    head = cuda.blockIdx.x
    d = cuda.threadIdx.x
    if d < o.shape[2]:
        largest = np.float32(-np.inf)
        total = np.float32(0)
        gathered = np.float32(0)
        for part in range(m.shape[1]):
            now = max(largest, m[head, part])
            shrink = math.exp(largest - now)
            weight = math.exp(m[head, part] - now)
            total = total * shrink + weight * l[head, part]
            gathered = gathered * shrink + weight * o[head, part, d]
            largest = now
        out[head, d] = gathered / total""",
    ),
    (
        "ch17.decode",
        "the guard returns early",
        (
            (
                """    if d < o.shape[2]:
""",
                """    if d >= o.shape[2]:
        return
    if True:
""",
            ),
        ),
    ),
    (
        "ch17.cache_mask",
        "row by row",
        """import numpy as np


def cache_mask(new, cached, filler):
    found = np.zeros((len(filler), 1, new, cached + new), bool)
    for sequence, empty in enumerate(filler):
        for query in range(new):
            found[sequence, 0, query, empty : cached + query + 1] = True
    return found""",
    ),
    (
        "ch17.cache_mask",
        "np.tri",
        (
            (
                """    query = cached + np.arange(new)
    key = np.arange(cached + new)
    causal = key[None, :] <= query[:, None]
""",
                """    key = np.arange(cached + new)
    causal = np.tri(new, cached + new, cached, dtype=bool)
""",
            ),
        ),
    ),
]
