template<int K> struct Batch {
    float v[K];
    __device__ Batch(const float* p,int i,int all,int n){
#pragma unroll
        for(int k=0;k<K;++k){
            int at=i+k*all;
            v[k]= at<n ? p[at] : 0.f;
        }
    }
};
extern "C" __global__
void accumulate(float* grad, const float* a, const float* b, int n) {
    int i = blockIdx.x*blockDim.x+threadIdx.x, all = gridDim.x*blockDim.x;
    constexpr int K=4;
    for(;i<n;i+=K*all){
        Batch<K> u(grad,i,all,n), v(a,i,all,n), w(b,i,all,n);
#pragma unroll
        for(int k=0;k<K;++k){
            int at=i+k*all;
            if(at<n) grad[at]=u.v[k]+0.5f*(v.v[k]+w.v[k]);
        }
    }
}
