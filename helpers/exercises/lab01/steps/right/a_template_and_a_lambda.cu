template <typename T> __device__ __forceinline__ T at(const T* p, int i) { return i < 0 ? T(0)
    : p[i]; }
extern "C" __global__ void steps(const float* x, float* out, int n){ auto load = [&](int k) {
    return at<float>(x, k); }; int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n)
    return; out[i] = load(i) - load(i - 1); }
