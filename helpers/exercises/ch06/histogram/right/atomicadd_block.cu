extern "C" __global__ void histogram(const int* values, int* counts, int n, int bins) {
    __shared__ int s[64]; int t=threadIdx.x; if(t<bins) s[t]=0; __syncthreads();
    for(int i=blockIdx.x*blockDim.x+t;i<n;i+=blockDim.x*gridDim.x) atomicAdd_block(&s[values[i]],1);
    __syncthreads(); if(t<bins) atomicAdd(counts+t,s[t]); }
