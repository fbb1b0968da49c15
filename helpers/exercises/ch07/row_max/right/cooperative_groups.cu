#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void row_max(const float* x, float* out, int n) {
    __shared__ float s[4];
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    float best = -__int_as_float(0x7f800000);
    for (int i = block.thread_rank(); i < n; i += block.size()) best = fmaxf(best, x[blockIdx.x * n + i]);
    best = cg::reduce(warp, best, cg::greater<float>());
    if (warp.thread_rank() == 0) s[warp.meta_group_rank()] = best;
    block.sync();
    if (block.thread_rank() == 0) {
        for (int i = 1; i < 4; ++i) best = fmaxf(best, s[i]);
        out[blockIdx.x] = best;
    }
}
