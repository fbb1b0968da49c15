extern "C" __global__
void relu_bias_backward(const float* out, const float* grad_output, float* grad_input,
                        int images, int channels, int pixels) {
    float* bias = grad_input + images * channels * pixels;
    __shared__ float part[4];
    float sum = 0;
    for (int i = threadIdx.x; i < images * pixels; i += 128) {
        int at = (i / pixels * channels + blockIdx.x) * pixels + i % pixels;
        float mine = out[at] > 0 ? grad_output[at] : 0;
        grad_input[at] = mine;
        sum += mine;
    }
    for (int half = 16; half > 0; half /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, half);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) bias[blockIdx.x] = part[0] + part[1] + part[2] + part[3];
}
