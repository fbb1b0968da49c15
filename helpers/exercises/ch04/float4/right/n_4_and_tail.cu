extern "C" __global__ void copy4(const float* in, float* out,
    int n) {int i = blockIdx.x*blockDim.x+threadIdx.x;
    if(i<n/4) ((float4*)out)[i]=((const float4*)in)[i]; else if(i==n/4) for(int j=n/4*4;j<n;
    ++j) out[j]=in[j]; }
