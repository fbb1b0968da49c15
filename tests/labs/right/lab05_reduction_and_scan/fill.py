"""Right answers to lab05.fill by routes other than the solution's."""

KEY = "lab05.fill"

ROWS = [
    # which way, the solution cell
    (
        "ballot and clz",
        '''FILL = r"""extern "C" __global__ void fill(const int* x, int* out, int n) {
    __shared__ int s[8];
    int t=threadIdx.x, lane=t%32, warp=t/32;
    int v = t<n ? x[blockIdx.x*n+t] : -1;
    unsigned b=__ballot_sync(~0u,v>=0)&(0xffffffffu>>(31-lane));
    int src= b? 31-__clz(b):0;
    int g=__shfl_sync(~0u,v,src);
    v = b? g : -1;
    if(lane==31) s[warp]=v;
    __syncthreads();
    for(int w=warp-1;w>=0&&v<0;--w) v=s[w];
    if(t<n) out[blockIdx.x*n+t]=v;
}"""
fill = cp.RawKernel(FILL, "fill")
''',
    ),
    (
        "index max scan",
        '''FILL = r"""extern "C" __global__ void fill(const int* x, int* out, int n) {
    __shared__ int s[8];
    int t=threadIdx.x, lane=t%32, warp=t/32;
    int a = t<n ? x[blockIdx.x*n+t] : -1;
    int idx = a>=0 ? t : -1;
    for(int d=1;d<32;d<<=1){
        int o=__shfl_up_sync(~0u,idx,d);
        if(lane>=d) idx=max(idx,o);
    }
    int v=__shfl_sync(~0u,a,idx<0?lane:idx&31);
    if(idx<0) v=-1;
    if(lane==31) s[warp]=v;
    __syncthreads();
    for(int w=warp-1;w>=0&&v<0;--w) v=s[w];
    if(t<n) out[blockIdx.x*n+t]=v;
}"""
fill = cp.RawKernel(FILL, "fill")
''',
    ),
    (
        "second scan by warp 0",
        '''FILL = r"""extern "C" __global__ void fill(const int* x, int* out, int n) {
    __shared__ int s[8];
    int t=threadIdx.x, lane=t%32, warp=t/32;
    int v = t<n ? x[blockIdx.x*n+t] : -1;
    for(int d=1;d<32;d*=2){
        int left=__shfl_up_sync(0xffffffff,v,d);
        if(lane>=d && v<0) v=left;
    }
    if(lane==31) s[warp]=v;
    __syncthreads();
    if(warp==0){
        int u = lane<8 ? s[lane] : -1;
        for(int d=1;d<8;d*=2){
            int l=__shfl_up_sync(~0u,u,d);
            if(lane>=d && u<0) u=l;
        }
        if(lane<8) s[lane]=u;
    }
    __syncthreads();
    if(v<0 && warp>0) v=s[warp-1];
    if(t<n) out[blockIdx.x*n+t]=v;
}"""
fill = cp.RawKernel(FILL, "fill")
''',
    ),
    (
        "every warp scans the eight",
        '''FILL = r"""extern "C" __global__ void fill(const int* x, int* out, int n) {
    __shared__ int s[8];
    int t=threadIdx.x, lane=t%32, warp=t/32;
    int v = t<n ? x[blockIdx.x*n+t] : -1;
    for(int d=1;d<32;d*=2){
        int left=__shfl_up_sync(0xffffffff,v,d);
        if(lane>=d && v<0) v=left;
    }
    if(lane==31) s[warp]=v;
    __syncthreads();
    int u = lane<warp ? s[lane] : -1;
    unsigned m=__ballot_sync(~0u,u>=0);
    if(m){
        int g=__shfl_sync(~0u,u,31-__clz(m));
        if(v<0) v=g;
    }
    if(t<n) out[blockIdx.x*n+t]=v;
}"""
fill = cp.RawKernel(FILL, "fill")
''',
    ),
    (
        "the greatest of index and value, packed",
        '''FILL = r"""extern "C" __global__ void fill(const int* x, int* out, int n) {
    __shared__ int s[8];
    int t=threadIdx.x, lane=t%32, warp=t/32;
    int v = t<n ? x[blockIdx.x*n+t] : -1;
    long long p = v>=0 ? ((long long)(t+1)<<32)|(unsigned)v : 0;
    for(int d=1;d<32;d*=2){
        long long o=__shfl_up_sync(~0u,p,d);
        if(lane>=d && o>p) p=o;
    }
    __shared__ long long q[8];
    if(lane==31) q[warp]=p;
    __syncthreads();
    for(int w=0;w<warp;w++) p = q[w]>p ? q[w] : p;
    v = p ? (int)(p&0xffffffff) : -1;
    if(t<n) out[blockIdx.x*n+t]=v;
}"""
fill = cp.RawKernel(FILL, "fill")
''',
    ),
    (
        "template operator struct",
        '''FILL = r"""struct Right{
    __device__ int operator()(int a,int b) const {
        return b>=0? b : a;
    }
};
template<class F> __device__ int scan(int v, F f){
    for(int d=1;d<32;d<<=1){
        int l=__shfl_up_sync(0xffffffffu,v,d);
        if((threadIdx.x&31)>=d) v=f(l,v);
    }
    return v;
}
extern "C" __global__ void fill(const int* x, int* out, int n) {
    __shared__ int s[8];
    const int* row=x+blockIdx.x*n;
    int* o=out+blockIdx.x*n;
    unsigned t=threadIdx.x;
    int v=-1;
    if(t<n) v=__ldg(row+t);
    Right op;
    v=scan(v,op);
    if((t&31)==31) s[t>>5]=v;
    __syncthreads();
    int c=-1;
#pragma unroll
    for(int w=0;w<8;++w) if(w<(t>>5)) c=op(c,s[w]);
    v=op(c,v);
    if(t<n) o[t]=v;
}"""
fill = cp.RawKernel(FILL, "fill")
''',
    ),
]
