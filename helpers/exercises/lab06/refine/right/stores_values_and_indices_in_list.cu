__device__ float costly(float v) {
#pragma unroll 1
    for (int k = 0; k < 32; ++k) v = 0.9f * v + 0.25f;
    return v;
}
extern "C" __global__ void refine(const float* x, float* out, int n, float limit) {
    __shared__ int list[1024];
    __shared__ float vals[1024];
    __shared__ int count;
    int first=blockIdx.x*1024;
    if(!threadIdx.x) count=0;
    __syncthreads();
    for(int j=threadIdx.x;j<1024;j+=128){
        int i=first+j;
        if(i<n){
            float v=x[i];
            if(v>limit){
                int p=atomicAdd(&count,1);
                list[p]=i;
                vals[p]=v;
            }
            else out[i]=v;
        }
    }
    __syncthreads();
    for(int k=threadIdx.x;k<count;k+=128) out[list[k]]=costly(vals[k]);
}
