extern "C" __global__ void copy4(const float* in, float* out,
    int n) {int i = blockIdx.x*blockDim.x+threadIdx.x;
    if(4*i+3<n) ((int4*)out)[i]=((const int4*)in)[i]; else for(int j=4*i;j<n;j++) out[j]=in[j]; }
