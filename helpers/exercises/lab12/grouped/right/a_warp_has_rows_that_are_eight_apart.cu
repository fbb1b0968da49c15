extern "C" __global__ void grouped(const float* q, const float* k, const float* v, float* out,
                                   int queries, int n, int group, float scale) {
    __shared__ float keys[32][33], values[32][33];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, past = n - queries;
    float query[4], m[4], l[4], o[4], s[4];
    int place[4], position[4], last = 0;
    #pragma unroll
    for (int i = 0; i < 4; ++i) {
        int row = 32 * blockIdx.x + warp + 8 * i, one = row / group, head = blockIdx.y * group + row % group;
        position[i] = past + one;
        place[i] = one < queries ? ((blockIdx.z * queries + one) * group * gridDim.y + head) * 32 + lane : -1;
        query[i] = place[i] < 0 ? 0 : q[place[i]];
        m[i] = -1e30f;
        l[i] = o[i] = 0;
    }
    last = past + min(queries - 1, (32 * (int)blockIdx.x + 31) / group);
    for (int start = 0; start <= last; start += 32) {
        __syncthreads();
        for (int i = threadIdx.x; i < 1024; i += 256) {
            int key = min(start + i / 32, last), at = ((blockIdx.z * n + key) * gridDim.y + blockIdx.y) * 32 + i % 32;
            keys[i / 32][i % 32] = start + i / 32 <= last ? k[at] : 0;
            values[i / 32][i % 32] = start + i / 32 <= last ? v[at] : 0;
        }
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < 4; ++i) s[i] = 0;
        for (int d = 0; d < 32; ++d) {
            float key = keys[lane][d];
            #pragma unroll
            for (int i = 0; i < 4; ++i) s[i] += __shfl_sync(~0u, query[i], d) * key;
        }
        #pragma unroll
        for (int i = 0; i < 4; ++i) {
            bool seen = start + lane <= position[i];
            float top = seen ? fmaxf(m[i], scale * s[i]) : m[i];
            for (int d = 16; d; d /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, d));
            float old = __expf(m[i] - top);
            s[i] = seen ? __expf(scale * s[i] - top) : 0;
            l[i] = old * l[i] + s[i];
            o[i] *= old;
            m[i] = top;
        }
        for (int j = 0; j < 32; ++j) {
            float value = values[j][lane];
            #pragma unroll
            for (int i = 0; i < 4; ++i) o[i] += __shfl_sync(~0u, s[i], j) * value;
        }
    }
    #pragma unroll
    for (int i = 0; i < 4; ++i) {
        for (int d = 16; d; d /= 2) l[i] += __shfl_xor_sync(~0u, l[i], d);
        if (place[i] >= 0) out[place[i]] = o[i] / l[i];
    }
}
