@cuda.jit(device=True)
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
