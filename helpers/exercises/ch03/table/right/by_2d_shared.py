@cuda.jit
def look_up(which, table, out):
    s = cuda.shared.array((2,128), "float32")
    t = cuda.threadIdx.x
    for r in range(2):
        s[r, t] = table[r*128+t]
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < out.size:
        w = which[i]
        out[i] = s[w//128, w%128]
