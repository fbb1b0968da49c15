"""Right answers to lab09.weight_grad by routes other than the solution's."""

KEY = "lab09.weight_grad"

ROWS = [
    # which way, the solution cell
    (
        "slices of eight samples",
        """@cuda.jit
def weight_grad(dy, a, dw):
    s = cuda.shared.array((8, 32), "float32")
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    t = 16 * y + x
    j, c = t // 32, t % 32
    top, side = 16 * cuda.blockIdx.y, 16 * cuda.blockIdx.x
    total = np.float32(0)
    for first in range(0, a.shape[0], 8):
        b = first + j
        s[j, c] = 0
        if b < a.shape[0]:
            if c < 16:
                if top + c < dy.shape[1]:
                    s[j, c] = dy[b, top + c]
            elif side + c - 16 < a.shape[1]:
                s[j, c] = a[b, side + c - 16]
        cuda.syncthreads()
        for i in range(8):
            total += s[i, y] * s[i, 16 + x]
        cuda.syncthreads()
    if top + y < dw.shape[0] and side + x < dw.shape[1]:
        dw[top + y, side + x] = total
""",
    ),
    (
        "the left tile turned over, with padding",
        """@cuda.jit
def weight_grad(dy, a, dw):
    left, right = cuda.shared.array((16, 17), "float32"), cuda.shared.array((16, 17), "float32")
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    top, side = 16 * cuda.blockIdx.y, 16 * cuda.blockIdx.x
    total = 0.0
    for first in range(0, a.shape[0], 16):
        b = first + y
        left[x, y] = dy[b, top + x] if b < dy.shape[0] and top + x < dy.shape[1] else 0
        right[y, x] = a[b, side + x] if b < a.shape[0] and side + x < a.shape[1] else 0
        cuda.syncthreads()
        for j in range(16):
            total += left[y, j] * right[j, x]
        cuda.syncthreads()
    if top + y < dw.shape[0] and side + x < dw.shape[1]:
        dw[top + y, side + x] = total
""",
    ),
    (
        "two sets of tiles and one barrier a slice",
        """@cuda.jit
def weight_grad(dy, a, dw):
    left, right = cuda.shared.array((2, 16, 16), "float32"), cuda.shared.array((2, 16, 16), "float32")
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    top, side = 16 * cuda.blockIdx.y, 16 * cuda.blockIdx.x
    total, k = np.float32(0), 0
    for first in range(0, a.shape[0], 16):
        b = first + y
        left[k, y, x] = dy[b, top + x] if b < dy.shape[0] and top + x < dy.shape[1] else 0
        right[k, y, x] = a[b, side + x] if b < a.shape[0] and side + x < a.shape[1] else 0
        cuda.syncthreads()
        for j in range(min(16, a.shape[0] - first)):
            total += left[k, j, y] * right[k, j, x]
        k = 1 - k
    if top + y < dw.shape[0] and side + x < dw.shape[1]:
        dw[top + y, side + x] = total
""",
    ),
]
