// C[M, N] = A[M, K] · B[N, K]ᵀ for Blackwell (sm_100a): halves in, floats out, 128 × 128 of C a block.
//
// One thread copies tiles by TMA into a ring of stages, another one has the tensor core multiply them, and the sums stay
// in tensor memory until all four warps read them, each its 32 lanes. M and N are multiples of 128, K of 64.
//
// With CuPy: cp.RawKernel(source, "matmul", options=("-arch=sm_100a",)), grid (N / 128, M / 128), 128 threads,
// STAGES * 32 KB of dynamic shared memory, and tensor maps of A and B with boxes of 64 × 128 swizzled by 128 bytes.

typedef unsigned u32;
typedef unsigned long long u64;
struct alignas(64) TensorMap { u64 opaque[16]; };

constexpr int STAGES = 4, TILE = 128, DEPTH = 64, STEP = 16;  // STEP: k of one tcgen05.mma
constexpr int TILE_BYTES = TILE * DEPTH * 2;

__device__ u32 at(const void* p) { return (u32)__cvta_generic_to_shared(p); }

__device__ void init(u64* barrier, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(at(barrier)), "r"(arrivals) : "memory");
}

__device__ void wait(u64* barrier, int parity) {
    asm volatile("{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; @!done bra again; }"
        :: "r"(at(barrier)), "r"(parity) : "memory");
}

__device__ void expect(u64* barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(at(barrier)), "r"(bytes) : "memory");
}

__device__ void copy(void* to, const TensorMap* map, u64* barrier, int x, int y) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];"
        :: "r"(at(to)), "l"(map), "r"(at(barrier)), "r"(x), "r"(y) : "memory");
}

// A tile whose rows are 128 bytes, swizzled: eight rows take 1024 bytes. Bit 46 and mode 2 (bits 61 to 63) are sm_100a's.
__device__ u64 tile(const void* p) {
    return (at(p) & 0x3ffff) >> 4 | 64ull << 32 | 1ull << 46 | 2ull << 61;
}

// D is f32 (1 from bit 4 on), A and B are f16 (0), both K-major; N / 8 from bit 17, M / 16 from bit 24 on.
constexpr u32 INSTRUCTION = 1 << 4 | TILE / 8 << 17 | TILE / 16 << 24;

__device__ void multiply(u32 d, u64 a, u64 b, bool adds) {
    asm volatile("{ .reg .pred adds; setp.ne.b32 adds, %4, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, adds; }"
        :: "r"(d), "l"(a), "l"(b), "r"(INSTRUCTION), "r"((u32)adds) : "memory");
}

// The barrier is told when all products that this thread has issued are done.
__device__ void commit(u64* barrier) {
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];"
        :: "r"(at(barrier)) : "memory");
}

extern "C" __global__ __launch_bounds__(128) void matmul(
    const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b, float* c, int n, int k) {
    extern __shared__ __align__(1024) unsigned char tiles[];
    __shared__ u64 full[STAGES], empty[STAGES], done;
    __shared__ u32 allocated;
    int warp = threadIdx.x / 32, row = blockIdx.y * TILE, column = blockIdx.x * TILE;

    if (warp == 0) {
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;"
            :: "r"(at(&allocated)), "r"(TILE) : "memory");
        asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
    }
    if (threadIdx.x == 32) {
        for (int s = 0; s < STAGES; ++s) { init(full + s, 1); init(empty + s, 1); }
        init(&done, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
    __syncthreads();
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    u32 sums = allocated;

    int steps = k / DEPTH;
    if (threadIdx.x == 0) {  // copies
        for (int i = 0; i < steps; ++i) {
            int s = i % STAGES;
            if (i >= STAGES) wait(empty + s, i / STAGES - 1 & 1);
            unsigned char* stage = tiles + s * 2 * TILE_BYTES;
            expect(full + s, 2 * TILE_BYTES);
            copy(stage, &map_a, full + s, i * DEPTH, row);
            copy(stage + TILE_BYTES, &map_b, full + s, i * DEPTH, column);
        }
    } else if (threadIdx.x == 32) {  // products
        for (int i = 0; i < steps; ++i) {
            int s = i % STAGES;
            wait(full + s, i / STAGES & 1);
            asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
            u64 a = tile(tiles + s * 2 * TILE_BYTES), b = tile(tiles + s * 2 * TILE_BYTES + TILE_BYTES);
            for (int j = 0; j < DEPTH / STEP; ++j)  // 32 bytes further on, 2 in a descriptor
                multiply(sums, a + 2 * j, b + 2 * j, i + j > 0);
            commit(empty + s);
        }
        commit(&done);
    }
    __syncwarp();

    wait(&done, 0);
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    float* out = c + (size_t)(row + threadIdx.x) * n + column;  // a thread has one lane, which is one row
    for (int j = 0; j < TILE; j += 8) {
        float v[8];
        asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
            : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3]), "=f"(v[4]), "=f"(v[5]), "=f"(v[6]), "=f"(v[7])
            : "r"(sums + j + (warp << 21)));
        asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
        for (int i = 0; i < 8; i += 4) *(float4*)(out + j + i) = make_float4(v[i], v[i + 1], v[i + 2], v[i + 3]);
    }
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
    __syncthreads();
    if (warp == 0)
        asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" :: "r"(sums), "r"(TILE));
}
