@cuda.jit
def mode(values, parts, tickets, out):
    mine, last = cuda.shared.array(64, "int32"), cuda.shared.array(1, "int32")
    t = cuda.threadIdx.x
    if t < 64:
        mine[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(mine, values[i], 1)
    cuda.syncthreads()
    if t < 64:
        parts[cuda.blockIdx.x, t] = mine[t]
        cuda.threadfence()
    cuda.syncthreads()
    if t == 0:
        last[0] = cuda.atomic.add(tickets, 0, 1) == cuda.gridDim.x - 1
        cuda.threadfence()
    cuda.syncthreads()
    if last[0]:
        if t < 64:
            mine[t] = 0
            for b in range(cuda.gridDim.x):
                mine[t] += parts[b, t]
        cuda.syncthreads()
        if t < 32:
            c, b = mine[t], t
            if mine[t + 32] > c:
                c, b = mine[t + 32], t + 32
            d = 16
            while d > 0:
                oc = cuda.shfl_down_sync(0xffffffff, c, d)
                ob = cuda.shfl_down_sync(0xffffffff, b, d)
                if oc > c or (oc == c and ob < b):
                    c, b = oc, ob
                d //= 2
            if t == 0:
                out[0] = b
