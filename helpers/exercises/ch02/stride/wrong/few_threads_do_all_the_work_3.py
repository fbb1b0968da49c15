@cuda.jit
def square(x, out):
    if cuda.threadIdx.x < 32:
        first = 32 * cuda.blockIdx.x + cuda.threadIdx.x
        for i in range(first, x.size, 64):
            out[i] = x[i] * x[i]
