extern "C" __global__ void grey(const float* planes, float* out,
    int n) {int i = blockIdx.x*blockDim.x+threadIdx.x; const float* r=planes; const float* g=r+n;
    const float* b=g+n; if(i<n) out[i]=(r[i]+2*g[i]+b[i])/4; }
