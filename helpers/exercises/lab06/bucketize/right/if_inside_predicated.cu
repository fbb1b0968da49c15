extern "C" __global__
void bucketize(const float* x, const float* edges, int* out, int n, int m) {
    int i = blockIdx.x*blockDim.x+threadIdx.x;
    if(i>=n) return;
    int k=0;
    const float v=x[i];
    for(int j=0;j<m;++j) if(edges[j]<=v) k++;
    out[i]=k;
}
