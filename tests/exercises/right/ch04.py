"""Right answers to the exercises of chapter 04, by other routes than the solution."""

ROWS = [
    (
        "ch04.halve",
        "manual",
        """@cuda.jit
def halve(x, out):
    r = cuda.blockIdx.y*cuda.blockDim.y+cuda.threadIdx.y
    c = cuda.blockIdx.x*cuda.blockDim.x+cuda.threadIdx.x
    if r < x.shape[0] and c < x.shape[1]:
        out[r, c] = 0.5*x[r, c]""",
    ),
    (
        "ch04.halve",
        "swap tuple",
        """@cuda.jit
def halve(x, out):
    i, j = cuda.grid(2)
    if j < x.shape[0] and i < x.shape[1]:
        out[j, i] = x[j, i] / 2""",
    ),
    (
        "ch04.halve",
        "grid[::-1]",
        """import numpy as np

@cuda.jit
def halve(x, out):
    x0, y0 = cuda.grid(2)
    rows, cols = x.shape
    if x0 >= cols or y0 >= rows:
        return
    out[y0, x0] = x[y0, x0] * np.float32(0.5)""",
    ),
    (
        "ch04.halve",
        "flat",
        """@cuda.jit
def halve(x, out):
    gx, gy = cuda.grid(2)
    sx, sy = cuda.gridsize(2)
    n = gy*sx+gx
    rows, cols = x.shape
    for k in range(n, rows*cols, sx*sy):
        out[k//cols, k%cols] = x[k//cols, k%cols]/2""",
    ),
    (
        "ch04.halve",
        "strided 2d",
        """@cuda.jit
def halve(x, out):
    c0, r0 = cuda.grid(2)
    sc, sr = cuda.gridsize(2)
    for r in range(r0, x.shape[0], sr):
        for c in range(c0, x.shape[1], sc):
            out[r, c] = x[r, c]/2""",
    ),
    (
        "ch04.halve",
        "row view",
        """@cuda.jit
def halve(x, out):
    c, r = cuda.grid(2)
    if r < x.shape[0] and c < x.shape[1]:
        row = x[r]
        out[r][c] = row[c] * 0.5""",
    ),
    (
        "ch04.grey",
        "pointers",
        """extern "C" __global__ void grey(const float* planes, float* out,
    int n) {int i = blockIdx.x*blockDim.x+threadIdx.x; const float* r=planes; const float* g=r+n;
    const float* b=g+n; if(i<n) out[i]=(r[i]+2*g[i]+b[i])/4; }""",
    ),
    (
        "ch04.grey",
        "loop",
        """extern "C" __global__ void grey(const float* planes, float* out,
    int n) {int i = blockIdx.x*blockDim.x+threadIdx.x; const float w[3]={.25f,.5f,.25f};
    if(i>=n) return; float s=0;
#pragma unroll
for(int c=0;c<3;++c) s=fmaf(w[c],planes[c*n+i],s); out[i]=s; }""",
    ),
    (
        "ch04.grey",
        "loop no unroll",
        """extern "C" __global__ void grey(const float* planes, float* out,
    int n) {int i = blockIdx.x*blockDim.x+threadIdx.x; const float w[3]={.25f,.5f,.25f};
    if(i>=n) return; float s=0; for(int c=0;c<3;c++) s+=w[c]*planes[c*n+i]; out[i]=s; }""",
    ),
    (
        "ch04.grey",
        "stride",
        """extern "C" __global__ void grey(const float* planes, float* out, int n) {
    for(size_t i=blockIdx.x*blockDim.x+threadIdx.x;i<n;
    i+=(size_t)gridDim.x*blockDim.x) out[i]=__fmaf_rn(.5f,__ldg(planes+n+i),.25f*(planes[i]+planes[2*n+i])); }""",
    ),
    (
        "ch04.grey",
        "double",
        """extern "C" __global__ void grey(const float* planes, float* out,
    int n) {int i = blockIdx.x*blockDim.x+threadIdx.x;
    if(i<n) out[i]=0.25*planes[i]+0.5*planes[i+n]+0.25*planes[i+2*n]; }""",
    ),
    (
        "ch04.grey",
        "struct view",
        """struct Planes { const float* p; int n; __device__ float operator()(int c,int i) const {
    return p[c*n+i]; } };
extern "C" __global__ void grey(const float* planes, float* out,
    int n) {int i = blockIdx.x*blockDim.x+threadIdx.x; Planes P{planes,n};
    if(i<n) out[i]=.25f*P(0,i)+.5f*P(1,i)+.25f*P(2,i); }""",
    ),
    (
        "ch04.float4",
        "int j guard",
        """extern "C" __global__ void copy4(const float* in, float* out,
    int n) {int i = blockIdx.x*blockDim.x+threadIdx.x; int j=4*i;
    if(j+4<=n) *(float4*)(out+j)=*(const float4*)(in+j); else { if(j<n) out[j]=in[j];
    if(j+1<n) out[j+1]=in[j+1]; if(j+2<n) out[j+2]=in[j+2]; } }""",
    ),
    (
        "ch04.float4",
        "n/4 and tail",
        """extern "C" __global__ void copy4(const float* in, float* out,
    int n) {int i = blockIdx.x*blockDim.x+threadIdx.x;
    if(i<n/4) ((float4*)out)[i]=((const float4*)in)[i]; else if(i==n/4) for(int j=n/4*4;j<n;
    ++j) out[j]=in[j]; }""",
    ),
    (
        "ch04.float4",
        "tail by threads",
        """extern "C" __global__ void copy4(const float* in, float* out,
    int n) {int i = blockIdx.x*blockDim.x+threadIdx.x; int q=n>>2;
    if(i<q) reinterpret_cast<float4*>(out)[i]=__ldg(reinterpret_cast<const float4*>(in)+i);
    if(i==0) for(int j=q<<2;j<n;++j) out[j]=in[j]; }""",
    ),
    (
        "ch04.float4",
        "tail lanes (n%4 threads)",
        """extern "C" __global__ void copy4(const float* in, float* out,
    int n) {int i = blockIdx.x*blockDim.x+threadIdx.x; int q=n/4;
    if(i<q) reinterpret_cast<float4*>(out)[i]=reinterpret_cast<const float4*>(in)[i]; int r=n-4*q;
    if(i<r) out[4*q+i]=in[4*q+i]; }""",
    ),
    (
        "ch04.float4",
        "int4",
        """extern "C" __global__ void copy4(const float* in, float* out,
    int n) {int i = blockIdx.x*blockDim.x+threadIdx.x;
    if(4*i+3<n) ((int4*)out)[i]=((const int4*)in)[i]; else for(int j=4*i;j<n;j++) out[j]=in[j]; }""",
    ),
    (
        "ch04.float4",
        "memcpy aligned",
        """struct alignas(16) F { float v[4]; };
extern "C" __global__ void copy4(const float* in, float* out,
    int n) {int i = blockIdx.x*blockDim.x+threadIdx.x; if(i*4+3<n) ((F*)out)[i]=((const F*)in)[i];
    else while(4*i<n && 0) {}
 int s=4*i; if(s<n && s+3>=n) for(int j=s;j<n;++j) out[j]=in[j]; }""",
    ),
    (
        "ch04.count",
        "in bytes, with a list",
        """def sectors(stride, offset):
    found = []
    for lane in range(32):
        sector = 4 * (lane * stride + offset) // 32
        if sector not in found:
            found.append(sector)
    return len(found)""",
    ),
    (
        "ch04.count",
        "one expression",
        (
            (
                """    touched = set()
    for lane in range(32):
        touched.add((lane * stride + offset) // 8)
    return len(touched)""",
                "    return len({(lane * stride + offset) >> 3 for lane in range(32)})",
            ),
        ),
    ),
    (
        "ch04.scale",
        "a while loop",
        (
            (
                """    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = 1.5f * x[i];""",
                """    int i = blockIdx.x * blockDim.x + threadIdx.x;
    while (i < n) {
        out[i] = x[i] + 0.5f * x[i];
        i += blockDim.x * gridDim.x;
    }""",
            ),
        ),
    ),
    (
        "ch04.scale",
        "restrict and the read-only path",
        (
            (
                "const float* x, float* out",
                "const float* __restrict__ x, float* __restrict__ out",
            ),
            (
                "1.5f * x[i]",
                "1.5f * __ldg(x + i)",
            ),
        ),
    ),
    (
        "ch04.scale",
        "float4s in a grid-stride loop, and a tail",
        """extern "C" __global__
void scale(const float* __restrict__ x, float* __restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    for (int q = i; q < n / 4; q += all) {
        float4 v = reinterpret_cast<const float4*>(x)[q];
        reinterpret_cast<float4*>(out)[q] = make_float4(1.5f * v.x, 1.5f * v.y, 1.5f * v.z, 1.5f * v.w);
    }
    int k = n / 4 * 4 + i;
    if (k < n) out[k] = 1.5f * x[k];
}""",
    ),
]
