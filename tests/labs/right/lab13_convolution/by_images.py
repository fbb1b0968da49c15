"""Right answers to lab13.by_images by routes other than the solution's."""

KEY = "lab13.by_images"

ROWS = [
    (
        "filters innermost",
        (
            (
                """        for f in range(weights.shape[0]):
            for a in range(r):
                for b in range(r):
                    p, q = row - a, column - b  # the element of the result in which this pixel met weight (a, b)
                    if 0 <= p < g.shape[2] and 0 <= q < g.shape[3]:
                        total += g[n, f, p, q] * weights[f, c, a, b]
""",
                """        for a in range(r):
            for b in range(r):
                p, q = row - a, column - b
                if 0 <= p < g.shape[2] and 0 <= q < g.shape[3]:
                    for f in range(weights.shape[0]):
                        total += weights[f, c, a, b] * g[n, f, p, q]
""",
            ),
        ),
    ),
    (
        "bounds of the loops in place of a condition",
        (
            (
                """            for a in range(r):
                for b in range(r):
                    p, q = row - a, column - b  # the element of the result in which this pixel met weight (a, b)
                    if 0 <= p < g.shape[2] and 0 <= q < g.shape[3]:
                        total += g[n, f, p, q] * weights[f, c, a, b]
""",
                """            for p in range(max(0, row - r + 1), min(g.shape[2], row + 1)):
                for q in range(max(0, column - r + 1), min(g.shape[3], column + 1)):
                    total += g[n, f, p, q] * weights[f, c, row - p, column - q]
""",
            ),
        ),
    ),
]
