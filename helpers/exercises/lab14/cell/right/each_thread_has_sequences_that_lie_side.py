@cuda.jit
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
