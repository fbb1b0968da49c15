@cuda.jit
def window(q, k, v, out, scale, width):
    keys, values = cuda.shared.array((32, 33), "float32"), cuda.shared.array((32, 32), "float32")
    lane, warp, head = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.y
    row, n = 16 * cuda.blockIdx.x + warp, q.shape[1]
    end = min(n, 16 * cuda.blockIdx.x + 16)
    query = q[head, min(row, n - 1), lane]
    m, l, o = np.float32(-1e30), np.float32(0), np.float32(0)
    tile = (end - 1) // 32
    while tile >= 0 and 32 * tile + 31 >= 16 * cuda.blockIdx.x - width + 1:
        key = 32 * tile + warp
        for j in range(2):
            keys[warp + 16 * j, lane] = k[head, key + 16 * j, lane] if key + 16 * j < end else 0
            values[warp + 16 * j, lane] = v[head, key + 16 * j, lane] if key + 16 * j < end else 0
        cuda.syncthreads()
        s = np.float32(0)
        for d in range(32):
            s += cuda.shfl_sync(0xFFFFFFFF, query, d) * keys[lane, d]
        key = 32 * tile + lane
        seen = row - width < key and key <= row
        s *= scale
        top = max(m, s) if seen else m
        for apart in (1, 2, 4, 8, 16):
            top = max(top, cuda.shfl_xor_sync(0xFFFFFFFF, top, apart))
        p = math.exp(s - top) if seen else np.float32(0)
        old = math.exp(m - top)
        m, l, o = top, l * old + p, o * old
        for j in range(32):
            o += cuda.shfl_sync(0xFFFFFFFF, p, j) * values[j, lane]
        tile -= 1
        cuda.syncthreads()
    for apart in (1, 2, 4, 8, 16):
        l += cuda.shfl_xor_sync(0xFFFFFFFF, l, apart)
    if row < n:
        out[head, row, lane] = o / l
