extern "C" __global__ void total(const float* x, float* out, int n) {
    __shared__ float s[32];
    int t=threadIdx.x;
    float sum=0;
    int n4=n/4;
    const float4* x4=reinterpret_cast<const float4*>(x);
    for(int i=blockIdx.x*blockDim.x+t;i<n4;i+=gridDim.x*blockDim.x){
        float4 v=x4[i];
        sum+=v.x+v.y+v.z+v.w;
    }
    int r=n4*4+blockIdx.x*blockDim.x+t;
    if(r<n) sum+=x[r];
    for (int d=16; d>0; d>>=1) sum += __shfl_down_sync(0xffffffff,sum,d);
    if(t%32==0) s[t/32]=sum;
    __syncthreads();
    if(t==0){
        float f=0;
        for(int w=0;w<blockDim.x/32;w++) f+=s[w];
        atomicAdd(out,f);
    }
}
