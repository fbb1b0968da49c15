extern "C" __global__
void input_gradient(const float* grad_output, const float* weight, float* out,
                    int n, int outputs, int taps, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int s = 0; s < taps; ++s) {
        int back = i - s;
        if (back >= 0 && back % stride == 0 && back / stride < outputs)
            sum += grad_output[back / stride] * weight[s];
    }
    out[i] = sum;
}
