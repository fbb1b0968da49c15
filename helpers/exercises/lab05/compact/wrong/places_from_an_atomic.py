@cuda.jit
def compact(x, out):
    """Store the positive elements of x in their order at the start of out; one block of 256 threads."""
    s = cuda.shared.array(1, "int32")
    t, lane = cuda.threadIdx.x, cuda.threadIdx.x % 32
    if t == 0:
        s[0] = 0
    cuda.syncthreads()
    for first in range(0, x.size, 256):
        v = x[first + t] if first + t < x.size else np.float32(0)
        if v > 0:
            out[cuda.atomic.add(s, 0, 1)] = v
        cuda.syncthreads()
