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
    __shared__ float keys[32][33], values[32][33];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, kvs = gridDim.y, length = lengths[blockIdx.z];
    int head = (blockIdx.z * kvs + blockIdx.y) * group + min(warp, group - 1);
    int pages = (length + 31) / 32, each = (pages + gridDim.x - 1) / gridDim.x;
    int first = blockIdx.x * each, past = min(pages, first + each);
    float query = q[head * 32 + lane] * scale, m = -1e30f, l = 0, o = 0;
    for (int number = first; number < past; ++number) {
        int page = table[blockIdx.z * most_pages + number], left = length - 32 * number;
        for (int e = threadIdx.x; e < 1024; e += 128) {
            int from = ((page * 32 + e / 32) * kvs + blockIdx.y) * 32 + e % 32;
            keys[e / 32][e % 32] = e / 32 < left ? k_pages[from] : 0;
            values[e / 32][e % 32] = e / 32 < left ? v_pages[from] : 0;
        }
        __syncthreads();
        float s = 0;
        for (int d = 31; d >= 0; --d) s += __shfl_sync(~0u, query, d) * keys[lane][d];
        s = lane < left ? s : -1e30f;
        float largest = s;
        for (int d = 1; d < 32; d *= 2) largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, d));
        float top = fmaxf(m, largest), shrink = expf(m - top), p = lane < left ? expf(s - top) : 0;
        m = top;
        l = l * shrink + p;
        float gathered = 0;
        for (int j = 0; j < 32; ++j) gathered += __shfl_sync(~0u, p, j) * values[j][lane];
        o = o * shrink + gathered;
        __syncthreads();
    }
    for (int d = 1; d < 32; d *= 2) l += __shfl_xor_sync(~0u, l, d);
    float* mine = states + head * gridDim.x * 34;
    if (warp < group) {
        mine[blockIdx.x * 34 + lane] = l > 0 ? o / l : 0;
        if (lane == 0) mine[blockIdx.x * 34 + 32] = l > 0 ? m + logf(l) : -1e30f;
    }
    if (!last_to_arrive(counters + blockIdx.z * kvs + blockIdx.y) || warp >= group) return;
    m = mine[32], l = 1, o = mine[lane];
    for (int part = 1; part < gridDim.x; ++part) {
        float other = mine[part * 34 + 32], top = fmaxf(m, other), a = expf(m - top), b = expf(other - top);
        l = l * a + b;
        o = o * a + b * mine[part * 34 + lane];
        m = top;
    }
    out[head * 32 + lane] = o / l;
}
