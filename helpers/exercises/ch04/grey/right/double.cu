extern "C" __global__ void grey(const float* planes, float* out,
    int n) {int i = blockIdx.x*blockDim.x+threadIdx.x;
    if(i<n) out[i]=0.25*planes[i]+0.5*planes[i+n]+0.25*planes[i+2*n]; }
