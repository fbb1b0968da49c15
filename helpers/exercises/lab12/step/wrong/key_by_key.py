@cuda.jit
def step(q, k, v, out, scale):
    """Store the attention of one query in each head; a warp has a head, a block four warps."""
    lane, head = cuda.threadIdx.x % 32, cuda.grid(1) // 32
    lowest = np.float32(-np.inf)
    if head < q.shape[0]:
        query = scale * q[head, lane]
        m, l, o = lowest, np.float32(0), np.float32(0)
        for j in range(k.shape[1]):
            s = query * k[head, j, lane]
            for apart in (16, 8, 4, 2, 1):
                s += cuda.shfl_xor_sync(0xFFFFFFFF, s, apart)
            top = max(m, s)
            shrink, p = math.exp(m - top), math.exp(s - top)
            m, l, o = top, l * shrink + p, o * shrink + p * v[head, j, lane]
        out[head, lane] = o / l
