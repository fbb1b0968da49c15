@cuda.jit(device=True, inline=True)
def clip(v, a, b):
    return max(a, min(b, v))
@cuda.jit
def standardise(x, mean, scale, limit, out):
    i = cuda.blockIdx.x*cuda.blockDim.x+cuda.threadIdx.x
    if i < len(x):
        out[i] = clip((x[i]-mean)*scale, -limit, limit)
