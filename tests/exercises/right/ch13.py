"""Right answers to the exercises of chapter 13 by routes other than the solution's: all of them pass."""

ROWS = [
    # key, which way, the whole source
    (
        "ch13.reuse",
        "by what a multiply-add costs",
        """def reuse(rows, columns, itemsize):
    elements = 1 / rows + 1 / columns
    return 2 / (itemsize * elements)
""",
    ),
    (
        "ch13.widest",
        "a list of powers",
        """def widest(shared_bytes, registers, threads, step):
    fitting = [1]
    for exponent in range(1, 20):
        width = 2**exponent
        if 8 * width * step <= shared_bytes and width**2 / threads <= registers - 40:
            fitting.append(width)
    return max(fitting)
""",
    ),
    (
        "ch13.composed",
        "tables first",
        """import itertools

def table(shape, stride):
    ways = itertools.product(*(range(size) for size in shape[::-1]))
    return [sum(i * step for i, step in zip(way, stride[::-1])) for way in ways]

def composed(outer_shape, outer_stride, inner_shape, inner_stride):
    outer = table(outer_shape, outer_stride)
    return [outer[place] for place in table(inner_shape, inner_stride)]
""",
    ),
    (
        "ch13.sectors",
        "the two arrays by hand",
        """def sectors(x, a_strides, b_strides):
    by_row = x == "row"
    of_a = {lane * (a_strides[0] if by_row else 0) // 8 for lane in range(32)}
    of_b = {lane * (0 if by_row else b_strides[1]) // 8 for lane in range(32)}
    return (len(of_a) + len(of_b)) / 2""",
    ),
    (
        "ch13.sectors",
        "one function for a request",
        """def of_request(distance):
    return len({4 * distance * lane // 32 for lane in range(32)})


def sectors(x, a_strides, b_strides):
    if x == "row":
        return 0.5 * (of_request(a_strides[0]) + of_request(0))
    return 0.5 * (of_request(0) + of_request(b_strides[1]))""",
    ),
    (
        "ch13.reuse",
        "one expression",
        (
            (
                """    flops = 2 * rows * columns
    loaded = itemsize * (rows + columns)
    return flops / loaded""",
                "    return 2 / itemsize / (1 / rows + 1 / columns)",
            ),
        ),
    ),
    (
        "ch13.strip",
        "four named sums and unrolled loops",
        (
            (
                "    float sum[4] = {};",
                "    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};",
            ),
            (
                """        for (int k = 0; k < 32; ++k) {
            float right""",
                """        #pragma unroll 8
        for (int k = 0; k < 32; ++k) {
            float right""",
            ),
        ),
    ),
    (
        "ch13.strip",
        "restrict, and a bound on the launch",
        (
            ("__global__ void strip", "__global__ void __launch_bounds__(256) strip"),
            ("const float* a,", "const float* __restrict__ a,"),
            ("const float* b,", "const float* __restrict__ b,"),
            ("float* c,", "float* __restrict__ c,"),
        ),
    ),
    (
        "ch13.wide",
        "restrict, and one float4 stored",
        (
            (
                "const float* a, const float* b, float* c",
                "const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c",
            ),
            (
                "    for (int j = 0; j < 4; ++j) c[row * n + column + j] = sum[j];",
                "    reinterpret_cast<float4*>(c)[(row * n + column) / 4] = make_float4(sum[0], sum[1], sum[2], sum[3]);",
            ),
        ),
    ),
    (
        "ch13.wide",
        "the left tile read four at a time",
        (
            (
                """        for (int k = 0; k < 32; ++k) {
            float left = in_a[y * 32 + k];
            float4 right = tile_b[k][x];
            sum[0] += left * right.x;
            sum[1] += left * right.y;
            sum[2] += left * right.z;
            sum[3] += left * right.w;
        }""",
                """        for (int k = 0; k < 32; k += 4) {
            float4 four = tile_a[y][k / 4];
            float left[4] = {four.x, four.y, four.z, four.w};
            for (int l = 0; l < 4; ++l) {
                float4 right = tile_b[k + l][x];
                sum[0] += left[l] * right.x;
                sum[1] += left[l] * right.y;
                sum[2] += left[l] * right.z;
                sum[3] += left[l] * right.w;
            }
        }""",
            ),
            (
                """    float* in_a = reinterpret_cast<float*>(tile_a);
""",
                "",
            ),
        ),
    ),
    (
        "ch13.tensor",
        "the warp by division, pointers moved on",
        (
            (
                """    for (int k = 0; k < depth; k += 16) {
        load_matrix_sync(left, a + row * depth + k, depth);
        load_matrix_sync(right, b + k * n + column, n);""",
                """    a += row * depth;
    b += column;
    for (int k = 0; k < depth; k += 16, a += 16, b += 16 * n) {
        load_matrix_sync(left, a, depth);
        load_matrix_sync(right, b, n);""",
            ),
        ),
    ),
    (
        "ch13.tensor",
        "two steps a round",
        (
            (
                "    for (int k = 0; k < depth; k += 16) {",
                """    #pragma unroll 2
    for (int k = 0; k < depth; k += 16) {""",
            ),
            (
                "const half* a, const half* b, float* c",
                "const half* __restrict__ a, const half* __restrict__ b, float* __restrict__ c",
            ),
        ),
    ),
    (
        "ch13.widest",
        "from the widest down",
        """def widest(shared_bytes, registers, threads, step):
    fitting = [
        2**power
        for power in range(20)
        if 8 * 2**power * step <= shared_bytes and 4**power / threads + 40 <= registers
    ]
    return max(fitting, default=1)""",
    ),
    (
        "ch13.step",
        "by layers in pairs",
        """def training_step(sizes, batch):
    products = [2 * batch * inputs * outputs for inputs, outputs in zip(sizes, sizes[1:])]
    return 3 * sum(products) - products[0]""",
    ),
    (
        "ch13.step",
        "forward, weights, images",
        """def training_step(sizes, batch):
    flop = 0
    for at, (inputs, outputs) in enumerate(zip(sizes[:-1], sizes[1:])):
        flop += 2 * batch * inputs * outputs * (2 if at == 0 else 3)
    return flop""",
    ),
    (
        "ch13.composed",
        "coordinates listed by nested loops",
        """import itertools
import math


def place(index, shape, stride):
    total = 0
    for size, step in zip(shape, stride):
        index, at = divmod(index, size)
        total += at * step
    return total


def composed(outer_shape, outer_stride, inner_shape, inner_stride):
    found = []
    for coordinates in itertools.product(*(range(size) for size in reversed(inner_shape))):
        inner = sum(at * step for at, step in zip(reversed(coordinates), inner_stride))
        found.append(place(inner, outer_shape, outer_stride))
    assert len(found) == math.prod(inner_shape)
    return found""",
    ),
]
