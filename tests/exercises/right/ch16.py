"""Right answers to the exercises of chapter 16, by other routes than the solution."""

ROWS = [
    (
        "ch16.difference",
        "the neighbour read from global memory where the tile begins",
        (
            (
                "        out[i] = t > 0 ? s[t] - s[t - 1] : s[t];",
                "        out[i] = t ? s[t] - s[t - 1] : s[0];",
            ),
        ),
    ),
    (
        "ch16.difference",
        "cp.async by cooperative groups' pipeline",
        (
            (
                """    __pipeline_commit();
    __pipeline_wait_prior(0);""",
                """    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_all;" ::: "memory");""",
            ),
        ),
    ),
    (
        "ch16.pending",
        "counted one by one",
        """def pending(stages, tile, tiles):
    return sum(1 for later in range(tile + 1, tile + stages) if later < tiles)""",
    ),
    (
        "ch16.pending",
        "what is left, or a stage less",
        (
            (
                """    latest = min(tile + stages - 1, tiles - 1)
    return latest - tile""",
                "    return min(stages - 1, tiles - tile - 1)",
            ),
        ),
    ),
    (
        "ch16.row_sums",
        "the buffer by its last bit, a tree of xor",
        (
            (
                "__shfl_down_sync",
                "__shfl_xor_sync",
            ),
            (
                "(i + 1) % 2",
                "(i + 1) & 1",
            ),
            (
                "s[i % 2]",
                "s[i & 1]",
            ),
        ),
    ),
    (
        "ch16.row_sums",
        "the last round apart",
        (
            (
                """        if (i + 1 < tiles)
            __pipeline_memcpy_async(&s[(i + 1) % 2][t], &row[32 * (i + 1) + t], 16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
""",
                """        if (i + 1 < tiles) {
            __pipeline_memcpy_async(&s[(i + 1) % 2][t], &row[32 * (i + 1) + t], 16);
            __pipeline_commit();
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
        }
""",
            ),
        ),
    ),
    (
        "ch16.announced",
        "thread 0 issues the copy",
        (
            (
                "    if (t == 32) {",
                "    if (t == 0) {",
            ),
        ),
    ),
    (
        "ch16.announced",
        "a fence, then the expectation after the copy",
        (
            (
                """        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &landed, bytes);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, x + first, bytes, &landed);""",
                """        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, x + first, bytes, &landed);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &landed, bytes);""",
            ),
        ),
    ),
    (
        "ch16.parities",
        "one bit and its opposite",
        (
            (
                """    round_ = tile // stages
    full = round_ % 2
    empty = (round_ + 1) % 2
    return full, empty""",
                """    full = tile // stages & 1
    return full, 1 - full""",
            ),
        ),
    ),
    (
        "ch16.parities",
        "tile by tile",
        """def parities(tile, stages):
    full, empty = 0, 1
    for at in range(1, tile + 1):
        if at % stages == 0:
            full, empty = empty, full
    return full, empty""",
    ),
    (
        "ch16.row_sums",
        "three buffers and empty groups",
        """#include <cuda_pipeline_primitives.h>
extern "C" __global__ void row_sums(const float4* __restrict__ x, float* out, int tiles) {
    __shared__ float4 s[3][32];
    int t = threadIdx.x;
    const float4* row = x + (size_t)blockIdx.x * tiles * 32 + t;
    float sum = 0;
    for (int i = 0; i < 2; ++i) {
        if (i < tiles) __pipeline_memcpy_async(&s[i][t], row + 32 * i, sizeof(float4));
        __pipeline_commit();
    }
    for (int i = 0; i < tiles; ++i) {
        if (i + 2 < tiles) __pipeline_memcpy_async(&s[(i + 2) % 3][t], row + 32 * (i + 2), sizeof(float4));
        __pipeline_commit();
        __pipeline_wait_prior(2);
        float4 v = s[i % 3][t];
        sum += (v.x + v.y) + (v.z + v.w);
    }
    for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
    if (!t) out[blockIdx.x] = sum;
}""",
    ),
]
