@cuda.jit
def smooth(x, out):
    s = cuda.shared.array(131, "float32")
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t+3] = x[i] if i < x.size else 0
    cuda.syncthreads()
    if t < 3:
        pass
    a0 = s[t+3]
    a1 = s[max(t+2,3)]
    a2 = s[max(t+1,3)]
    a3 = s[max(t,3)]
    if i < x.size:
        b0 = (a0+a1)/2
        b1 = (a1+a2)/2 if t > 1 else (a1 if t == 1 else a0)
        b2 = (a2+a3)/2 if t > 2 else a2
        c0 = (b0+b1)/2 if t > 0 else b0
        c1 = (b1+b2)/2 if t > 1 else b1
        out[i] = (c0+c1)/2 if t > 0 else a0
