extern "C" __global__ void grey(const float* planes, float* out, int n) {
    for(size_t i=blockIdx.x*blockDim.x+threadIdx.x;i<n;
    i+=(size_t)gridDim.x*blockDim.x) out[i]=__fmaf_rn(.5f,__ldg(planes+n+i),.25f*(planes[i]+planes[2*n+i])); }
