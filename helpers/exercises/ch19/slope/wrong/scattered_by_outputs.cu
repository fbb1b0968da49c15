extern "C" __global__
void slope_of_input(const float* slope, const float* weight, float* out, int n, int outputs, int taps, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outputs) return;
    for (int s = 0; s < taps; ++s) atomicAdd(&out[i * stride + s], slope[i] * weight[s]);
}
