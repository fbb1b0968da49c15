__device__ float costly(float v) {
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
}
