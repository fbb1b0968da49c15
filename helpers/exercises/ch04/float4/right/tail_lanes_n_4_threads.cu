extern "C" __global__ void copy4(const float* in, float* out,
    int n) {int i = blockIdx.x*blockDim.x+threadIdx.x; int q=n/4;
    if(i<q) reinterpret_cast<float4*>(out)[i]=reinterpret_cast<const float4*>(in)[i]; int r=n-4*q;
    if(i<r) out[4*q+i]=in[4*q+i]; }
