extern "C" __global__ void fill(const int* x, int* out, int n) {
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
}
