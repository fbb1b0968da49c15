@cuda.jit
def relu(x, out):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i >= x.shape[0]:
        return
    v = x[i]
    out[i] = v if v > 0 else 0
