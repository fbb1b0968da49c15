"""Right answers to lab13.by_weights by routes other than the solution's."""

KEY = "lab13.by_weights"

ROWS = [
    (
        "a butterfly within warps",
        (
            (
                "__shfl_down_sync",
                "__shfl_xor_sync",
            ),
            (
                """        for (int v = 1; v < 4; ++v) sum += s[v];
        dw[blockIdx.x] = sum;""",
                "        dw[blockIdx.x] = sum + s[1] + s[2] + s[3];",
            ),
        ),
    ),
    (
        "images outside, elements inside",
        (
            (
                """    for (int i = t; i < images * oh * ow; i += blockDim.x) {
        int n = i / (oh * ow), p = i / ow % oh, q = i % ow;
        sum += g[(n * k + f) * oh * ow + i % (oh * ow)] * x[((n * c + ch) * h + p + a) * w + q + b];
    }""",
                """    for (int i = t, all = images * oh * ow; i < all; i += blockDim.x) {
        int n = i / (oh * ow), at = i - n * oh * ow, p = at / ow, q = at - p * ow;
        sum = fmaf(g[(n * k + f) * oh * ow + at], x[((n * c + ch) * h + p + a) * w + q + b], sum);
    }""",
            ),
        ),
    ),
]
