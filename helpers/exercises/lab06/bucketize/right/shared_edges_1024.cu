extern "C" __global__
void bucketize(const float* x, const float* edges, int* out, int n, int m) {
    __shared__ float e[1024];
    int i = blockIdx.x*blockDim.x+threadIdx.x;
    for(int j=threadIdx.x;j<m;j+=blockDim.x) e[j]=edges[j];
    __syncthreads();
    if(i<n){
        float v=x[i];
        int k=0;
        for(int j=0;j<m;j++) k+=e[j]<=v;
        out[i]=k;
    }
}
