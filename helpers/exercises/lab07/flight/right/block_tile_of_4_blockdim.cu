extern "C" __global__
void accumulate(float* grad, const float* a, const float* b, int n) {
    for(int base=blockIdx.x*blockDim.x*4;base<n;base+=gridDim.x*blockDim.x*4){
        float u[4],v[4],w[4];
#pragma unroll
        for(int k=0;k<4;++k){
            int at=base+k*blockDim.x+threadIdx.x;
            bool ok=at<n;
            u[k]=ok?grad[at]:0;
            v[k]=ok?a[at]:0;
            w[k]=ok?b[at]:0;
        }
#pragma unroll
        for(int k=0;k<4;++k){
            int at=base+k*blockDim.x+threadIdx.x;
            if(at<n) grad[at]=u[k]+0.5f*(v[k]+w[k]);
        }
    }
}
