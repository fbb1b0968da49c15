@cuda.jit
def compact(x, out):
    """Store the positive elements of x in their order at the start of out; one block of 256 threads."""
    s = cuda.shared.array(1, "int32")
    if cuda.threadIdx.x == 0:
        s[0] = 0
    cuda.syncthreads()
    for i in range(cuda.threadIdx.x, x.size, 256):
        if x[i] > 0:
            place = cuda.atomic.add(s, 0, 1)
            out[place] = x[i]
