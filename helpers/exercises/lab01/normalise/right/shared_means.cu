extern "C" __global__ void normalise(const float* x, const float* mean, const float* scale,
    float* out, int channels, int pixels, int n){__shared__ float m[64], s[64]; for (int k =
    threadIdx.x; k < channels; k += blockDim.x) { m[k] = mean[k]; s[k] = scale[k]; }
    __syncthreads(); int i = blockIdx.x * blockDim.x + threadIdx.x; int step = gridDim.x *
    blockDim.x; for (; i < n; i += step) { int c = i / pixels % channels; out[i] = (x[i] -
    m[c]) * s[c]; }}
