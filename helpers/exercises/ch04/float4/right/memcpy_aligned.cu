struct alignas(16) F { float v[4]; };
extern "C" __global__ void copy4(const float* in, float* out,
    int n) {int i = blockIdx.x*blockDim.x+threadIdx.x; if(i*4+3<n) ((F*)out)[i]=((const F*)in)[i];
    else while(4*i<n && 0) {}
 int s=4*i; if(s<n && s+3>=n) for(int j=s;j<n;++j) out[j]=in[j]; }
