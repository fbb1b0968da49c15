extern "C" __global__
void relu_bias_backward(const float* out, const float* grad_output, float* grad_input,
                        int images, int channels, int pixels) {
    float* bias = grad_input + images * channels * pixels;
    __shared__ float part[128];
    float sum = 0;
    for (int i = threadIdx.x; i < images * pixels; i += 128) {
        int at = (i / pixels * channels + blockIdx.x) * pixels + i % pixels;
        float mine = out[at] > 0 ? grad_output[at] : 0;
        grad_input[at] = mine;
        sum += mine;
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) bias[blockIdx.x] = part[0];
}
