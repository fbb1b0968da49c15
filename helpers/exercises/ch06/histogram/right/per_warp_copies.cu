extern "C" __global__ void histogram(const int* values, int* counts, int n, int bins) {
    __shared__ int s[4][64]; int t=threadIdx.x; for(int b=t;b<256;b+=128) ((int*)s)[b]=0;
    __syncthreads(); for(int i=blockIdx.x*blockDim.x+t;i<n;
    i+=blockDim.x*gridDim.x) atomicAdd(&s[t/32][values[i]],1); __syncthreads(); if(t<bins){
    int v=s[0][t]+s[1][t]+s[2][t]+s[3][t]; atomicAdd(&counts[t],v);} }
