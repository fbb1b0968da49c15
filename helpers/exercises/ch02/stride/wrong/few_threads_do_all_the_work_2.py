@cuda.jit
def square(x, out):
    if cuda.blockIdx.x == 0:
        for i in range(cuda.threadIdx.x, x.size, cuda.blockDim.x):
            out[i] = x[i] * x[i]
