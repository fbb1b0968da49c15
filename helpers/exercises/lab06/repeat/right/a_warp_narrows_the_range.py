@cuda.jit
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
