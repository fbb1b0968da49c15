extern "C" __global__ void ranks(const float* x, const int* k, float* out,
    int n) {int i = blockIdx.x*blockDim.x+threadIdx.x; if (i >= n) return; float m[4];
#pragma unroll
for(int j=0;j<4;++j) m[j]=x[4*i+j];
#pragma unroll
for(int p=0;p<3;++p){
#pragma unroll
for(int j=0;j<3;++j) if(m[j]>m[j+1]){float t=m[j];m[j]=m[j+1];m[j+1]=t;}}
int w=k[i]; float r=m[0];
#pragma unroll
for(int j=1;j<4;++j) if(j==w) r=m[j];
out[i]=r; }
