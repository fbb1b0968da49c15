@cuda.jit
def look_up(which, table, out):
    near = cuda.shared.array(256, "float32")
    i, t = cuda.grid(1), cuda.threadIdx.x
    for k in range(t, 256, 128):
        near[k] = table[k]
    cuda.syncthreads()
    if i < out.size:
        out[i] = near[which[i]]
