constexpr int R=4, B=128;
template<int r> __device__ float win(const float* p){ float a=0;
#pragma unroll
for(int k=0;k<=2*r;++k) a+=p[k]; return a; }
extern "C" __global__ void stencil(const float* x, float* out, int n) { __shared__ float s[B+2*R];
    const int base=blockIdx.x*blockDim.x-R; for(int j=threadIdx.x;j<B+2*R;j+=blockDim.x){
    int g=base+j; s[j]=((unsigned)g<(unsigned)n)?__ldg(x+g):0.f;} __syncthreads();
    int i=blockIdx.x*blockDim.x+threadIdx.x; if(i>=n) return; out[i]=win<R>(s+threadIdx.x); }
