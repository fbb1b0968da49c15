extern "C" __global__ void fill(const int* x, int* out, int n) {
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
}
