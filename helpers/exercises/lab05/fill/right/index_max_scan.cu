extern "C" __global__ void fill(const int* x, int* out, int n) {
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
}
