"""Right answers to lab04.lower by routes other than the solution's."""

KEY = "lab04.lower"

ROWS = [
    # which way, the solution cell
    (
        "warp shuffles",
        """@cuda.jit
def lower(x, out):
    warps = cuda.shared.array(4, "int32")
    t = cuda.threadIdx.x
    lane, w = t % 32, t // 32
    for row in range(cuda.blockIdx.x, x.shape[0], cuda.gridDim.x):
        m = np.int32(2147483647)
        for i in range(t, x.shape[1], 128):
            m = min(m, x[row, i])
        off = 16
        while off > 0:
            m = min(m, cuda.shfl_down_sync(0xffffffff, m, off))
            off //= 2
        if lane == 0:
            warps[w] = m
        cuda.syncthreads()
        low = min(min(warps[0], warps[1]), min(warps[2], warps[3]))
        for i in range(t, x.shape[1], 128):
            out[row, i] = x[row, i] - low
        cuda.syncthreads()
""",
    ),
    (
        "two words in turn",
        """@cuda.jit
def lower(x, out):
    least = cuda.shared.array(2, "int32")
    t = cuda.threadIdx.x
    if t < 2:
        least[t] = 2**31 - 1
    cuda.syncthreads()
    turn = 0
    for row in range(cuda.blockIdx.x, x.shape[0], cuda.gridDim.x):
        mine = 2**31 - 1
        for i in range(t, x.shape[1], cuda.blockDim.x):
            mine = min(mine, x[row, i])
        cuda.atomic.min(least, turn, mine)
        cuda.syncthreads()
        low = least[turn]
        for i in range(t, x.shape[1], cuda.blockDim.x):
            out[row, i] = x[row, i] - low
        cuda.syncthreads()
        if t == 0:
            least[turn] = 2**31 - 1
        turn = 1 - turn
""",
    ),
    (
        "a word for each thread, read by all",
        """@cuda.jit
def lower(x, out):
    slots = cuda.shared.array(128, "int32")
    t = cuda.threadIdx.x
    for row in range(cuda.blockIdx.x, x.shape[0], cuda.gridDim.x):
        m = 2**31 - 1
        for i in range(t, x.shape[1], 128):
            v = x[row, i]
            if v < m:
                m = v
        slots[t] = m
        cuda.syncthreads()
        low = slots[0]
        for k in range(1, 128):
            if slots[k] < low:
                low = slots[k]
        cuda.syncthreads()
        for i in range(t, x.shape[1], 128):
            out[row, i] = x[row, i] - low
""",
    ),
    (
        "begins with the first element",
        """@cuda.jit
def lower(x, out):
    least = cuda.shared.array(1, "int32")
    t = cuda.threadIdx.x
    for row in range(cuda.blockIdx.x, x.shape[0], cuda.gridDim.x):
        if t == 0:
            least[0] = x[row, 0]
        cuda.syncthreads()
        mine = x[row, 0]
        for i in range(t, x.shape[1], cuda.blockDim.x):
            mine = min(mine, x[row, i])
        cuda.atomic.min(least, 0, mine)
        cuda.syncthreads()
        for i in range(t, x.shape[1], cuda.blockDim.x):
            out[row, i] = x[row, i] - least[0]
        cuda.syncthreads()
""",
    ),
]
