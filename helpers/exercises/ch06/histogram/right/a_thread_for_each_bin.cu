extern "C" __global__ void histogram(const int* values, int* counts, int n, int bins) {
    int t=threadIdx.x; int per=(n+gridDim.x-1)/gridDim.x, a=blockIdx.x*per, e=min(n,a+per);
    if(t<bins){ int c=0; for(int i=a;i<e;++i) c += values[i]==t; atomicAdd(counts+t,c);} }
