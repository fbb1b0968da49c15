extern "C" __global__ void stencil(const float* x, float* out, int n) {
    __shared__ __align__(16) float s[136]; int t=threadIdx.x, f=blockIdx.x*128; if(t<34){
    int g=f-4+4*t; if(g>=0&&g+3<n) *(float4*)(s+4*t)=*(const float4*)(x+g); else for(int c=0;c<4;
    ++c) s[4*t+c]= (g+c>=0&&g+c<n)?x[g+c]:0.f; } __syncthreads(); float a=0; for(int k=0;k<9;
    ++k) a+=s[t+k]; if(f+t<n) out[f+t]=a; }
