extern "C" __global__
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
}
