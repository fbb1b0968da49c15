@cuda.jit
def halve(x, out):
    r = cuda.blockIdx.y*cuda.blockDim.y+cuda.threadIdx.y
    c = cuda.blockIdx.x*cuda.blockDim.x+cuda.threadIdx.x
    if r < x.shape[0] and c < x.shape[1]:
        out[r, c] = 0.5*x[r, c]
