extern "C" __global__ void total(const float* x, float* out, int n) {
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
}
