extern "C" __global__ void tiles(const float* q, const float* k, const float* v, float* out,
                                 int rows, int n, float scale) {
    __shared__ float keys[32 * 33], values[32 * 32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, row = 32 * blockIdx.x + warp;
    float query[4], m[4], l[4], o[4], s[4];
    #pragma unroll
    for (int i = 0; i < 4; ++i) {  // queries warp, warp + 8, …
        query[i] = row + 8 * i < rows ? 1.44269504f * scale * q[(row + 8 * i) * 32 + lane] : 0;
        m[i] = -3e38f;
        l[i] = 0;
        o[i] = 0;
    }
    for (int start = 0; start < n; start += 32) {
        for (int j = warp; j < 32; j += 8) {
            keys[33 * j + lane] = start + j < n ? k[(start + j) * 32 + lane] : 0;
            values[32 * j + lane] = start + j < n ? v[(start + j) * 32 + lane] : 0;
        }
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < 4; ++i) s[i] = 0;
        for (int d = 0; d < 32; ++d) {
            float key = keys[33 * lane + d];
            #pragma unroll
            for (int i = 0; i < 4; ++i) s[i] += __shfl_sync(~0u, query[i], d) * key;
        }
        #pragma unroll
        for (int i = 0; i < 4; ++i) {
            float top = start + lane < n ? max(s[i], m[i]) : m[i];
            for (int d = 1; d < 32; d *= 2) top = max(top, __shfl_xor_sync(~0u, top, d));
            s[i] = start + lane < n ? exp2f(s[i] - top) : 0;
            l[i] = l[i] * exp2f(m[i] - top) + s[i];
            o[i] *= exp2f(m[i] - top);
            m[i] = top;
        }
        for (int j = 0; j < 32; ++j) {
            float value = values[32 * j + lane];
            #pragma unroll
            for (int i = 0; i < 4; ++i) o[i] += __shfl_sync(~0u, s[i], j) * value;
        }
        __syncthreads();
    }
    #pragma unroll
    for (int i = 0; i < 4; ++i) {
        for (int d = 16; d; d >>= 1) l[i] += __shfl_xor_sync(~0u, l[i], d);
        if (row + 8 * i < rows) out[(row + 8 * i) * 32 + lane] = o[i] / l[i];
    }
}
