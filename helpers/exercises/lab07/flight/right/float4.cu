extern "C" __global__
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
}
