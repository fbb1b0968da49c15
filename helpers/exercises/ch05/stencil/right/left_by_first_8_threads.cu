extern "C" __global__ void stencil(const float* x, float* out, int n) { __shared__ float s[136];
    int t=threadIdx.x, f=blockIdx.x*128; int i=f-4+t; s[t]= (i>=0&&i<n)?x[i]:0; if(t>=120){
    int j=t+8; i=f-4+j; s[j]= i<n?x[i]:0; } __syncthreads();
    float a=s[t]+s[t+1]+s[t+2]+s[t+3]+s[t+4]+s[t+5]+s[t+6]+s[t+7]+s[t+8]; if(f+t<n) out[f+t]=a; }
