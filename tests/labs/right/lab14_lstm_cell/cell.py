"""Right answers to lab14.cell by routes other than the solution's."""

KEY = "lab14.cell"

ROWS = [
    # which way, the solution cell
    (
        "one gate after the other, by tanh alone",
        """@cuda.jit(device=True)
def sigmoid(z):
    return np.float32(0.5) * (np.float32(1) + math.tanh(np.float32(0.5) * z))


@cuda.jit
def cell(from_input, from_state, b_ih, b_hh, c_old, kept):
    hidden = c_old.shape[1]
    unit = 32 * cuda.blockIdx.x + cuda.threadIdx.x
    if unit >= hidden:
        return
    bias = cuda.local.array(4, "float32")
    z = cuda.local.array(4, "float32")
    for gate in range(4):
        bias[gate] = b_hh[gate * hidden + unit] + b_ih[gate * hidden + unit]
    s = 4 * cuda.blockIdx.y + cuda.threadIdx.y
    while s < c_old.shape[0]:
        for gate in range(4):
            z[gate] = bias[gate] + from_input[s, gate * hidden + unit] + from_state[s, gate * hidden + unit]
        i, f, g, o = sigmoid(z[0]), sigmoid(z[1]), math.tanh(z[2]), sigmoid(z[3])
        c = c_old[s, unit] * f + g * i
        h = math.tanh(c) * o
        kept[s, 5 * hidden + unit], kept[s, 4 * hidden + unit] = h, c
        kept[s, 3 * hidden + unit], kept[s, 2 * hidden + unit] = o, g
        kept[s, hidden + unit], kept[s, unit] = f, i
        s += 4 * cuda.gridDim.y
""",
    ),
    (
        "each thread has sequences that lie side by side, with biases from shared memory",
        """@cuda.jit
def cell(from_input, from_state, b_ih, b_hh, c_old, kept):
    batch, hidden = c_old.shape
    bias = cuda.shared.array((4, 32), "float32")
    x, gate = cuda.threadIdx.x, cuda.threadIdx.y
    unit = 32 * cuda.blockIdx.x + x
    if unit < hidden:
        bias[gate, x] = b_ih[gate * hidden + unit] + b_hh[gate * hidden + unit]
    cuda.syncthreads()
    threads = 4 * cuda.gridDim.y
    each = (batch + threads - 1) // threads
    first = each * (4 * cuda.blockIdx.y + cuda.threadIdx.y)
    if unit < hidden:
        for s in range(first, min(first + each, batch)):
            z_i = from_input[s, unit] + from_state[s, unit] + bias[0, x]
            z_f = from_input[s, hidden + unit] + from_state[s, hidden + unit] + bias[1, x]
            z_g = from_input[s, 2 * hidden + unit] + from_state[s, 2 * hidden + unit] + bias[2, x]
            z_o = from_input[s, 3 * hidden + unit] + from_state[s, 3 * hidden + unit] + bias[3, x]
            i = np.float32(1) / (np.float32(1) + math.exp(-z_i))
            f = np.float32(1) / (np.float32(1) + math.exp(-z_f))
            o = np.float32(1) / (np.float32(1) + math.exp(-z_o))
            g = np.float32(2) / (np.float32(1) + math.exp(np.float32(-2) * z_g)) - np.float32(1)
            c = f * c_old[s, unit] + i * g
            kept[s, unit] = i
            kept[s, hidden + unit] = f
            kept[s, 2 * hidden + unit] = g
            kept[s, 3 * hidden + unit] = o
            kept[s, 4 * hidden + unit] = c
            kept[s, 5 * hidden + unit] = o * math.tanh(c)
""",
    ),
]
