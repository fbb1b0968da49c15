struct Right{
    __device__ int operator()(int a,int b) const {
        return b>=0? b : a;
    }
};
template<class F> __device__ int scan(int v, F f){
    for(int d=1;d<32;d<<=1){
        int l=__shfl_up_sync(0xffffffffu,v,d);
        if((threadIdx.x&31)>=d) v=f(l,v);
    }
    return v;
}
extern "C" __global__ void fill(const int* x, int* out, int n) {
    __shared__ int s[8];
    const int* row=x+blockIdx.x*n;
    int* o=out+blockIdx.x*n;
    unsigned t=threadIdx.x;
    int v=-1;
    if(t<n) v=__ldg(row+t);
    Right op;
    v=scan(v,op);
    if((t&31)==31) s[t>>5]=v;
    __syncthreads();
    int c=-1;
#pragma unroll
    for(int w=0;w<8;++w) if(w<(t>>5)) c=op(c,s[w]);
    v=op(c,v);
    if(t<n) o[t]=v;
}
