extern "C" __global__ void normalise(const float* x, const float* mean, const float* scale,
    float* out, int channels, int pixels, int n){int planes = n / pixels; for (int p = 0; p <
    planes; ++p) { float m = mean[p % channels], s = scale[p % channels]; for (int k =
    blockIdx.x * blockDim.x + threadIdx.x; k < pixels; k += gridDim.x * blockDim.x) out[p *
    pixels + k] = (x[p * pixels + k] - m) * s; }}
