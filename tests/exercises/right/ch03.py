"""Right answers to the exercises of chapter 03, by other routes than the solution."""

ROWS = [
    (
        "ch03.ranks",
        "float4",
        """#define SW(p,q) {float lo=fminf(p,q), hi=fmaxf(p,q); p=lo; q=hi;}
extern "C" __global__ void ranks(const float* x, const int* k, float* out,
    int n) {int i = blockIdx.x*blockDim.x+threadIdx.x; if (i >= n) return;
    float4 v = reinterpret_cast<const float4*>(x)[i]; float a=v.x,b=v.y,c=v.z,d=v.w;
    SW(a,b) SW(c,d) SW(a,c) SW(b,d) SW(b,c) int w=k[i]; out[i] = w==0?a:w==1?b:w==2?c:d; }""",
    ),
    (
        "ch03.ranks",
        "switch",
        """#define SW(p,q) {float lo=fminf(p,q), hi=fmaxf(p,q); p=lo; q=hi;}
extern "C" __global__ void ranks(const float* x, const int* k, float* out,
    int n) {int i = blockIdx.x*blockDim.x+threadIdx.x; if (i >= n) return;
    float4 v = reinterpret_cast<const float4*>(x)[i]; float a=v.x,b=v.y,c=v.z,d=v.w;
    SW(a,b) SW(c,d) SW(a,c) SW(b,d) SW(b,c) float r; switch(k[i]) { case 0: r=a; break; case 1: r=b;
    break; case 2: r=c; break; default: r=d; } out[i]=r; }""",
    ),
    (
        "ch03.ranks",
        "count smaller",
        """extern "C" __global__ void ranks(const float* x, const int* k, float* out,
    int n) {int i = blockIdx.x*blockDim.x+threadIdx.x; if (i >= n) return;
    float a=x[4*i],b=x[4*i+1],c=x[4*i+2],d=x[4*i+3]; int ra=(b<a)+(c<a)+(d<a),
    rb=(a<=b)+(c<b)+(d<b), rc=(a<=c)+(b<=c)+(d<c); int w=k[i]; out[i]= ra==w?a: rb==w?b: rc==w?c: d;
    }""",
    ),
    (
        "ch03.ranks",
        "unrolled array",
        """extern "C" __global__ void ranks(const float* x, const int* k, float* out,
    int n) {int i = blockIdx.x*blockDim.x+threadIdx.x; if (i >= n) return; float m[4];
#pragma unroll
for(int j=0;j<4;++j) m[j]=x[4*i+j];
#pragma unroll
for(int p=0;p<3;++p){
#pragma unroll
for(int j=0;j<3;++j) if(m[j]>m[j+1]){float t=m[j];m[j]=m[j+1];m[j+1]=t;}}
int w=k[i]; float r=m[0];
#pragma unroll
for(int j=1;j<4;++j) if(j==w) r=m[j];
out[i]=r; }""",
    ),
    (
        "ch03.ranks",
        "constexpr template",
        """template<int N> __device__ __forceinline__ void sort(float (&m)[N]) {
#pragma unroll
for(int p=N-1;p>0;--p)
#pragma unroll
for(int j=0;j<p;++j){float lo=fminf(m[j],m[j+1]),hi=fmaxf(m[j],m[j+1]);m[j]=lo;m[j+1]=hi;}}
extern "C" __global__ void ranks(const float* x, const int* k, float* out,
    int n) {int i = blockIdx.x*blockDim.x+threadIdx.x; if (i >= n) return;
    float m[4]={x[4*i],x[4*i+1],x[4*i+2],x[4*i+3]}; sort(m); int w=k[i];
    out[i]= w<2 ? (w?m[1]:m[0]) : (w==2?m[2]:m[3]); }""",
    ),
    (
        "ch03.ranks",
        "min max algebra",
        """extern "C" __global__ void ranks(const float* x, const int* k, float* out,
    int n) {int i = blockIdx.x*blockDim.x+threadIdx.x; if (i >= n) return;
    float a=x[4*i],b=x[4*i+1],c=x[4*i+2],d=x[4*i+3]; float mn=fminf(fminf(a,b),fminf(c,d)),
    mx=fmaxf(fmaxf(a,b),fmaxf(c,d)); float p=fmaxf(fminf(a,b),fminf(c,d)),
    q=fminf(fmaxf(a,b),fmaxf(c,d)); float s=fminf(p,q), t=fmaxf(p,q); const int w=__ldg(k+i);
    out[i]= w==0?mn: w==1?s: w==2?t: mx; }""",
    ),
    (
        "ch03.table",
        "flat two stores",
        """@cuda.jit
def look_up(which, table, out):
    s = cuda.shared.array(256, dtype="float32")
    t = cuda.threadIdx.x
    s[t] = table[t]
    s[t+128] = table[t+128]
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < out.size:
        out[i] = s[which[i]]""",
    ),
    (
        "ch03.table",
        "float2-ish pairs",
        """import numpy as np

@cuda.jit
def look_up(which, table, out):
    s = cuda.shared.array(shape=(256,), dtype=np.float32)
    t = cuda.threadIdx.x
    s[2*t] = table[2*t]
    s[2*t+1] = table[2*t+1]
    cuda.syncthreads()
    i = cuda.blockIdx.x*cuda.blockDim.x+t
    if i < which.shape[0]:
        out[i] = s[which[i]]""",
    ),
    (
        "ch03.table",
        "2d shared",
        """@cuda.jit
def look_up(which, table, out):
    s = cuda.shared.array((2,128), "float32")
    t = cuda.threadIdx.x
    for r in range(2):
        s[r, t] = table[r*128+t]
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < out.size:
        w = which[i]
        out[i] = s[w//128, w%128]""",
    ),
    (
        "ch03.table",
        "while",
        """import numba

@cuda.jit
def look_up(which, table, out):
    s = cuda.shared.array(256, numba.float32)
    k = cuda.threadIdx.x
    while k < 256:
        s[k] = table[k]
        k += cuda.blockDim.x
    cuda.syncthreads()
    i = cuda.grid(1)
    if i >= out.size:
        return
    out[i] = s[which[i]]""",
    ),
    (
        "ch03.table",
        "prefetch which",
        """@cuda.jit
def look_up(which, table, out):
    s = cuda.shared.array(256, "float32")
    i, t = cuda.grid(1), cuda.threadIdx.x
    w = 0
    if i < out.size:
        w = which[i]
    for k in range(t, table.size, cuda.blockDim.x):
        s[k] = table[k]
    cuda.syncthreads()
    if i < out.size:
        out[i] = s[w]""",
    ),
    (
        "ch03.table",
        "grid stride look",
        """@cuda.jit
def look_up(which, table, out):
    s = cuda.shared.array(256, "float32")
    t = cuda.threadIdx.x
    for k in range(t, 256, 128):
        s[k] = table[k]
    cuda.syncthreads()
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = s[which[i]]""",
    ),
    (
        "ch03.bytes",
        "np tuple",
        """import numpy as np

def bytes_of_block(threads, registers, shared, local):
    return np.int64(4*threads*registers + shared), np.int64(threads*local)""",
    ),
    (
        "ch03.bytes",
        "namedtuple",
        """from collections import namedtuple
R = namedtuple("R", "on off")
def bytes_of_block(threads, registers, shared, local):
    return R(on=threads*4*registers+shared, off=threads*local)""",
    ),
    (
        "ch03.bytes",
        "float",
        """def bytes_of_block(threads, registers, shared, local):
    on = threads*registers*32/8 + shared
    return on, threads*local""",
    ),
    (
        "ch03.bytes",
        "loop",
        """def bytes_of_block(threads, registers, shared, local):
    on = shared; off = 0
    for _ in range(threads):
        on += 4*registers
        off += local
    return on, off""",
    ),
    (
        "ch03.bytes",
        "tuple of np array",
        """import numpy as np

def bytes_of_block(threads, registers, shared, local):
    return tuple(np.array([4*threads*registers + shared, threads*local]))""",
    ),
    (
        "ch03.seconds",
        "NumPy",
        """import numpy as np

def least_seconds(shape, itemsize, bandwidth):
    return np.prod(shape, dtype=np.float64) * itemsize / bandwidth""",
    ),
    (
        "ch03.seconds",
        "loop",
        """def least_seconds(shape, itemsize, bandwidth):
    seconds = itemsize / bandwidth
    for size in shape:
        seconds *= size
    return seconds""",
    ),
    (
        "ch03.reads",
        "NumPy",
        """import numpy as np

def constant_reads(which):
    return sum(np.unique(which[at : at + 32]).size for at in range(0, len(which), 32))""",
    ),
    (
        "ch03.reads",
        "pairs",
        """def constant_reads(which):
    return len({(thread // 32, entry) for thread, entry in enumerate(which)})""",
    ),
    (
        "ch03.relax",
        "while",
        """@cuda.jit
def relax(x, out, factor, shift, rounds):
    i = cuda.grid(1)
    while i < x.size:
        v = x[i]
        left = rounds
        while left > 0:
            v = v * factor + shift
            left -= 1
        out[i] = v
        i += cuda.gridsize(1)""",
    ),
    (
        "ch03.relax",
        "powers first",
        """@cuda.jit
def relax(x, out, factor, shift, rounds):
    power, added = factor / factor, factor - factor
    for r in range(rounds):
        added = factor * added + shift
        power = power * factor
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = power * x[i] + added""",
    ),
]
