#include <cooperative_groups.h>
namespace cg=cooperative_groups;
extern "C" __global__ void histogram(const int* values, int* counts, int n, int bins) {
    auto b=cg::this_thread_block(); __shared__ unsigned s[64]; for(unsigned j=b.thread_rank();j<64;
    j+=b.size()) s[j]=0u; b.sync(); for(int i=cg::this_grid().thread_rank();i<n;
    i+=cg::this_grid().size()) atomicAdd(&s[values[i]],1u); b.sync();
    if(b.thread_rank()<bins) atomicAdd((unsigned*)counts+b.thread_rank(), s[b.thread_rank()]); }
