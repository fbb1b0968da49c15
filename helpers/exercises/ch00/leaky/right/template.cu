template<typename T> __device__ __forceinline__ T f(T v, T s) { return v > T(0) ? v : s * v; }
extern "C" __global__ void leaky_relu(const float* __restrict__ x, float* __restrict__ out,
    float slope, int n) { unsigned i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i < n) out[i] = f(__ldg(x+i), slope); }
