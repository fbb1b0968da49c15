extern "C" __global__
void input_gradient(const float* grad_output, const float* weight, float* out,
                    int n, int outputs, int taps, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outputs) return;
    for (int s = 0; s < taps; ++s) atomicAdd(&out[i * stride + s], grad_output[i] * weight[s]);
}
