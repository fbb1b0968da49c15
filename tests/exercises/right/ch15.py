"""Right answers to the exercises of chapter 15, by other routes than the solution."""

ROWS = [
    (
        "ch15.encode",
        "normal and subnormal apart",
        """import math


def encode(x, exponent_bits, mantissa_bits):
    bias = 2 ** (exponent_bits - 1) - 1
    smallest = 2.0 ** (1 - bias)
    if x < smallest:
        return round(x / (smallest / 2**mantissa_bits))
    _, power = math.frexp(x)
    power -= 1
    mantissa = round(math.ldexp(x, mantissa_bits - power)) - 2**mantissa_bits
    return ((power + bias) << mantissa_bits) + mantissa""",
    ),
    (
        "ch15.encode",
        "math.log2 in place of frexp",
        (
            (
                "math.frexp(x)[1] - 1",
                "math.floor(math.log2(x)) if x else -(10**9)",
            ),
        ),
    ),
    (
        "ch15.softmax",
        "online, one pass for both",
        (
            (
                """    float largest = __half2float(x[row]);
    for (int k = 1; k < columns; ++k) largest = fmaxf(largest, __half2float(x[k * rows + row]));
    float sum = 0;
    for (int k = 0; k < columns; ++k) sum += expf(__half2float(x[k * rows + row]) - largest);
""",
                """    float largest = __half2float(x[row]), sum = 1;
    for (int k = 1; k < columns; ++k) {
        float value = __half2float(x[k * rows + row]), now = fmaxf(largest, value);
        sum = sum * expf(largest - now) + expf(value - now);
        largest = now;
    }
""",
            ),
        ),
    ),
    (
        "ch15.softmax",
        "one reciprocal",
        (
            (
                """    for (int k = 0; k < columns; ++k)
        out[k * rows + row] = __float2half(expf(__half2float(x[k * rows + row]) - largest) / sum);""",
                """    float inverse = 1.0f / sum;
    for (int k = 0; k < columns; ++k) {
        float value = __half2float(x[k * rows + row]) - largest;
        out[k * rows + row] = __float2half_rn(expf(value) * inverse);
    }""",
            ),
        ),
    ),
    (
        "ch15.padded",
        "math.ceil and math.prod",
        """import math


def padded(rows, inner, columns):
    sizes = (rows, inner, columns)
    products = math.prod(math.ceil(size / 16) for size in sizes)
    return products, 100 * math.prod(sizes) / (4096 * products)""",
    ),
    (
        "ch15.padded",
        "sizes rounded up",
        """def up(size):
    return size + -size % 16


def padded(rows, inner, columns):
    multiplied = up(rows) * up(inner) * up(columns)
    return multiplied // 4096, rows * inner * columns / multiplied * 100""",
    ),
    (
        "ch15.scale",
        "doubled until it no longer fits",
        """def best_scale(sizes):
    largest, scale = max(sizes), 1.0
    while largest * scale * 2 <= 65504:
        scale *= 2
    while largest * scale > 65504:
        scale /= 2
    return scale, len([size for size in sizes if size and size * scale <= 2.0**-25])""",
    ),
    (
        "ch15.scale",
        "frexp",
        """import math


def best_scale(sizes):
    ratio, power = math.frexp(65504 / max(sizes))
    scale = math.ldexp(1.0, power - 1)
    lost = 0
    for size in sizes:
        if 0 < size * scale <= 1 / 2**25:
            lost += 1
    return scale, lost""",
    ),
    (
        "ch15.blocks",
        "math.log2, and nearest by sorting",
        """import math

SIZES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


def nearest(size):
    ranked = sorted(range(8), key=lambda code: (abs(SIZES[code] - size), code & 1))
    return SIZES[ranked[0]]


def mx_block(values):
    largest = max(map(abs, values))
    if not largest:
        return -127, [0.0] * len(values)
    exponent = math.floor(math.log2(largest)) - 2
    return exponent, [math.copysign(math.ldexp(nearest(math.ldexp(abs(v), -exponent)), exponent), v) for v in values]""",
    ),
    (
        "ch15.blocks",
        "the codes by their boundaries",
        (
            (
                """        code = min(range(8), key=lambda code: (abs(SIZES[code] - size), code % 2))
""",
                """        code = 0
        for upper in range(1, 8):
            middle = (SIZES[upper - 1] + SIZES[upper]) / 2
            if size > middle or (size == middle and upper % 2 == 0):
                code = upper
""",
            ),
        ),
    ),
    (
        "ch15.pack",
        "the two smallest removed",
        """def pack(row):
    values, places = [], []
    for start in range(0, len(row), 4):
        left = list(range(4))
        for _ in range(2):
            left.remove(min(reversed(left), key=lambda place: abs(row[start + place])))
        values += [row[start + place] for place in left]
        places += left
    return values, places""",
    ),
    (
        "ch15.pack",
        "sorted in reverse order of place",
        (
            (
                """        best = sorted(range(4), key=lambda place: -abs(four[place]))[:2]
        for place in sorted(best):""",
                """        best = sorted(range(4), key=lambda place: (abs(four[place]), -place))[2:]
        for place in sorted(best):""",
            ),
        ),
    ),
]
