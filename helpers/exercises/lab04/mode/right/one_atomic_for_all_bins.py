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
        top = cuda.shared.array(1, 'int32')
        if t == 0:
            top[0] = -1
        cuda.syncthreads()
        if t < 64:
            cuda.atomic.max(top, 0, mine[t] * 64 + 63 - t)
        cuda.syncthreads()
        if t == 0:
            out[0] = 63 - top[0] % 64
