extern "C" __global__ void copy4(const float* in, float* out,
    int n) {int i = blockIdx.x*blockDim.x+threadIdx.x; int j=4*i;
    if(j+4<=n) *(float4*)(out+j)=*(const float4*)(in+j); else { if(j<n) out[j]=in[j];
    if(j+1<n) out[j+1]=in[j+1]; if(j+2<n) out[j+2]=in[j+2]; } }
