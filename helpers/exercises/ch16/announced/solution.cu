#include <cuda/ptx>
namespace ptx = cuda::ptx;
extern "C" __global__ void announced(const float* x, float* out, int n) {
    __shared__ alignas(16) float s[256];
    __shared__ unsigned long long landed;
    int t = threadIdx.x, first = blockIdx.x * 256;
    int bytes = min(256, n - first) * 4;
    if (t == 32) {
        ptx::mbarrier_init(&landed, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &landed, bytes);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, x + first, bytes, &landed);
    }
    __syncthreads();
    while (!ptx::mbarrier_try_wait_parity(&landed, 0)) { }
    for (int i = t; i < bytes / 4; i += 64)
        out[first + i] = s[bytes / 4 - 1 - i];
}
