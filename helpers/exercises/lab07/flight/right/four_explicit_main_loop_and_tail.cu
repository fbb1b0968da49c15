extern "C" __global__
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
}
