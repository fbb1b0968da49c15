"""Right answers to lab06.refine by routes other than the solution's."""

KEY = "lab06.refine"

ROWS = [
    # which way, the solution cell
    (
        "stores values and indices in list",
        '''REFINE = r"""__device__ float costly(float v) {
#pragma unroll 1
    for (int k = 0; k < 32; ++k) v = 0.9f * v + 0.25f;
    return v;
}
extern "C" __global__ void refine(const float* x, float* out, int n, float limit) {
    __shared__ int list[1024];
    __shared__ float vals[1024];
    __shared__ int count;
    int first=blockIdx.x*1024;
    if(!threadIdx.x) count=0;
    __syncthreads();
    for(int j=threadIdx.x;j<1024;j+=128){
        int i=first+j;
        if(i<n){
            float v=x[i];
            if(v>limit){
                int p=atomicAdd(&count,1);
                list[p]=i;
                vals[p]=v;
            }
            else out[i]=v;
        }
    }
    __syncthreads();
    for(int k=threadIdx.x;k<count;k+=128) out[list[k]]=costly(vals[k]);
}"""
refine = cp.RawKernel(REFINE, "refine")
''',
    ),
    (
        "warp aggregated ballot",
        '''REFINE = r"""__device__ float costly(float v) {
#pragma unroll 1
    for (int k = 0; k < 32; ++k) v = 0.9f * v + 0.25f;
    return v;
}
extern "C" __global__ void refine(const float* x, float* out, int n, float limit) {
    __shared__ int list[1024], count;
    int first = blockIdx.x*1024, end = min(n, first+1024);
    if(threadIdx.x==0) count=0;
    __syncthreads();
    int lane=threadIdx.x&31;
    for(int b=first;b<first+1024;b+=128){
        int i=b+threadIdx.x;
        float v = i<n ? x[i] : 0.f;
        bool c = i<n && v>limit;
        unsigned m=__ballot_sync(~0u,c);
        int at=0;
        if(lane==0 && m) at=atomicAdd(&count,__popc(m));
        at=__shfl_sync(~0u,at,0);
        if(c) list[at+__popc(m&((1u<<lane)-1))]=i;
        else if(i<n) out[i]=v;
    }
    __syncthreads();
    for(int k=threadIdx.x;k<count;k+=blockDim.x) out[list[k]]=costly(x[list[k]]);
}"""
refine = cp.RawKernel(REFINE, "refine")
''',
    ),
    (
        "per-warp lists, no block barrier",
        '''REFINE = r"""__device__ float costly(float v) {
#pragma unroll 1
    for (int k = 0; k < 32; ++k) v = 0.9f * v + 0.25f;
    return v;
}
extern "C" __global__ void refine(const float* x, float* out, int n, float limit) {
    __shared__ int lists[4][256];
    int w=threadIdx.x/32, lane=threadIdx.x%32;
    int cnt=0;
    int first=blockIdx.x*1024;
    for(int j=0;j<8;++j){
        int i=first+j*128+threadIdx.x;
        float v= i<n? x[i] : 0.f;
        bool c = i<n && v>limit;
        unsigned m=__ballot_sync(~0u,c);
        if(c) lists[w][cnt+__popc(m&((1u<<lane)-1))]=i;
        else if(i<n) out[i]=v;
        cnt+=__popc(m);
    }
    __syncwarp();
    for(int k=lane;k<cnt;k+=32) out[lists[w][k]]=costly(x[lists[w][k]]);
}"""
refine = cp.RawKernel(REFINE, "refine")
''',
    ),
    (
        "prefix sum by block, deterministic order",
        '''REFINE = r"""__device__ float costly(float v) {
#pragma unroll 1
    for (int k = 0; k < 32; ++k) v = 0.9f * v + 0.25f;
    return v;
}
extern "C" __global__ void refine(const float* x, float* out, int n, float limit) {
    __shared__ int list[1024];
    __shared__ int wc[8][4];
    int w=threadIdx.x/32, lane=threadIdx.x%32, first=blockIdx.x*1024;
    unsigned ms[8];
#pragma unroll
    for(int j=0;j<8;++j){
        int i=first+j*128+threadIdx.x;
        float v= i<n? x[i] : 0.f;
        bool c=i<n&&v>limit;
        ms[j]=__ballot_sync(~0u,c);
        if(lane==0) wc[j][w]=__popc(ms[j]);
        if(i<n && !c) out[i]=v;
    }
    __syncthreads();
    int base=0;
#pragma unroll
    for(int j=0;j<8;++j) for(int q=0;q<4;++q){
        if(q==w && ((ms[j]>>lane)&1)) list[base+__popc(ms[j]&((1u<<lane)-1))]=first+j*128+threadIdx.x;
        base+=wc[j][q];
    }
    __syncthreads();
    for(int k=threadIdx.x;k<base;k+=128) out[list[k]]=costly(x[list[k]]);
}"""
refine = cp.RawKernel(REFINE, "refine")
''',
    ),
    (
        "all copied first, then list fixed up",
        '''REFINE = r"""__device__ float costly(float v) {
#pragma unroll 1
    for (int k = 0; k < 32; ++k) v = 0.9f * v + 0.25f;
    return v;
}
extern "C" __global__ void refine(const float* x, float* out, int n, float limit) {
    __shared__ int list[1024], count;
    int first = blockIdx.x*1024, end = min(n, first+1024);
    if(threadIdx.x==0) count=0;
    __syncthreads();
    for(int i=first+threadIdx.x;i<end;i+=blockDim.x){
        float v=x[i];
        out[i]=v;
        if(v>limit) list[atomicAdd(&count,1)]=i;
    }
    __syncthreads();
    for(int k=threadIdx.x;k<count;k+=blockDim.x) out[list[k]]=costly(x[list[k]]);
}"""
refine = cp.RawKernel(REFINE, "refine")
''',
    ),
    (
        "cooperative groups atomic aggregated",
        '''REFINE = r"""#include <cooperative_groups.h>
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
}"""
refine = cp.RawKernel(REFINE, "refine")
''',
    ),
]
