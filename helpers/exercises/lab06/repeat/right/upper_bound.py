@cuda.jit
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
