#include <cuda/ptx>
#include <cuda_fp16.h>
namespace ptx = cuda::ptx;
typedef unsigned long long mbarrier;
struct alignas(64) TensorMap { unsigned long long opaque[16]; };

__device__ void wait(mbarrier* bar, int parity) {
    while (!ptx::mbarrier_try_wait_parity(bar, parity)) { }
}

// address / 16; 1,024 bytes / 16 from eight rows to the next eight; 1: swizzled by 128 bytes
__device__ unsigned long long descriptor(const void* tile) {
    unsigned long long address = __cvta_generic_to_shared(tile);
    return address >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

__device__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int PENDING> __device__ void wgmma_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(PENDING) : "memory");
}

// d (64 x 64) += a (64 x 16) times b (64 x 16) transposed
__device__ void wgmma(float (&d)[32], unsigned long long a, unsigned long long b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
        "%32, %33, 1, 1, 1, 0, 0;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
          "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
          "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
        : "l"(a), "l"(b));
}

// the sums of a warpgroup's thread t: 64 x 64 results from (row, column) on
__device__ void store(float* out, int n, int row, int column, int t, const float (&sum)[32]) {
    for (int i = 0; i < 32; ++i) {
        int down = t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8, right = t % 4 * 2 + i / 4 * 8 + i % 2;
        out[(size_t)(row + down) * n + column + right] = sum[i];
    }
}

extern "C" __global__ void linear_int8(
        const half* x, const signed char* w, const float* scale, float* out, int n, int depth) {
    __shared__ alignas(1024) half tile_x[64][64], tile_w[64][64];
    int t = threadIdx.x, row = blockIdx.y * 64, column = blockIdx.x * 64;
    float sum[32] = {};
    for (int start = 0; start < depth; start += 64) {
        for (int i = t; i < 4096; i += 128) {
            int r = i / 64, k = i % 64, place = (k / 8 ^ r % 8) * 8 + k % 8;
            tile_x[r][place] = x[(row + r) * depth + start + k];
            tile_w[r][place] = __float2half(w[(column + r) * depth + start + k]);
        }
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        wgmma_fence();
        for (int k = 0; k < 64; k += 16)
            wgmma(sum, descriptor(&tile_x[0][k]), descriptor(&tile_w[0][k]));
        wgmma_commit();
        wgmma_wait<0>();
        __syncthreads();
    }
    for (int i = 0; i < 32; ++i)
        sum[i] *= scale[column + t % 4 * 2 + i / 4 * 8 + i % 2];
    store(out, n, row, column, t, sum);
}
