@cuda.jit
def square(x, out):
    h = (x.size + 1)//2
    h = (h + 31)//32*32
    lo = cuda.blockIdx.x*h
    for i in range(lo + cuda.threadIdx.x, min(lo+h, x.size), 64):
        out[i] = x[i]*x[i]
