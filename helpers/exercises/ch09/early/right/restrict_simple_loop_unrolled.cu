extern "C" __global__ void four(const float* __restrict__ x, const float* __restrict__ y,
                                float* __restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    float v[4] = {}, w[4] = {};
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
        int at = i + k * all;
        v[k] = at < n ? __ldg(x + at) : 0.f; w[k] = at < n ? __ldg(y + at) : 0.f;
    }
    #pragma unroll
    for (int k = 0; k < 4; ++k) { int at = i + k * all; if (at < n) out[at] = fmaf(3.f, v[k], w[k]); }
}
