@cuda.jit
def step(q, k, v, out, scale):
    lane, head = cuda.laneid, cuda.blockIdx.x * 4 + cuda.threadIdx.x // 32
    if head >= q.shape[0]:
        return
    n, start = k.shape[1], 0
    query = q[head, lane]
    m, l, o = np.float32(-3e38), np.float32(0), np.float32(0)
    while start < n:
        mine = np.float32(-3e38)
        for j in range(32):
            if start + j < n:
                s = query * k[head, start + j, lane]
                for apart in (1, 2, 4, 8, 16):
                    s += cuda.shfl_xor_sync(0xFFFFFFFF, s, apart)
                mine = scale * s if j == lane else mine
        top = mine
        for apart in (1, 2, 4, 8, 16):
            top = max(top, cuda.shfl_xor_sync(0xFFFFFFFF, top, apart))
        top = max(top, m)
        p = math.exp(mine - top)
        total = p
        for apart in (1, 2, 4, 8, 16):
            total += cuda.shfl_xor_sync(0xFFFFFFFF, total, apart)
        old = math.exp(m - top)
        m, l, o = top, l * old + total, o * old
        for j in range(32):
            weight = cuda.shfl_sync(0xFFFFFFFF, p, j)
            if start + j < n:
                o += weight * v[head, start + j, lane]
        start += 32
    out[head, lane] = o / l
