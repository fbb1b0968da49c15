"""Right answers to lab06.bucketize by routes other than the solution's."""

KEY = "lab06.bucketize"

ROWS = [
    # which way, the solution cell
    (
        "if inside (predicated)",
        '''BUCKETIZE = r"""extern "C" __global__
void bucketize(const float* x, const float* edges, int* out, int n, int m) {
    int i = blockIdx.x*blockDim.x+threadIdx.x;
    if(i>=n) return;
    int k=0;
    const float v=x[i];
    for(int j=0;j<m;++j) if(edges[j]<=v) k++;
    out[i]=k;
}"""
bucketize = cp.RawKernel(BUCKETIZE, "bucketize")
''',
    ),
    (
        "shared edges 1024",
        '''BUCKETIZE = r"""extern "C" __global__
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
}"""
bucketize = cp.RawKernel(BUCKETIZE, "bucketize")
''',
    ),
    (
        "binary search fixed steps",
        '''BUCKETIZE = r"""extern "C" __global__
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
}"""
bucketize = cp.RawKernel(BUCKETIZE, "bucketize")
''',
    ),
    (
        "branchless power of two bisect",
        '''BUCKETIZE = r"""extern "C" __global__
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
}"""
bucketize = cp.RawKernel(BUCKETIZE, "bucketize")
''',
    ),
    (
        "device function template ldg",
        '''BUCKETIZE = r"""template<typename T> __device__ __forceinline__ int cnt(const T* __restrict__ e,int m,T v){
    int c=0;
    for(const T*p=e;p!=e+m;++p) c+=*p<=v;
    return c;
}
extern "C" __global__
void bucketize(const float* x, const float* edges, int* out, int n, int m) {
    int i = threadIdx.x+blockIdx.x*blockDim.x;
    if(i<n) out[i]=cnt<float>(edges,m,__ldg(x+i));
}"""
bucketize = cp.RawKernel(BUCKETIZE, "bucketize")
''',
    ),
]
