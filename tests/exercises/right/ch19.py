"""Right answers to the exercises of chapter 19, by other routes than the solution."""

ROWS = [
    (
        "ch19.pool",
        "from minus infinity",
        (
            (
                """        best = x[plane, 2 * row, 2 * column]
""",
                """        best = np.float32(-np.inf)
""",
            ),
        ),
    ),
    (
        "ch19.pool",
        "nine steps of one loop",
        (
            (
                """        for r in range(3):
            for s in range(3):
                best = max(best, x[plane, 2 * row + r, 2 * column + s])
""",
                """        for tap in range(1, 9):
            value = x[plane, 2 * row + tap // 3, 2 * column + tap % 3]
            if value > best:
                best = value
""",
            ),
        ),
    ),
    (
        "ch19.pointwise",
        "two sums of channels",
        (
            (
                """        total = np.float32(0)
        for c in range(image.shape[0]):
            total += weight[k, c] * image[c, pixel]
        out[k, pixel] = total""",
                """        even, odd = np.float32(0), np.float32(0)
        for c in range(0, image.shape[0], 2):
            even += image[c, pixel] * weight[k, c]
            if c + 1 < image.shape[0]:
                odd += image[c + 1, pixel] * weight[k, c + 1]
        out[k, pixel] = even + odd""",
            ),
        ),
    ),
    (
        "ch19.pointwise",
        "channels from the last to the first",
        (
            (
                "        for c in range(image.shape[0]):",
                "        for c in range(image.shape[0] - 1, -1, -1):",
            ),
        ),
    ),
    (
        "ch19.depthwise",
        "bounds of the loops",
        (
            (
                """    for (int r = 0; r < 3; ++r)
        for (int s = 0; s < 3; ++s) {
            int y = row + r - 1, x = column + s - 1;
            if (y >= 0 && y < height && x >= 0 && x < width)
                sum += image[(c * height + y) * width + x] * weight[9 * c + 3 * r + s];
        }
""",
                """    for (int y = max(row - 1, 0); y <= min(row + 1, height - 1); ++y)
        for (int x = max(column - 1, 0); x <= min(column + 1, width - 1); ++x)
            sum += image[(c * height + y) * width + x] * weight[9 * c + 3 * (y - row + 1) + x - column + 1];
""",
            ),
        ),
    ),
    (
        "ch19.depthwise",
        "restrict, a plane's pointer, unrolled",
        (
            (
                "const float* image, const float* weight, float* out",
                "const float* __restrict__ image, const float* __restrict__ weight, float* __restrict__ out",
            ),
            (
                """    float sum = 0;
    for (int r""",
                """    float sum = 0;
    const float* plane = image + c * height * width;
    #pragma unroll
    for (int r""",
            ),
            (
                "image[(c * height + y) * width + x]",
                "plane[y * width + x]",
            ),
        ),
    ),
    (
        "ch19.slope",
        "over the outputs that read the input",
        (
            (
                """    for (int s = 0; s < taps; ++s) {
        int back = i - s;
        if (back >= 0 && back % stride == 0 && back / stride < outputs)
            sum += slope[back / stride] * weight[s];
    }
""",
                """    int first = i < taps ? 0 : (i - taps) / stride + 1;
    for (int o = first; o < outputs && o * stride <= i; ++o)
        sum += slope[o] * weight[i - o * stride];
""",
            ),
        ),
    ),
    (
        "ch19.slope",
        "by steps of the stride",
        (
            (
                """    for (int s = 0; s < taps; ++s) {
        int back = i - s;
        if (back >= 0 && back % stride == 0 && back / stride < outputs)
            sum += slope[back / stride] * weight[s];
    }""",
                """    for (int s = i % stride; s < taps && s <= i; s += stride) {
        int o = (i - s) / stride;
        if (o < outputs) sum += slope[o] * weight[s];
    }""",
            ),
        ),
    ),
    (
        "ch19.bias",
        "images outside, pixels inside",
        (
            (
                """    for i in range(lane, images * pixels, 32):
        total += slope[i // pixels, k, i % pixels]
""",
                """    for image in range(images):
        for pixel in range(lane, pixels, 32):
            total += slope[image, k, pixel]
""",
            ),
        ),
    ),
    (
        "ch19.bias",
        "a butterfly of shuffles",
        (
            (
                "shfl_down_sync",
                "shfl_xor_sync",
            ),
            (
                "(16, 8, 4, 2, 1)",
                "(1, 2, 4, 8, 16)",
            ),
        ),
    ),
    (
        "ch19.field",
        "from the last layer back",
        """def field(size, layers):
    for kernel, stride, padding in layers:
        size = 1 + (size + 2 * padding - kernel) // stride
    sees = 1
    for kernel, stride, _ in reversed(layers):
        sees = (sees - 1) * stride + kernel
    return size, sees""",
    ),
    (
        "ch19.field",
        "updated in one line",
        (
            (
                """        sees = sees + (kernel - 1) * jump
        jump = jump * stride""",
                "        sees, jump = sees + kernel * jump - jump, jump * stride",
            ),
        ),
    ),
    (
        "ch19.vanish",
        "a power of the square",
        (
            (
                "    return math.sqrt(share) ** layers",
                "    return share ** (layers / 2)",
            ),
        ),
    ),
    (
        "ch19.vanish",
        "layer by layer",
        """import math


def surviving(taps, variance, layers):
    square = 1.0
    for _ in range(layers):
        square *= 0.5 * taps * variance
    return math.sqrt(square)""",
    ),
    (
        "ch19.intensity",
        "sizes from a helper, in steps",
        """def along(size, kernel, stride, padding):
    return 1 + (size - kernel + 2 * padding) // stride


def intensity(image, weight, stride, padding, itemsize):
    n, c, h, w = image
    k, depth, r, s = weight
    p, q = along(h, r, stride, padding), along(w, s, stride, padding)
    multiply_adds = n * k * p * q * depth * r * s
    values = n * c * h * w + k * depth * r * s + n * k * p * q
    return 2 * multiply_adds / (values * itemsize)""",
    ),
    (
        "ch19.intensity",
        "math.prod",
        (
            (
                "    moved = images * channels * height * width + filters * depth * size * size + outputs",
                """    import math

    moved = math.prod(image) + math.prod(weight) + outputs""",
            ),
        ),
    ),
]
