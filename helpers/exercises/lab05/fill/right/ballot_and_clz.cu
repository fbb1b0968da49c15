extern "C" __global__ void fill(const int* x, int* out, int n) {
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
}
