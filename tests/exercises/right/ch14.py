"""Right answers to the exercises of chapter 14, by other routes than the solution."""

ROWS = [
    (
        "ch14.chain",
        "bytes added one by one",
        """def chain_bytes(operations, wanted, elements):
    one = 4 * elements
    separate = fused = 0
    inside = {output for _, output in operations}
    outside = set()
    for inputs, _ in operations:
        separate += one * (len(set(inputs)) + 1)
        outside |= {name for name in inputs if name not in inside}
    fused = one * (len(outside) + len(wanted))
    return separate, fused""",
    ),
    (
        "ch14.chain",
        "sums over sets",
        (
            (
                """    made, read = set(), set()
    separate = 0
    for inputs, output in operations:
        separate += len(set(inputs)) + 1
        read.update(inputs)
        made.add(output)
""",
                """    made = {output for _, output in operations}
    read = set().union(*(inputs for inputs, _ in operations))
    separate = sum(1 + len(set(inputs)) for inputs, _ in operations)
""",
            ),
        ),
    ),
    (
        "ch14.dropout",
        "the mask as a factor",
        (
            (
                "        out[i] = residual[i] + (mask[i] ? x[i] * scale : 0);",
                "        out[i] = fmaf(x[i], mask[i] ? scale : 0.0f, residual[i]);",
            ),
        ),
    ),
    (
        "ch14.dropout",
        "grid-stride, restrict",
        (
            (
                """    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
""",
                """    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
""",
            ),
            (
                "const float* x",
                "const float* __restrict__ x",
            ),
            (
                "float* out",
                "float* __restrict__ out",
            ),
        ),
    ),
    (
        "ch14.kernels",
        "lists of what runs together",
        """def kernels(kinds):
    groups = []
    for kind in kinds:
        if kind == "matmul":
            groups.append(["matmul"])
            continue
        last = groups[-1] if groups else ["matmul"]
        axes = {each for each in last if each != "pointwise"}
        if "matmul" in axes or (kind != "pointwise" and axes and kind not in axes):
            groups.append([kind])
        else:
            last.append(kind)
    return len(groups)""",
    ),
    (
        "ch14.kernels",
        "one state: closed, open, or the axis",
        """def kernels(kinds):
    count, state = 0, "closed"
    for kind in kinds:
        if kind == "matmul":
            count, state = count + 1, "closed"
        elif state == "closed":
            count, state = count + 1, "open" if kind == "pointwise" else kind
        elif kind != "pointwise":
            if state not in ("open", kind):
                count += 1
            state = kind
    return count""",
    ),
    (
        "ch14.combine",
        "from nothing, with a shrinking sum",
        """import math
import numpy as np


@cuda.jit
def combine(m, l, out):
    row = cuda.grid(1)
    if row >= m.shape[0]:
        return
    largest, total = np.float32(-np.inf), np.float32(0)
    for piece in range(m.shape[1]):
        mine = m[row, piece]
        now = max(mine, largest)
        total *= math.exp(largest - now)
        total += math.exp(mine - now) * l[row, piece]
        largest = now
    out[row, 0], out[row, 1] = largest, total""",
    ),
    (
        "ch14.combine",
        "two cases a piece",
        (
            (
                """            new = max(largest, m[row, piece])
            total = total * math.exp(largest - new) + l[row, piece] * math.exp(m[row, piece] - new)
            largest = new
""",
                """            mine, sum_of_mine = m[row, piece], l[row, piece]
            if mine > largest:
                total = total * math.exp(largest - mine) + sum_of_mine
                largest = mine
            else:
                total += sum_of_mine * math.exp(mine - largest)
""",
            ),
        ),
    ),
    (
        "ch14.rms_norm",
        "sqrt and a division",
        (
            (
                "rsqrtf(block_sum(squares) / columns + eps)",
                "1.0f / sqrtf(block_sum(squares) / columns + eps)",
            ),
            (
                "step /= 2",
                "step >>= 1",
            ),
        ),
    ),
    (
        "ch14.rms_norm",
        "the values held in registers",
        (
            (
                """    __shared__ float row[1024];
""",
                """    float row[8];
""",
            ),
            (
                """    for (int i = threadIdx.x; i < columns; i += 128) {
        row[i] = x[first + i];
        squares += row[i] * row[i];
    }""",
                """    for (int k = 0; k < 8; ++k) {
        int i = threadIdx.x + 128 * k;
        row[k] = i < columns ? x[first + i] : 0.0f;
        squares += row[k] * row[k];
    }""",
            ),
            (
                """    for (int i = threadIdx.x; i < columns; i += 128)
        out[first + i] = row[i] * scale * weight[i];""",
                """    for (int k = 0; k < 8; ++k) {
        int i = threadIdx.x + 128 * k;
        if (i < columns)
            out[first + i] = row[k] * scale * weight[i];
    }""",
            ),
        ),
    ),
    (
        "ch14.consumers",
        "bytes of each plan, added up",
        """def two_plans(inputs, consumers, elements):
    array = 4 * elements
    stored = inputs * array + array
    recomputed = 0
    for _ in range(consumers):
        stored += 2 * array
        recomputed += inputs * array + array
    return stored, recomputed""",
    ),
    (
        "ch14.consumers",
        "one expression each",
        (
            (
                """    producer = inputs + 1
    consumer = 1 + 1
    stored = producer + consumers * consumer
    recomputed = consumers * (inputs + 1)
    return""",
                """    stored, recomputed = inputs + 1 + 2 * consumers, consumers + consumers * inputs
    return""",
            ),
        ),
    ),
    (
        "ch14.swiglu_backward",
        "the two rows by name",
        (
            (
                "d * u * s * (one + g * (one - s))",
                "d * u * (s + g * s * (one - s))",
            ),
            (
                "d * g * s",
                "g * s * d",
            ),
        ),
    ),
    (
        "ch14.swiglu_backward",
        "grid-stride, SiLU kept in a variable",
        """import math
import numpy as np


@cuda.jit
def swiglu_backward(gate, up, d_out, d_both):
    one = np.float32(1)
    for i in range(cuda.grid(1), gate.size, cuda.gridsize(1)):
        g, u, d = gate[i], up[i], d_out[i]
        s = one / (one + math.exp(-g))
        silu = g * s
        d_both[1, i] = d * silu
        d_both[0, i] = d * u * (s + silu * (one - s))""",
    ),
]
