"""Right answers to the exercises of chapter 05, by other routes than the solution."""

ROWS = [
    (
        "ch05.transpose",
        "swizzle",
        """@cuda.jit
def transpose(x, out):
    tile = cuda.shared.array((32, 32), "float32")
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        tile[ty, tx ^ ty] = x[row, column]
    cuda.syncthreads()
    row, column = 32 * cuda.blockIdx.x + ty, 32 * cuda.blockIdx.y + tx
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = tile[tx, ty ^ tx]""",
    ),
    (
        "ch05.transpose",
        "flat padded",
        """@cuda.jit
def transpose(x, out):
    tile = cuda.shared.array(32 * 33, "float32")
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        tile[ty * 33 + tx] = x[row, column]
    cuda.syncthreads()
    row, column = 32 * cuda.blockIdx.x + ty, 32 * cuda.blockIdx.y + tx
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = tile[tx * 33 + ty]""",
    ),
    (
        "ch05.transpose",
        "turn at store into tile",
        """@cuda.jit
def transpose(x, out):
    tile = cuda.shared.array((32, 33), "float32")
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        tile[tx, ty] = x[row, column]
    cuda.syncthreads()
    row, column = 32 * cuda.blockIdx.x + ty, 32 * cuda.blockIdx.y + tx
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = tile[ty, tx]""",
    ),
    (
        "ch05.transpose",
        "pad 35",
        """@cuda.jit
def transpose(x, out):
    tile = cuda.shared.array((32, 35), "float32")
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        tile[ty, tx] = x[row, column]
    cuda.syncthreads()
    row, column = 32 * cuda.blockIdx.x + ty, 32 * cuda.blockIdx.y + tx
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = tile[tx, ty]""",
    ),
    (
        "ch05.transpose",
        "zero fill",
        """@cuda.jit
def transpose(x, out):
    tile = cuda.shared.array((32, 33), "float32")
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        tile[ty, tx] = x[row, column]
    else:
        tile[ty, tx] = 0
    cuda.syncthreads()
    row, column = 32 * cuda.blockIdx.x + ty, 32 * cuda.blockIdx.y + tx
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = tile[tx, ty]""",
    ),
    (
        "ch05.transpose",
        "+ rotate",
        """@cuda.jit
def transpose(x, out):
    tile = cuda.shared.array((32, 32), "float32")
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        tile[ty, (tx + ty) % 32] = x[row, column]
    cuda.syncthreads()
    row, column = 32 * cuda.blockIdx.x + ty, 32 * cuda.blockIdx.y + tx
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = tile[tx, (ty + tx) & 31]""",
    ),
    (
        "ch05.stencil",
        "centre + halo by 4",
        """extern "C" __global__ void stencil(const float* x, float* out, int n) { __shared__ float s[128+8];
    int t=threadIdx.x, i=blockIdx.x*128+t; s[t+4]= i<n? x[i]:0.f; if(t<4){ int l=i-4;
    s[t]= l>=0? x[l]:0.f; int r=i+128; s[t+132]= r<n? x[r]:0.f; } __syncthreads(); if(i<n){
    float a=0;
#pragma unroll
for(int k=-4;k<=4;++k) a+=s[t+4+k]; out[i]=a; } }""",
    ),
    (
        "ch05.stencil",
        "constexpr template",
        """constexpr int R=4, B=128;
template<int r> __device__ float win(const float* p){ float a=0;
#pragma unroll
for(int k=0;k<=2*r;++k) a+=p[k]; return a; }
extern "C" __global__ void stencil(const float* x, float* out, int n) { __shared__ float s[B+2*R];
    const int base=blockIdx.x*blockDim.x-R; for(int j=threadIdx.x;j<B+2*R;j+=blockDim.x){
    int g=base+j; s[j]=((unsigned)g<(unsigned)n)?__ldg(x+g):0.f;} __syncthreads();
    int i=blockIdx.x*blockDim.x+threadIdx.x; if(i>=n) return; out[i]=win<R>(s+threadIdx.x); }""",
    ),
    (
        "ch05.stencil",
        "left by first 8 threads",
        """extern "C" __global__ void stencil(const float* x, float* out, int n) { __shared__ float s[136];
    int t=threadIdx.x, f=blockIdx.x*128; int i=f-4+t; s[t]= (i>=0&&i<n)?x[i]:0; if(t>=120){
    int j=t+8; i=f-4+j; s[j]= i<n?x[i]:0; } __syncthreads();
    float a=s[t]+s[t+1]+s[t+2]+s[t+3]+s[t+4]+s[t+5]+s[t+6]+s[t+7]+s[t+8]; if(f+t<n) out[f+t]=a; }""",
    ),
    (
        "ch05.stencil",
        "block prefix by warp shuffles",
        """extern "C" __global__ void stencil(const float* x, float* out, int n) { int t=threadIdx.x,
    i=blockIdx.x*128+t, lane=t&31; __shared__ float s[136]; for(int j=t;j<136;
    j+=128){int g=blockIdx.x*128-4+j; s[j]=g>=0&&g<n?x[g]:0.f;} __syncthreads(); float c=s[t+4];
    float a=c; for(int k=1;k<=4;++k){ float u=__shfl_up_sync(~0u,c,k), d=__shfl_down_sync(~0u,c,k);
    a += lane>=k? u : s[t+4-k]; a += lane<32-k? d : s[t+4+k]; } if(i<n) out[i]=a; }""",
    ),
    (
        "ch05.stencil",
        "cg sync",
        """#include <cooperative_groups.h>
namespace cg=cooperative_groups;
extern "C" __global__ void stencil(const float* x, float* out, int n) {
    auto b=cg::this_thread_block(); __shared__ float s[136]; int f=b.group_index().x*128;
    for(int j=b.thread_rank();j<136;j+=b.size()){int g=f-4+j; s[j]=g>=0&&g<n?x[g]:0;} b.sync();
    int i=f+b.thread_rank(); if(i<n){float a=0; for(int k=0;k<9;++k) a+=s[b.thread_rank()+k];
    out[i]=a;} }""",
    ),
    (
        "ch05.stencil",
        "float4 load tile",
        """extern "C" __global__ void stencil(const float* x, float* out, int n) {
    __shared__ __align__(16) float s[136]; int t=threadIdx.x, f=blockIdx.x*128; if(t<34){
    int g=f-4+4*t; if(g>=0&&g+3<n) *(float4*)(s+4*t)=*(const float4*)(x+g); else for(int c=0;c<4;
    ++c) s[4*t+c]= (g+c>=0&&g+c<n)?x[g+c]:0.f; } __syncthreads(); float a=0; for(int k=0;k<9;
    ++k) a+=s[t+k]; if(f+t<n) out[f+t]=a; }""",
    ),
    (
        "ch05.matmul",
        "ceil loop",
        """import numpy as np

@cuda.jit
def matmul(a, b, c):
    sa = cuda.shared.array((16, 16), np.float32)
    sb = cuda.shared.array((16, 16), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col = cuda.blockIdx.x * 16 + tx
    row = cuda.blockIdx.y * 16 + ty
    acc = np.float32(0)
    for t in range((a.shape[1] + 15) // 16):
        k = t * 16
        if row < a.shape[0] and k + tx < a.shape[1]:
            sa[ty, tx] = a[row, k + tx]
        else:
            sa[ty, tx] = 0
        if k + ty < b.shape[0] and col < b.shape[1]:
            sb[ty, tx] = b[k + ty, col]
        else:
            sb[ty, tx] = 0
        cuda.syncthreads()
        for j in range(16):
            acc += sa[ty, j] * sb[j, tx]
        cuda.syncthreads()
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = acc""",
    ),
    (
        "ch05.matmul",
        "flat tiles",
        """@cuda.jit
def matmul(a, b, c):
    mine, yours = cuda.shared.array(256, "float32"), cuda.shared.array(256, "float32")
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = 0.0
    for k in range(0, a.shape[1], 16):
        mine[16*y + x] = a[row, k + x] if row < a.shape[0] and k + x < a.shape[1] else 0.0
        yours[16*y + x] = b[k + y, column] if k + y < b.shape[0] and column < b.shape[1] else 0.0
        cuda.syncthreads()
        for j in range(16):
            total += mine[16*y + j] * yours[16*j + x]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total""",
    ),
    (
        "ch05.matmul",
        "padded 17",
        """@cuda.jit
def matmul(a, b, c):
    mine, yours = cuda.shared.array((16, 17), "float32"), cuda.shared.array((16, 17), "float32")
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = 0.0
    for k in range(0, a.shape[1], 16):
        mine[y, x] = a[row, k + x] if row < a.shape[0] and k + x < a.shape[1] else 0.0
        yours[y, x] = b[k + y, column] if k + y < b.shape[0] and column < b.shape[1] else 0.0
        cuda.syncthreads()
        for j in range(16):
            total += mine[y, j] * yours[j, x]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total""",
    ),
    (
        "ch05.matmul",
        "inner bounded",
        """@cuda.jit
def matmul(a, b, c):
    mine, yours = cuda.shared.array((16, 16), "float32"), cuda.shared.array((16, 16), "float32")
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = 0.0
    for k in range(0, a.shape[1], 16):
        mine[y, x] = a[row, k + x] if row < a.shape[0] and k + x < a.shape[1] else 0.0
        yours[y, x] = b[k + y, column] if k + y < b.shape[0] and column < b.shape[1] else 0.0
        cuda.syncthreads()
        for j in range(min(16, a.shape[1] - k)):
            total += mine[y, j] * yours[j, x]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total""",
    ),
    (
        "ch05.matmul",
        "zero then overwrite",
        """@cuda.jit
def matmul(a, b, c):
    mine, yours = cuda.shared.array((16, 16), "float32"), cuda.shared.array((16, 16), "float32")
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = 0.0
    for k in range(0, a.shape[1], 16):
        mine[y, x] = 0
        if row < a.shape[0] and k + x < a.shape[1]:
            mine[y, x] = a[row, k + x]
        yours[y, x] = b[k + y, column] if k + y < b.shape[0] and column < b.shape[1] else 0.0
        cuda.syncthreads()
        for j in range(16):
            total += mine[y, j] * yours[j, x]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total""",
    ),
    (
        "ch05.matmul",
        "double buffer",
        """@cuda.jit
def matmul(a, b, c):
    s = cuda.shared.array((2, 16, 16), "float32")
    u = cuda.shared.array((2, 16, 16), "float32")
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    rounds = (a.shape[1] + 15) // 16
    total = 0.0
    for r in range(rounds):
        k = 16 * r
        p = r & 1
        s[p, y, x] = a[row, k + x] if row < a.shape[0] and k + x < a.shape[1] else 0.0
        u[p, y, x] = b[k + y, col] if k + y < b.shape[0] and col < b.shape[1] else 0.0
        cuda.syncthreads()
        for j in range(16):
            total += s[p, y, j] * u[p, j, x]
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total""",
    ),
    (
        "ch05.turned",
        "named corners",
        """def stores(bx, by, tx, ty):
    first_row, first_column = 32 * bx, 32 * by
    return (first_row + ty, first_column + tx), (tx, ty)""",
    ),
    (
        "ch05.turned",
        "lists of the parts turned into tuples",
        (
            (
                "    return place, element",
                "    return tuple(list(place)), (element[0], element[1])",
            ),
        ),
    ),
    (
        "ch05.wavefronts",
        "a Counter of different words",
        """from collections import Counter


def wavefronts(words):
    return max(Counter(word % 32 for word in set(words)).values())""",
    ),
    (
        "ch05.wavefronts",
        "bank by bank",
        """def wavefronts(words):
    most = 0
    for bank in range(32):
        most = max(most, len({word for word in words if word % 32 == bank}))
    return most""",
    ),
    (
        "ch05.turned",
        "lists for tuples",
        """def stores(bx, by, tx, ty):
    row, column = 32 * bx + ty, 32 * by + tx
    return [row, column], [tx, ty]""",
    ),
]
