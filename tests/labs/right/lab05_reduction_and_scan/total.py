"""Right answers to lab05.total by routes other than the solution's."""

KEY = "lab05.total"

ROWS = [
    # which way, the solution cell
    (
        "a second shuffle of the first warp",
        '''TOTAL = r"""extern "C" __global__ void total(const float* x, float* out, int n) {
    __shared__ float s[32];
    int t=threadIdx.x;
    float sum=0;
    for (int i = blockIdx.x*blockDim.x+t; i<n; i+=gridDim.x*blockDim.x) sum += x[i];
    for (int d=16; d>0; d>>=1) sum += __shfl_down_sync(0xffffffff,sum,d);
    if((t&31)==0) s[t>>5]=sum;
    __syncthreads();
    if (t<32){
        sum = t < blockDim.x/32 ? s[t] : 0.f;
        for(int d=16;d>0;d>>=1) sum+=__shfl_down_sync(~0u,sum,d);
        if(t==0) atomicAdd(out,sum);
    }
}"""
total = cp.RawKernel(TOTAL, "total")
''',
    ),
    (
        "cooperative groups",
        '''TOTAL = r"""#include <cooperative_groups.h>
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
}"""
total = cp.RawKernel(TOTAL, "total")
''',
    ),
    (
        "float4 loads and tail",
        '''TOTAL = r"""extern "C" __global__ void total(const float* x, float* out, int n) {
    __shared__ float s[32];
    int t=threadIdx.x;
    float sum=0;
    int n4=n/4;
    const float4* x4=reinterpret_cast<const float4*>(x);
    for(int i=blockIdx.x*blockDim.x+t;i<n4;i+=gridDim.x*blockDim.x){
        float4 v=x4[i];
        sum+=v.x+v.y+v.z+v.w;
    }
    int r=n4*4+blockIdx.x*blockDim.x+t;
    if(r<n) sum+=x[r];
    for (int d=16; d>0; d>>=1) sum += __shfl_down_sync(0xffffffff,sum,d);
    if(t%32==0) s[t/32]=sum;
    __syncthreads();
    if(t==0){
        float f=0;
        for(int w=0;w<blockDim.x/32;w++) f+=s[w];
        atomicAdd(out,f);
    }
}"""
total = cp.RawKernel(TOTAL, "total")
''',
    ),
    (
        "a piece for each block",
        '''TOTAL = r"""extern "C" __global__ void total(const float* x, float* out, int n) {
    __shared__ float s[32];
    int t=threadIdx.x;
    float sum=0;
    int each=(n+gridDim.x-1)/gridDim.x;
    int lo=blockIdx.x*each, hi=min(n,lo+each);
    for(int i=lo+t;i<hi;i+=blockDim.x) sum+=x[i];
    for (int d=16; d>0; d>>=1) sum += __shfl_down_sync(0xffffffff,sum,d);
    if(t%32==0) s[t/32]=sum;
    __syncthreads();
    if(t==0){
        float f=0;
        for(int w=0;w<blockDim.x/32;w++) f+=s[w];
        atomicAdd(out,f);
    }
}"""
total = cp.RawKernel(TOTAL, "total")
''',
    ),
    (
        "one shared atomic a warp",
        '''TOTAL = r"""extern "C" __global__ void total(const float* x, float* out, int n) {
    __shared__ float s;
    if(threadIdx.x==0) s=0;
    __syncthreads();
    int t=threadIdx.x;
    float sum=0;
    for (int i = blockIdx.x*blockDim.x+t; i<n; i+=gridDim.x*blockDim.x) sum += x[i];
    for (int d=16; d>0; d>>=1) sum += __shfl_down_sync(0xffffffff,sum,d);
    if(t%32==0) atomicAdd(&s,sum);
    __syncthreads();
    if(t==0) atomicAdd(out,s);
}"""
total = cp.RawKernel(TOTAL, "total")
''',
    ),
    (
        "s set to 0 first",
        '''TOTAL = r"""extern "C" __global__ void total(const float* x, float* out, int n) {
    __shared__ float s[32];
    int t=threadIdx.x;
    if(t<32) s[t]=0;
    __syncthreads();
    float sum=0;
    for (int i = blockIdx.x*blockDim.x+t; i<n; i+=gridDim.x*blockDim.x) sum += x[i];
    for (int d=16; d>0; d>>=1) sum += __shfl_down_sync(0xffffffff,sum,d);
    if((t&31)==0) s[t/32]=sum;
    __syncthreads();
    if(t<32){
        sum=s[t];
        for (int d=16; d>0; d>>=1) sum += __shfl_down_sync(0xffffffff,sum,d);
        if(!t) atomicAdd(out,sum);
    }
}"""
total = cp.RawKernel(TOTAL, "total")
''',
    ),
    (
        "a function of a module, lane 31 stores",
        '''TOTAL = r"""__device__ float warp_sum(float v){
    for(int d=1;d<32;d<<=1) v+=__shfl_xor_sync(0xffffffff,v,d);
    return v;
}
__global__ void helper(float*x){
    x[0]=1;
}
extern "C" __global__ void total(const float* x, float* out, int n) {
    __shared__ float s[32];
    int t=threadIdx.x;
    float sum=0;
    for (int i = blockIdx.x*blockDim.x+t; i<n; i+=gridDim.x*blockDim.x) sum += x[i];
    sum=warp_sum(sum);
    if(t%32==31) s[t/32]=sum;
    __syncthreads();
    if(t==blockDim.x-1){
        float f=0;
        for(int w=0;w<blockDim.x/32;++w) f+=s[w];
        atomicAdd(out,f);
    }
}"""
total = cp.RawModule(code=TOTAL).get_function("total")
''',
    ),
]
