"""Right answers to lab07.flight by routes other than the solution's."""

KEY = "lab07.flight"

ROWS = [
    # which way, the solution cell
    (
        "four explicit main loop and tail",
        '''FLIGHT = r"""extern "C" __global__
void accumulate(float* grad, const float* a, const float* b, int n) {
    int i = blockIdx.x*blockDim.x+threadIdx.x, all = gridDim.x*blockDim.x;
    for(;i+3*all<n;i+=4*all){
        float g0=grad[i],g1=grad[i+all],g2=grad[i+2*all],g3=grad[i+3*all];
        float a0=a[i],a1=a[i+all],a2=a[i+2*all],a3=a[i+3*all];
        float b0=b[i],b1=b[i+all],b2=b[i+2*all],b3=b[i+3*all];
        grad[i]=g0+0.5f*(a0+b0);
        grad[i+all]=g1+0.5f*(a1+b1);
        grad[i+2*all]=g2+0.5f*(a2+b2);
        grad[i+3*all]=g3+0.5f*(a3+b3);
    }
    for(;i<n;i+=all) grad[i] += 0.5f*(a[i]+b[i]);
}"""
accumulate = cp.RawKernel(FLIGHT, "accumulate")
''',
    ),
    (
        "float4",
        '''FLIGHT = r"""extern "C" __global__
void accumulate(float* grad, const float* a, const float* b, int n) {
    int t=blockIdx.x*blockDim.x+threadIdx.x, all=gridDim.x*blockDim.x, q=n/4;
    float4* G=(float4*)grad;
    const float4* A=(const float4*)a;
    const float4* B=(const float4*)b;
    for(int i=t;i<q;i+=all){
        float4 g=G[i], u=A[i], v=B[i];
        g.x+=0.5f*(u.x+v.x);
        g.y+=0.5f*(u.y+v.y);
        g.z+=0.5f*(u.z+v.z);
        g.w+=0.5f*(u.w+v.w);
        G[i]=g;
    }
    int r=4*q+t;
    if(r<n) grad[r]+=0.5f*(a[r]+b[r]);
}"""
accumulate = cp.RawKernel(FLIGHT, "accumulate")
''',
    ),
    (
        "template batch constexpr struct",
        '''FLIGHT = r"""template<int K> struct Batch {
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
}"""
accumulate = cp.RawKernel(FLIGHT, "accumulate")
''',
    ),
    (
        "software pipelining prefetch next",
        '''FLIGHT = r"""extern "C" __global__
void accumulate(float* grad, const float* a, const float* b, int n) {
    int i = blockIdx.x*blockDim.x+threadIdx.x, all = gridDim.x*blockDim.x;
    if(i>=n) return;
    float g=grad[i],u=a[i],v=b[i];
    for(;;){
        int j=i+all;
        float g2=0,u2=0,v2=0;
        if(j<n){
            g2=grad[j];
            u2=a[j];
            v2=b[j];
        }
        grad[i]=g+0.5f*(u+v);
        if(j>=n) break;
        g=g2;
        u=u2;
        v=v2;
        i=j;
    }
}"""
accumulate = cp.RawKernel(FLIGHT, "accumulate")
''',
    ),
    (
        "block tile of 4*blockDim",
        '''FLIGHT = r"""extern "C" __global__
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
}"""
accumulate = cp.RawKernel(FLIGHT, "accumulate")
''',
    ),
    (
        "size_t index",
        '''FLIGHT = r"""extern "C" __global__
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
}"""
accumulate = cp.RawKernel(FLIGHT, "accumulate")
''',
    ),
]
