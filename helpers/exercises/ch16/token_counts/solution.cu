#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(4) token_counts(const int* tokens, int* counts, int n) {
    __shared__ int mine[1024];
    cg::cluster_group cluster = cg::this_cluster();
    int t = threadIdx.x, rank = cluster.block_rank();
    for (int i = t; i < 1024; i += 256)
        mine[i] = 0;
    cluster.sync();
    for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256)
        atomicAdd(&cluster.map_shared_rank(mine, tokens[i] / 1024)[tokens[i] % 1024], 1);
    cluster.sync();
    for (int i = t; i < 1024; i += 256)
        atomicAdd(&counts[rank * 1024 + i], mine[i]);
}
