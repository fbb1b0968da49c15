@cuda.jit
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
