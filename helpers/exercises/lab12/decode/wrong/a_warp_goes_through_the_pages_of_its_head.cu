__device__ bool last_to_arrive(int* counter) {
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(counter, 1) == gridDim.x - 1;
    __syncthreads();
    __threadfence();
    return last;
}

extern "C" __global__ void decode(const float* q, const float* k_pages, const float* v_pages, const int* table,
                                  const int* lengths, float* states, int* counters, float* out,
                                  int most_pages, int group, float scale) {
    int lane = threadIdx.x % 32, member = threadIdx.x / 32;
    int part = blockIdx.x, parts = gridDim.x, kv = blockIdx.y, kvs = gridDim.y, sequence = blockIdx.z;
    const float LOWEST = __int_as_float(0xff800000);
    int head = (sequence * kvs + kv) * group + member, length = lengths[sequence];
    float* state = states + head * parts * 34;
    if (member < group) {
        float query = scale * q[head * 32 + lane], m = LOWEST, l = 0, o = 0;
        for (int first = 32 * part; first < length; first += 32 * parts) {
            int count = min(32, length - first);
            int from = (table[sequence * most_pages + first / 32] * 32 * kvs + kv) * 32 + lane;
            float s = LOWEST;
            for (int j = 0; j < count; ++j) {
                float product = query * k_pages[from + j * kvs * 32];
                for (int d = 16; d > 0; d /= 2) product += __shfl_xor_sync(~0u, product, d);
                if (lane == j) s = product;
            }
            float top = fmaxf(m, s);
            for (int d = 16; d > 0; d /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, d));
            float shrink = expf(m - top), p = expf(s - top);
            m = top;
            l = l * shrink + p;
            o *= shrink;
            for (int j = 0; j < count; ++j) o += __shfl_sync(~0u, p, j) * v_pages[from + j * kvs * 32];
        }
        for (int d = 16; d > 0; d /= 2) l += __shfl_xor_sync(~0u, l, d);
        state[part * 34 + lane] = o;
        state[part * 34 + 32] = m;
        state[part * 34 + 33] = l;
    }
    if (!last_to_arrive(&counters[sequence * kvs + kv]) || member >= group) return;
    float m = LOWEST, l = 0, o = 0;
    for (int i = 0; i < parts; ++i) m = fmaxf(m, state[i * 34 + 32]);
    for (int i = 0; i < parts && length > 0; ++i) {
        float weight = expf(state[i * 34 + 32] - m);
        l += weight * state[i * 34 + 33];
        o += weight * state[i * 34 + lane];
    }
    out[head * 32 + lane] = length > 0 ? o / l : 0;
}
