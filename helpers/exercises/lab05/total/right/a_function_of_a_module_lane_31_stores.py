TOTAL = r"""__device__ float warp_sum(float v){
    for(int d=1;d<32;d<<=1) v+=__shfl_xor_sync(0xffffffff,v,d);
    return v;
}
__global__ void helper(float*x){
    x[0]=1;
}
extern "C" __global__ void total(const float* x, float* out, int n) {
    __shared__ float s[32];
    int t=threadIdx.x;
    float sum=0;
    for (int i = blockIdx.x*blockDim.x+t; i<n; i+=gridDim.x*blockDim.x) sum += x[i];
    sum=warp_sum(sum);
    if(t%32==31) s[t/32]=sum;
    __syncthreads();
    if(t==blockDim.x-1){
        float f=0;
        for(int w=0;w<blockDim.x/32;++w) f+=s[w];
        atomicAdd(out,f);
    }
}"""
total = cp.RawModule(code=TOTAL).get_function("total")
