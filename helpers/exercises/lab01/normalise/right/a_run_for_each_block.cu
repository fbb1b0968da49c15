extern "C" __global__ void normalise(const float* x, const float* mean, const float* scale,
    float* out, int channels, int pixels, int n){int each = (n + gridDim.x - 1) / gridDim.x;
    int end = min(n, (int)(blockIdx.x + 1) * each); for (int i = blockIdx.x * each +
    threadIdx.x; i < end; i += blockDim.x) { int c = i / pixels % channels; out[i] = (x[i] -
    mean[c]) * scale[c]; }}
