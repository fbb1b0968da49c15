extern "C" __global__ void leaky_relu(const float* x, float* out, float slope, int n) {
    for (int i = blockIdx.x*blockDim.x+threadIdx.x; i < n; i += blockDim.x*gridDim.x) {
    float v = x[i]; out[i] = v * (v > 0 ? 1.f : slope); } }
