extern "C" __global__ void leaky_relu(const float* x, float* out, float slope, int n) {
    const size_t i = (size_t)blockIdx.x*blockDim.x+threadIdx.x; if (i < (size_t)n) {
    bool p = x[i] >= 0.0f; out[i] = p*x[i] + (!p)*slope*x[i]; } }
