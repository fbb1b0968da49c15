extern "C" __global__ void leaky_relu(const float* x, float* out, float slope, int n) {
    int i = blockIdx.x*blockDim.x+threadIdx.x; if (i >= n) return; out[i] = fmaxf(x[i],
    0.f) + slope * fminf(x[i], 0.f); }
