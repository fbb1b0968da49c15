__device__ bool last_to_arrive(int* counter) {
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(counter, 1) == gridDim.x - 1;
    __syncthreads();
    __threadfence();
    return last;
}

__device__ float greatest(float v) {
    for (int d = 16; d > 0; d /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, d));
    return v;
}

__device__ float sum(float v) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
    return v;
}

extern "C" __global__ void decode(const float* q, const float* k_pages, const float* v_pages, const int* table,
                                  const int* lengths, float* states, int* counters, float* out,
                                  int most_pages, int group, float scale) {
    const float LOWEST = -3e38f;
    __shared__ float ms[4][4], ls[4][4], os[4][4][32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, sequence = blockIdx.z, kv = blockIdx.y, kvs = gridDim.y;
    int heads = (sequence * kvs + kv) * group, length = lengths[sequence], pages = (length + 31) / 32;
    float query[4], m[4], l[4], o[4];
    for (int h = 0; h < 4; ++h) {
        query[h] = h < group ? scale * q[(heads + h) * 32 + lane] : 0;
        m[h] = LOWEST;
        l[h] = o[h] = 0;
    }
    for (int number = 4 * blockIdx.x + warp; number < pages; number += 4 * gridDim.x) {
        int count = min(32, length - 32 * number), page = table[sequence * most_pages + number];
        const float *k = k_pages + (page * 32 * kvs + kv) * 32 + lane, *v = v_pages + (page * 32 * kvs + kv) * 32 + lane;
        float s[4] = {LOWEST, LOWEST, LOWEST, LOWEST};
        for (int j = 0; j < count; ++j) {
            float key = k[j * kvs * 32];
            for (int h = 0; h < 4; ++h) {
                float score = sum(query[h] * key);
                if (lane == j) s[h] = score;
            }
        }
        for (int h = 0; h < 4; ++h) {
            float top = fmaxf(m[h], greatest(s[h])), shrink = expf(m[h] - top);
            s[h] = lane < count ? expf(s[h] - top) : 0;
            l[h] = l[h] * shrink + s[h];
            o[h] *= shrink;
            m[h] = top;
        }
        for (int j = 0; j < count; ++j) {
            float value = v[j * kvs * 32];
            for (int h = 0; h < 4; ++h) o[h] += __shfl_sync(~0u, s[h], j) * value;
        }
    }
    for (int h = 0; h < 4; ++h) {
        os[warp][h][lane] = o[h];
        l[h] = sum(l[h]);
        if (lane == 0) ms[warp][h] = m[h], ls[warp][h] = l[h];
    }
    __syncthreads();
    float* state = states + (heads + warp) * gridDim.x * 34;
    if (warp < group) {
        float top = fmaxf(fmaxf(ms[0][warp], ms[1][warp]), fmaxf(ms[2][warp], ms[3][warp])), all = 0, gathered = 0;
        for (int w = 0; w < 4; ++w) {
            float weight = expf(ms[w][warp] - top);
            all += weight * ls[w][warp];
            gathered += weight * os[w][warp][lane];
        }
        state[blockIdx.x * 34] = top;
        state[blockIdx.x * 34 + 1] = all;
        state[blockIdx.x * 34 + 2 + lane] = gathered;
    }
    if (!last_to_arrive(&counters[sequence * kvs + kv]) || warp >= group) return;
    float top = LOWEST, all = 0, gathered = 0;
    for (int i = 0; i < gridDim.x; ++i) top = fmaxf(top, state[i * 34]);
    for (int i = 0; i < gridDim.x; ++i) {
        float weight = expf(state[i * 34] - top);
        all += weight * state[i * 34 + 1];
        gathered += weight * state[i * 34 + 2 + lane];
    }
    out[(heads + warp) * 32 + lane] = all > 0 ? gathered / all : 0;
}
