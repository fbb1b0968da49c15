extern "C" __global__ void four(const float* x, const float* y, float* out, int n) {
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 3 < n) {
        float4 a = *reinterpret_cast<const float4*>(x + i), b = *reinterpret_cast<const float4*>(y + i);
        *reinterpret_cast<float4*>(out + i) = make_float4(3 * a.x + b.x, 3 * a.y + b.y, 3 * a.z + b.z, 3 * a.w + b.w);
    } else
        for (int k = i; k < n; ++k) out[k] = 3 * x[k] + y[k];
}
