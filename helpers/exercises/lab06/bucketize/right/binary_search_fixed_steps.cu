extern "C" __global__
void bucketize(const float* x, const float* edges, int* out, int n, int m) {
    int i = blockIdx.x*blockDim.x+threadIdx.x;
    if(i>=n) return;
    int k=0;
    float v=x[i];
    int lo=0, len=m;
    while(len>0){
        int h=len/2;
        int right = edges[lo+h]<=v;
        lo += right ? h+1 : 0;
        len = right ? len-h-1 : h;
    }
    out[i]=lo;
}
