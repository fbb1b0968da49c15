@cuda.jit
def mode(values, parts, tickets, out):
    mine, last = cuda.shared.array(64, "int32"), cuda.shared.array(1, "int32")
    t = cuda.threadIdx.x
    copies = cuda.shared.array((4, 65), 'int32')
    for k in range(t, 260, 128):
        copies[k // 65, k % 65] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(copies, (t // 32, values[i]), 1)
    cuda.syncthreads()
    if t < 64:
        parts[cuda.blockIdx.x, t] = copies[0, t] + copies[1, t] + copies[2, t] + copies[3, t]
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
        if t == 0:
            best = 0
            for k in range(1, 64):
                if mine[k] > mine[best]:
                    best = k
            out[0] = best
