@cuda.jit
def look_up(which, table, out):
    s = cuda.shared.array(256, dtype="float32")
    t = cuda.threadIdx.x
    s[t] = table[t]
    s[t+128] = table[t+128]
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < out.size:
        out[i] = s[which[i]]
