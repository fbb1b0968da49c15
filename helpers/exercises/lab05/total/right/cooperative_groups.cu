#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
extern "C" __global__ void total(const float* x, float* out, int n) {
    namespace cg = cooperative_groups;
    auto b=cg::this_thread_block();
    auto w=cg::tiled_partition<32>(b);
    __shared__ float s[32];
    float v=0;
    for (int i=blockIdx.x*blockDim.x+threadIdx.x;i<n;i+=blockDim.x*gridDim.x) v+=x[i];
    v=cg::reduce(w,v,cg::plus<float>());
    if(w.thread_rank()==0) s[w.meta_group_rank()]=v;
    b.sync();
    if(w.meta_group_rank()==0){
        float u = w.thread_rank()<w.meta_group_size()? s[w.thread_rank()]:0.f;
        u=cg::reduce(w,u,cg::plus<float>());
        if(w.thread_rank()==0) atomicAdd(out,u);
    }
}
