#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void leaky_relu(const float* x, float* out, float slope, int n) {
    auto g = cg::this_grid(); for (auto i = g.thread_rank(); i < n;
    i += g.size()) out[i] = x[i] > 0 ? x[i] : slope*x[i]; }
