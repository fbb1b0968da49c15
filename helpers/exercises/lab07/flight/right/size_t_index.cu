extern "C" __global__
void accumulate(float* grad, const float* a, const float* b, int n) {
    size_t i = blockIdx.x*(size_t)blockDim.x+threadIdx.x, all = gridDim.x*(size_t)blockDim.x;
    for(;i<n;i+=4*all){
        float u[4],v[4],w[4];
#pragma unroll
        for(int k=0;k<4;++k){
            size_t at=i+k*all;
            u[k]=at<n?grad[at]:0;
            v[k]=at<n?a[at]:0;
            w[k]=at<n?b[at]:0;
        }
#pragma unroll
        for(int k=0;k<4;++k) if(i+k*all<n) grad[i+k*all]=u[k]+0.5f*(v[k]+w[k]);
    }
}
