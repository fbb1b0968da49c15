__device__ float costly(float v) {
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
}
