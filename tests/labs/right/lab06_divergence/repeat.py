"""Right answers to lab06.repeat by routes other than the solution's."""

KEY = "lab06.repeat"

ROWS = [
    # which way, the solution cell
    (
        "upper bound",
        """@cuda.jit
def repeat(value, first, out):
    k = cuda.grid(1)
    if k >= out.size:
        return
    lo = 0
    hi = first.size
    while lo < hi:
        mid = lo + (hi - lo) // 2
        if first[mid] > k:
            hi = mid
        else:
            lo = mid + 1
    out[k] = value[lo - 1]
""",
    ),
    (
        "branchless power of two",
        """@cuda.jit
def repeat(value, first, out):
    k = cuda.grid(1)
    if k < out.size:
        row = 0
        step = 1
        while step * 2 < first.size:
            step *= 2
        while step > 0:
            if row + step < value.size and first[row + step] <= k:
                row += step
            step >>= 1
        out[k] = value[row]
""",
    ),
    (
        "first in shared memory",
        """@cuda.jit
def repeat(value, first, out):
    s = cuda.shared.array(512, np.int32)
    for j in range(cuda.threadIdx.x, first.size, cuda.blockDim.x):
        s[j] = first[j]
    cuda.syncthreads()
    k = cuda.grid(1)
    if k < out.size:
        lo, hi = 0, value.size
        while hi - lo > 1:
            mid = (lo + hi) // 2
            if s[mid] <= k:
                lo = mid
            else:
                hi = mid
        out[k] = value[lo]
""",
    ),
    (
        "a warp narrows the range",
        """@cuda.jit
def repeat(value, first, out):
    k = cuda.grid(1)
    base = k - k % 32
    if base >= out.size:
        return
    lo, hi = 0, value.size
    while hi - lo > 1:
        mid = (lo + hi) // 2
        if first[mid] <= base:
            lo = mid
        else:
            hi = mid
    row = lo
    hi = min(value.size, row + 64)
    while hi < value.size and first[hi] <= base + 31:
        hi += 64
    hi = min(hi, value.size)
    lo = row
    while hi - lo > 1:
        mid = (lo + hi) // 2
        if first[mid] <= k:
            lo = mid
        else:
            hi = mid
    if k < out.size:
        out[k] = value[lo]
""",
    ),
]
