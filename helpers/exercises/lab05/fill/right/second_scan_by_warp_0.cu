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
}
