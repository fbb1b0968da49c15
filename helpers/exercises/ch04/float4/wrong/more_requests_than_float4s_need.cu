extern "C" __global__
void copy4(const float* in, float* out, int n) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        for (int i = 0; i < n / 4; ++i) ((float4*)out)[i] = ((const float4*)in)[i];
        for (int j = n / 4 * 4; j < n; ++j) out[j] = in[j];
    }
}
