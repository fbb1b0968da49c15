extern "C" __global__ void total(const float* x, float* out, int n) {
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
}
