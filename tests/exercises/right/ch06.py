"""Right answers to the exercises of chapter 06, by other routes than the solution."""

ROWS = [
    (
        "ch06.smooth",
        "double buffer 2d",
        """@cuda.jit
def smooth(x, out):
    s = cuda.shared.array((2, 128), "float32")
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[0, t] = x[i] if i < x.size else 0
    p = 0
    for _ in range(3):
        cuda.syncthreads()
        left = s[p, t - 1] if t > 0 else s[p, t]
        s[1 - p, t] = (s[p, t] + left) / 2
        p = 1 - p
    if i < x.size:
        out[i] = s[p, t]""",
    ),
    (
        "ch06.smooth",
        "two arrays unrolled",
        """@cuda.jit
def smooth(x, out):
    a = cuda.shared.array(128, "float32")
    b = cuda.shared.array(128, "float32")
    t, i = cuda.threadIdx.x, cuda.grid(1)
    a[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    b[t] = (a[t] + a[max(t-1, 0)])*0.5
    cuda.syncthreads()
    a[t] = (b[t] + b[max(t-1, 0)])*0.5
    cuda.syncthreads()
    if i < x.size:
        out[i] = (a[t] + a[max(t-1, 0)])*0.5""",
    ),
    (
        "ch06.smooth",
        "barriers at loop start",
        """@cuda.jit
def smooth(x, out):
    s = cuda.shared.array(128, "float32")
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i] if i < x.size else 0
    for _ in range(3):
        cuda.syncthreads()
        left = s[t - 1] if t > 0 else s[t]
        cuda.syncthreads()
        s[t] = (s[t] + left) / 2
    if i < x.size:
        out[i] = s[t]""",
    ),
    (
        "ch06.smooth",
        "register + shared",
        """import numpy as np

@cuda.jit
def smooth(x, out):
    s = cuda.shared.array(128, "float32")
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x*cuda.blockDim.x + t
    v = np.float32(0)
    if i < x.size:
        v = x[i]
    for r in range(3):
        s[t] = v
        cuda.syncthreads()
        if t > 0:
            v = (v + s[t-1]) * np.float32(0.5)
        cuda.syncthreads()
    if i < x.size:
        out[i] = v""",
    ),
    (
        "ch06.smooth",
        "closed form no shared",
        """@cuda.jit
def smooth(x, out):
    s = cuda.shared.array(131, "float32")
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t+3] = x[i] if i < x.size else 0
    cuda.syncthreads()
    if t < 3:
        pass
    a0 = s[t+3]
    a1 = s[max(t+2,3)]
    a2 = s[max(t+1,3)]
    a3 = s[max(t,3)]
    if i < x.size:
        b0 = (a0+a1)/2
        b1 = (a1+a2)/2 if t > 1 else (a1 if t == 1 else a0)
        b2 = (a2+a3)/2 if t > 2 else a2
        c0 = (b0+b1)/2 if t > 0 else b0
        c1 = (b1+b2)/2 if t > 1 else b1
        out[i] = (c0+c1)/2 if t > 0 else a0""",
    ),
    (
        "ch06.smooth",
        "shuffle + shared edges",
        """import numpy as np

@cuda.jit
def smooth(x, out):
    s = cuda.shared.array(4, "float32")
    t, i = cuda.threadIdx.x, cuda.grid(1)
    w, l = t // 32, t % 32
    v = x[i] if i < x.size else np.float32(0)
    for _ in range(3):
        if l == 31:
            s[w] = v
        cuda.syncthreads()
        left = cuda.shfl_up_sync(0xffffffff, v, 1)
        if l == 0:
            left = s[w-1] if w > 0 else v
        cuda.syncthreads()
        v = (v + left) / 2
    if i < x.size:
        out[i] = v""",
    ),
    (
        "ch06.histogram",
        "for loops over bins",
        """extern "C" __global__ void histogram(const int* values, int* counts, int n, int bins) {
    __shared__ int s[64]; for(int b=threadIdx.x;b<64;b+=blockDim.x) s[b]=0; __syncthreads();
    for(int i=blockIdx.x*blockDim.x+threadIdx.x;i<n;
    i+=blockDim.x*gridDim.x) atomicAdd(s+values[i],1); __syncthreads(); for(int b=threadIdx.x;
    b<bins;b+=blockDim.x) atomicAdd(counts+b,s[b]); }""",
    ),
    (
        "ch06.histogram",
        "skip zeros",
        """extern "C" __global__ void histogram(const int* values, int* counts, int n, int bins) {
    __shared__ int s[64]; int t=threadIdx.x; if(t<64) s[t]=0; __syncthreads();
    for(int i=blockIdx.x*blockDim.x+t;i<n;i+=blockDim.x*gridDim.x) atomicAdd(&s[values[i]],1);
    __syncthreads(); if(t<bins&&s[t]) atomicAdd(&counts[t],s[t]); }""",
    ),
    (
        "ch06.histogram",
        "per warp copies",
        """extern "C" __global__ void histogram(const int* values, int* counts, int n, int bins) {
    __shared__ int s[4][64]; int t=threadIdx.x; for(int b=t;b<256;b+=128) ((int*)s)[b]=0;
    __syncthreads(); for(int i=blockIdx.x*blockDim.x+t;i<n;
    i+=blockDim.x*gridDim.x) atomicAdd(&s[t/32][values[i]],1); __syncthreads(); if(t<bins){
    int v=s[0][t]+s[1][t]+s[2][t]+s[3][t]; atomicAdd(&counts[t],v);} }""",
    ),
    (
        "ch06.histogram",
        "unsigned cg",
        """#include <cooperative_groups.h>
namespace cg=cooperative_groups;
extern "C" __global__ void histogram(const int* values, int* counts, int n, int bins) {
    auto b=cg::this_thread_block(); __shared__ unsigned s[64]; for(unsigned j=b.thread_rank();j<64;
    j+=b.size()) s[j]=0u; b.sync(); for(int i=cg::this_grid().thread_rank();i<n;
    i+=cg::this_grid().size()) atomicAdd(&s[values[i]],1u); b.sync();
    if(b.thread_rank()<bins) atomicAdd((unsigned*)counts+b.thread_rank(), s[b.thread_rank()]); }""",
    ),
    (
        "ch06.histogram",
        "atomicAdd_block",
        """extern "C" __global__ void histogram(const int* values, int* counts, int n, int bins) {
    __shared__ int s[64]; int t=threadIdx.x; if(t<bins) s[t]=0; __syncthreads();
    for(int i=blockIdx.x*blockDim.x+t;i<n;i+=blockDim.x*gridDim.x) atomicAdd_block(&s[values[i]],1);
    __syncthreads(); if(t<bins) atomicAdd(counts+t,s[t]); }""",
    ),
    (
        "ch06.histogram",
        "a thread for each bin",
        """extern "C" __global__ void histogram(const int* values, int* counts, int n, int bins) {
    int t=threadIdx.x; int per=(n+gridDim.x-1)/gridDim.x, a=blockIdx.x*per, e=min(n,a+per);
    if(t<bins){ int c=0; for(int i=a;i<e;++i) c += values[i]==t; atomicAdd(counts+t,c);} }""",
    ),
    (
        "ch06.argmax",
        "register best",
        """import numpy as np

@cuda.jit
def argmax(x, out):
    best = cuda.shared.array(1, "int64")
    mine = np.int64(-(1 << 63))
    if cuda.threadIdx.x == 0:
        best[0] = mine
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        mine = max(mine, np.int64(x[i]) << 32 | (0x7FFFFFFF - i))
    cuda.atomic.max(best, 0, mine)
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.atomic.max(out, 0, best[0])""",
    ),
    (
        "ch06.argmax",
        "tree",
        """import numpy as np

@cuda.jit
def argmax(x, out):
    s = cuda.shared.array(128, "int64")
    t = cuda.threadIdx.x
    m = np.int64(-9223372036854775808)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        k = np.int64(x[i]) << 32 | (0x7FFFFFFF - i)
        if k > m:
            m = k
    s[t] = m
    cuda.syncthreads()
    h = 64
    while h > 0:
        if t < h and s[t+h] > s[t]:
            s[t] = s[t+h]
        cuda.syncthreads()
        h //= 2
    if t == 0:
        cuda.atomic.max(out, 0, s[0])""",
    ),
    (
        "ch06.argmax",
        "warp shuffle",
        """import numpy as np

@cuda.jit
def argmax(x, out):
    s = cuda.shared.array(4, np.int64)
    t = cuda.threadIdx.x
    m = np.int64(np.iinfo(np.int64).min)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        m = max(m, np.int64(x[i]) << 32 | (0x7FFFFFFF - i))
    for d in (16, 8, 4, 2, 1):
        m = max(m, cuda.shfl_down_sync(0xffffffff, m, d))
    if t % 32 == 0:
        s[t // 32] = m
    cuda.syncthreads()
    if t == 0:
        cuda.atomic.max(out, 0, max(max(s[0], s[1]), max(s[2], s[3])))""",
    ),
    (
        "ch06.argmax",
        "each thread slot, thread 0 serial",
        """import numpy as np

@cuda.jit
def argmax(x, out):
    s = cuda.shared.array(128, "int64")
    t = cuda.threadIdx.x
    s[t] = -0x8000000000000000
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        s[t] = max(s[t], np.int64(x[i]) << 32 | (0x7FFFFFFF - i))
    cuda.syncthreads()
    if t == 0:
        for j in range(1, 128):
            s[0] = max(s[0], s[j])
        cuda.atomic.max(out, 0, s[0])""",
    ),
    (
        "ch06.argmax",
        "arith key",
        """@cuda.jit
def argmax(x, out):
    s = cuda.shared.array(128, "int64")
    t = cuda.threadIdx.x
    m = -(1 << 63)
    i = cuda.grid(1)
    while i < x.size:
        m = max(m, x[i] * 4294967296 + 2147483647 - i)
        i += cuda.gridsize(1)
    s[t] = m
    cuda.syncthreads()
    n = cuda.blockDim.x >> 1
    while n:
        if t < n:
            s[t] = max(s[t], s[t+n])
        n >>= 1
        cuda.syncthreads()
    if t == 0:
        cuda.atomic.max(out, 0, s[0])""",
    ),
    (
        "ch06.argmax",
        "value+index pair",
        """import numpy as np

@cuda.jit
def argmax(x, out):
    v = cuda.shared.array(128, "int32")
    p = cuda.shared.array(128, "int32")
    t = cuda.threadIdx.x
    bv = np.int32(-2147483648)
    bp = np.int32(2147483647)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        if x[i] > bv:
            bv = x[i]
            bp = np.int32(i)
    v[t] = bv
    p[t] = bp
    cuda.syncthreads()
    h = 64
    while h > 0:
        if t < h:
            if v[t+h] > v[t] or (v[t+h] == v[t] and p[t+h] < p[t]):
                v[t] = v[t+h]
                p[t] = p[t+h]
        cuda.syncthreads()
        h >>= 1
    if t == 0 and p[0] != 2147483647:
        cuda.atomic.max(out, 0, (np.int64(v[0]) << 32) | np.int64(0x7FFFFFFF - p[0]))""",
    ),
    (
        "ch06.replay",
        "registers looked up with get",
        """def replay(order):
    memory, registers = 0, {}
    for thread in order:
        held = registers.get(thread)
        if held is None:
            registers[thread] = memory
        else:
            memory = held + 1
    return memory""",
    ),
    (
        "ch06.replay",
        "a set of those that have read",
        """def replay(order):
    counter, loaded, values = 0, set(), [0] * (max(order, default=-1) + 1)
    for thread in order:
        if thread in loaded:
            counter = values[thread] + 1
        else:
            loaded.add(thread)
            values[thread] = counter
    return counter""",
    ),
    (
        "ch06.needed",
        "nested conditions",
        """def needed(writer, reader):
    (block, thread), (other_block, other_thread) = writer, reader
    if block == other_block:
        if thread == other_thread:
            return "nothing"
        return "__syncwarp" if thread // 32 == other_thread // 32 else "__syncthreads"
    return "new launch\"""",
    ),
    (
        "ch06.needed",
        "from the strongest down",
        """def needed(writer, reader):
    if writer[0] != reader[0]:
        return "new launch"
    if writer[1] >> 5 != reader[1] >> 5:
        return "__syncthreads"
    return "__syncwarp" if writer[1] != reader[1] else "nothing\"""",
    ),
    (
        "ch06.passes",
        "counts in a list",
        """def passes(words):
    counts = [0] * 32
    for word in words:
        counts[word % 32] += 1
    return max(counts)""",
    ),
    (
        "ch06.passes",
        "a Counter",
        """from collections import Counter


def passes(words):
    return max(Counter(word & 31 for word in words).values())""",
    ),
]
