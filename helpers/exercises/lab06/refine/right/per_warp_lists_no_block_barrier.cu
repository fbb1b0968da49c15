__device__ float costly(float v) {
#pragma unroll 1
    for (int k = 0; k < 32; ++k) v = 0.9f * v + 0.25f;
    return v;
}
extern "C" __global__ void refine(const float* x, float* out, int n, float limit) {
    __shared__ int lists[4][256];
    int w=threadIdx.x/32, lane=threadIdx.x%32;
    int cnt=0;
    int first=blockIdx.x*1024;
    for(int j=0;j<8;++j){
        int i=first+j*128+threadIdx.x;
        float v= i<n? x[i] : 0.f;
        bool c = i<n && v>limit;
        unsigned m=__ballot_sync(~0u,c);
        if(c) lists[w][cnt+__popc(m&((1u<<lane)-1))]=i;
        else if(i<n) out[i]=v;
        cnt+=__popc(m);
    }
    __syncwarp();
    for(int k=lane;k<cnt;k+=32) out[lists[w][k]]=costly(x[lists[w][k]]);
}
