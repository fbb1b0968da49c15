#include <cooperative_groups.h>
__device__ float costly(float v) {
#pragma unroll 1
    for (int k = 0; k < 32; ++k) v = 0.9f * v + 0.25f;
    return v;
}
extern "C" __global__ void refine(const float* x, float* out, int n, float limit) {
    namespace cg=cooperative_groups;
    __shared__ int list[1024], count;
    int first = blockIdx.x*1024, end = min(n, first+1024);
    if(threadIdx.x==0) count=0;
    __syncthreads();
    for(int i=first+threadIdx.x;i<end;i+=blockDim.x){
        float v=x[i];
        if(v>limit){
            auto g=cg::coalesced_threads();
            int p;
            if(g.thread_rank()==0) p=atomicAdd(&count,g.size());
            p=g.shfl(p,0)+g.thread_rank();
            list[p]=i;
        }
        else out[i]=v;
    }
    cg::this_thread_block().sync();
    for(int k=threadIdx.x;k<count;k+=blockDim.x) out[list[k]]=costly(x[list[k]]);
}
