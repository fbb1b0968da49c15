extern "C" __global__ void histogram(const int* values, int* counts, int n, int bins) {
    __shared__ int s[64]; int t=threadIdx.x; if(t<64) s[t]=0; __syncthreads();
    for(int i=blockIdx.x*blockDim.x+t;i<n;i+=blockDim.x*gridDim.x) atomicAdd(&s[values[i]],1);
    __syncthreads(); if(t<bins&&s[t]) atomicAdd(&counts[t],s[t]); }
