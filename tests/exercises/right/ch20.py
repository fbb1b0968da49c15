"""Right answers to the exercises of chapter 20, by other routes than the solution."""

ROWS = [
    (
        "ch20.parameters",
        "gate by gate",
        """def parameters(inputs, hidden, layers, directions):
    total = 0
    for layer in range(layers):
        width = inputs if layer == 0 else directions * hidden
        matrices = hidden * width + hidden * hidden
        total += 4 * directions * (matrices + 2 * hidden)
    return total""",
    ),
    (
        "ch20.parameters",
        "the first layer apart",
        (
            (
                """    total = 0
    width = inputs
    for _ in range(layers):
        total += directions * 4 * hidden * (width + hidden + 2)
        width = hidden * directions
    return total""",
                """    first = inputs + hidden + 2
    other = directions * hidden + hidden + 2
    return 4 * hidden * directions * (first + (layers - 1) * other)""",
            ),
        ),
    ),
    (
        "ch20.rnn_cell",
        "the column by subtraction, restrict",
        (
            (
                "const float* xw, const float* hu, const float* bias, float* out",
                """const float* __restrict__ xw, const float* __restrict__ hu, const float* __restrict__ bias, float* __restrict__ out""",
            ),
            (
                "bias[i % hidden]",
                "bias[i - i / hidden * hidden]",
            ),
        ),
    ),
    (
        "ch20.rnn_cell",
        "grid-stride",
        (
            (
                """    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < batch * hidden)
""",
                """    int count = batch * hidden;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
""",
            ),
        ),
    ),
    (
        "ch20.rnn_backward",
        "the difference of squares in two factors",
        (
            (
                "(np.float32(1) - h[i] * h[i])",
                "(np.float32(1) - h[i]) * (np.float32(1) + h[i])",
            ),
            (
                """    if i < h.size:
""",
                """    one = np.float32(1)
    if i < h.size:
""",
            ),
        ),
    ),
    (
        "ch20.rnn_backward",
        "grid-stride, and variables",
        """import numpy as np


@cuda.jit
def rnn_backward(h, d_out, d_next, d_z):
    for i in range(cuda.grid(1), h.size, cuda.gridsize(1)):
        slope = d_out[i] + d_next[i]
        state = h[i]
        d_z[i] = slope - slope * state * state""",
    ),
    (
        "ch20.batch",
        "a generator and next",
        """def smallest_batch(hidden, itemsize, wanted):
    def intensity(batch):
        return 8 * batch * hidden**2 / (itemsize * (4 * hidden**2 + 5 * batch * hidden))

    return next((batch for batch in range(1, 5001) if intensity(batch) >= wanted), 0)""",
    ),
    (
        "ch20.batch",
        "compared without a division",
        (
            (
                "        if flops / moved >= wanted:",
                "        if flops >= wanted * moved:",
            ),
        ),
    ),
    (
        "ch20.clip",
        "scaled only where it is longer",
        (
            (
                """        factor = min(np.float32(1), limit / norm)
        out[i] = gradient[i] * factor""",
                """        if norm > limit:
            out[i] = gradient[i] * (limit / norm)
        else:
            out[i] = gradient[i]""",
            ),
        ),
    ),
    (
        "ch20.clip",
        "compared as squares",
        (
            (
                """        norm = math.sqrt(squares[0])
        factor = min(np.float32(1), limit / norm)
""",
                """        factor = np.float32(1)
        if squares[0] > limit * limit:
            factor = limit / math.sqrt(squares[0])
""",
            ),
        ),
    ),
    (
        "ch20.bias",
        "logarithms of the share",
        (
            (
                """    gate = share ** (1 / steps)
    return math.log(gate / (1 - gate))""",
                """    gate = math.exp(math.log(share) / steps)
    return math.log(gate) - math.log1p(-gate)""",
            ),
        ),
    ),
    (
        "ch20.bias",
        "minus the logarithm of what is lost",
        (
            (
                "    return math.log(gate / (1 - gate))",
                "    return -math.log(1 / gate - 1)",
            ),
        ),
    ),
    (
        "ch20.hold",
        "old first, then overwritten by condition",
        (
            (
                "        out[i] = step < lengths[i / hidden] ? fresh[i] : old[i];",
                "        out[i] = lengths[i / hidden] <= step ? old[i] : fresh[i];",
            ),
        ),
    ),
    (
        "ch20.hold",
        "a pointer chosen",
        (
            (
                "        out[i] = step < lengths[i / hidden] ? fresh[i] : old[i];",
                """    {
        const float* from = step < lengths[i / hidden] ? fresh : old;
        out[i] = from[i];
    }""",
            ),
        ),
    ),
    (
        "ch20.draw",
        "cumulative sums by itertools",
        """import bisect
import itertools
import math


def draw(scores, temperature, number):
    largest = max(scores)
    weights = [math.exp((score - largest) / temperature) for score in scores]
    total = sum(weights)
    reached = list(itertools.accumulate(weight / total for weight in weights))
    return min(bisect.bisect_right(reached, number), len(scores) - 1)""",
    ),
    (
        "ch20.draw",
        "what is left of the number",
        (
            (
                """    reached = 0.0
    for index in range(len(scores) - 1):
        reached += parts[index] / total
        if number < reached:
            return index
""",
                """    left = number * total
    for index in range(len(scores) - 1):
        if left < parts[index]:
            return index
        left -= parts[index]
""",
            ),
        ),
    ),
    (
        "ch20.scaled",
        "the season's day counted along",
        (
            (
                """        for day in range(truth.shape[0]):
            own += abs(forecast[day, w] - truth[day, w])
            naive += abs(past[first + day % season, w] - truth[day, w])
""",
                """        at = first
        for day in range(truth.shape[0]):
            wanted = truth[day, w]
            own += abs(wanted - forecast[day, w])
            naive += abs(wanted - past[at, w])
            at += 1
            if at == past.shape[0]:
                at = first
""",
            ),
        ),
    ),
    (
        "ch20.scaled",
        "means of both",
        (
            (
                "        out[w] = own / naive",
                """        days = np.float32(truth.shape[0])
        out[w] = (own / days) / (naive / days)""",
            ),
        ),
    ),
    (
        "ch20.scan_round",
        "copied first, then joined",
        """@cuda.jit
def scan_round(steps, distance, out):
    i = cuda.grid(1)
    if i < steps.shape[1]:
        a, b = steps[0, i], steps[1, i]
        if i >= distance:
            b += a * steps[1, i - distance]
            a *= steps[0, i - distance]
        out[0, i], out[1, i] = a, b""",
    ),
    (
        "ch20.scan_round",
        "the earlier step by name",
        (
            (
                """        if i >= distance:
            out[0, i] = steps[0, i] * steps[0, i - distance]
            out[1, i] = steps[0, i] * steps[1, i - distance] + steps[1, i]""",
                """        earlier = i - distance
        if earlier >= 0:
            own = steps[0, i]
            out[1, i] = steps[1, i] + own * steps[1, earlier]
            out[0, i] = own * steps[0, earlier]""",
            ),
        ),
    ),
]
