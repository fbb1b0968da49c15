extern "C" __global__
void scale(const float* __restrict__ x, float* __restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    for (int q = i; q < n / 4; q += all) {
        float4 v = reinterpret_cast<const float4*>(x)[q];
        reinterpret_cast<float4*>(out)[q] = make_float4(1.5f * v.x, 1.5f * v.y, 1.5f * v.z, 1.5f * v.w);
    }
    int k = n / 4 * 4 + i;
    if (k < n) out[k] = 1.5f * x[k];
}
