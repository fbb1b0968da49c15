extern "C" __global__
void bucketize(const float* x, const float* edges, int* out, int n, int m) {
    int i = blockIdx.x*blockDim.x+threadIdx.x;
    if(i>=n) return;
    int k=0;
    float v=x[i];
    int p=1;
    while(p<=m) p<<=1;
    for(p>>=1;p;p>>=1){
        int t=k+p;
        if(t<=m && edges[t-1]<=v) k=t;
    }
    out[i]=k;
}
