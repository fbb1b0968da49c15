extern "C" __global__ void grey(const float* planes, float* out,
    int n) {int i = blockIdx.x*blockDim.x+threadIdx.x; const float w[3]={.25f,.5f,.25f};
    if(i>=n) return; float s=0; for(int c=0;c<3;c++) s+=w[c]*planes[c*n+i]; out[i]=s; }
