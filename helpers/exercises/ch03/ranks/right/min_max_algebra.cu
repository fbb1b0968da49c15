extern "C" __global__ void ranks(const float* x, const int* k, float* out,
    int n) {int i = blockIdx.x*blockDim.x+threadIdx.x; if (i >= n) return;
    float a=x[4*i],b=x[4*i+1],c=x[4*i+2],d=x[4*i+3]; float mn=fminf(fminf(a,b),fminf(c,d)),
    mx=fmaxf(fmaxf(a,b),fmaxf(c,d)); float p=fmaxf(fminf(a,b),fminf(c,d)),
    q=fminf(fmaxf(a,b),fmaxf(c,d)); float s=fminf(p,q), t=fmaxf(p,q); const int w=__ldg(k+i);
    out[i]= w==0?mn: w==1?s: w==2?t: mx; }
