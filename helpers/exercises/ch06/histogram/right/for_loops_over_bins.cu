extern "C" __global__ void histogram(const int* values, int* counts, int n, int bins) {
    __shared__ int s[64]; for(int b=threadIdx.x;b<64;b+=blockDim.x) s[b]=0; __syncthreads();
    for(int i=blockIdx.x*blockDim.x+threadIdx.x;i<n;
    i+=blockDim.x*gridDim.x) atomicAdd(s+values[i],1); __syncthreads(); for(int b=threadIdx.x;
    b<bins;b+=blockDim.x) atomicAdd(counts+b,s[b]); }
