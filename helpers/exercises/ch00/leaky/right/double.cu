extern "C" __global__ void leaky_relu(const float* x, float* out, float slope, int n) {
    int i = blockIdx.x*blockDim.x+threadIdx.x;
    if (i < n) out[i] = x[i] > 0.0 ? x[i] : (double)slope * x[i]; }
