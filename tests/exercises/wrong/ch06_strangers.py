"""More wrong answers to the exercises of chapter 06, by other hands."""

ROWS = [
    (
        "ch06.histogram",
        "init by thread 0, no barrier",
        """{ __shared__ int s[64]; int t=threadIdx.x; if(t==0) for(int b=0;b<64;++b) s[b]=0;
    for(int i=blockIdx.x*blockDim.x+t;i<n;i+=blockDim.x*gridDim.x) atomicAdd(&s[values[i]],1);
    __syncthreads(); if(t<bins) atomicAdd(counts+t,s[t]); }""",
        "a barrier is missing",
    ),
    (
        "ch06.histogram",
        "each thread all values",
        """{ __shared__ int s[64]; int t=threadIdx.x; if(t<64) s[t]=0; __syncthreads(); for(int i=0;i<n;
    ++i) atomicAdd(&s[values[i]],1); __syncthreads(); if(t<bins) atomicAdd(counts+t,s[t]); }""",
        "counted many times over",
    ),
    (
        "ch06.histogram",
        "every thread adds all bins",
        """{ __shared__ int s[64]; int t=threadIdx.x; if(t<64) s[t]=0; __syncthreads();
    for(int i=blockIdx.x*blockDim.x+t;i<n;i+=blockDim.x*gridDim.x) atomicAdd(&s[values[i]],1);
    __syncthreads(); for(int b=0;b<bins;++b) atomicAdd(counts+b,s[b]); }""",
        "counted many times over",
    ),
    (
        "ch06.histogram",
        "adds the value",
        """{ __shared__ int s[64]; int t=threadIdx.x; if(t<64) s[t]=0; __syncthreads();
    for(int i=blockIdx.x*blockDim.x+t;i<n;
    i+=blockDim.x*gridDim.x) atomicAdd(&s[values[i]],values[i]); __syncthreads();
    if(t<bins) atomicAdd(counts+t,s[t]); }""",
        "the values are added up",
    ),
    (
        "ch06.histogram",
        "s[bins] dynamic",
        """{ extern __shared__ int s[]; int t=threadIdx.x; if(t<bins) s[t]=0; __syncthreads();
    for(int i=blockIdx.x*blockDim.x+t;i<n;i+=blockDim.x*gridDim.x) atomicAdd(&s[values[i]],1);
    __syncthreads(); if(t<bins) atomicAdd(counts+t,s[t]); }""",
        "shared memory that the launch does not give",
    ),
    (
        "ch06.histogram",
        "guard return before barrier",
        """{ __shared__ int s[64]; int t=threadIdx.x; int i=blockIdx.x*blockDim.x+t; if(i>=n) return;
    if(t<64) s[t]=0; __syncthreads(); for(;i<n;i+=blockDim.x*gridDim.x) atomicAdd(&s[values[i]],1);
    __syncthreads(); if(t<bins) atomicAdd(counts+t,s[t]); }""",
        "threads that never come to the barrier",
    ),
    (
        "ch06.histogram",
        "barrier in loop",
        """{ __shared__ int s[64]; int t=threadIdx.x; if(t<64) s[t]=0; __syncthreads();
    for(int i=blockIdx.x*blockDim.x+t;i<n;i+=blockDim.x*gridDim.x){ atomicAdd(&s[values[i]],1);
    __syncthreads(); } if(t<bins) atomicAdd(counts+t,s[t]); }""",
        "threads that never come to the barrier",
    ),
    (
        "ch06.histogram",
        "only block zero adds",
        """{ __shared__ int s[64]; int t=threadIdx.x; if(t<64) s[t]=0; __syncthreads();
    for(int i=blockIdx.x*blockDim.x+t;i<n;i+=blockDim.x*gridDim.x) atomicAdd(&s[values[i]],1);
    __syncthreads(); if(blockIdx.x==0&&t<bins) atomicAdd(counts+t,s[t]); }""",
        "the counts of one block alone",
    ),
    (
        "ch06.histogram",
        "atomicExch",
        """{ __shared__ int s[64]; int t=threadIdx.x; if(t<64) s[t]=0; __syncthreads();
    for(int i=blockIdx.x*blockDim.x+t;i<n;i+=blockDim.x*gridDim.x) atomicAdd(&s[values[i]],1);
    __syncthreads(); if(t<bins) atomicExch(counts+t,s[t]); }""",
        "the counts of one block alone",
    ),
    (
        "ch06.histogram",
        "sets global counts to 0",
        """{ __shared__ int s[64]; int t=threadIdx.x; if(t<bins) { s[t]=0; counts[t]=0; } __syncthreads();
    for(int i=blockIdx.x*blockDim.x+t;i<n;i+=blockDim.x*gridDim.x) atomicAdd(&s[values[i]],1);
    __syncthreads(); if(t<bins) atomicAdd(counts+t,s[t]); }""",
        "counts are set to zero by every block",
    ),
    (
        "ch06.argmax",
        "an if in front of the atomic",
        """import numpy as np

@cuda.jit
def argmax(x, out):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        key = np.int64(x[i]) << 32 | (0x7FFFFFFF - i)
        if key > out[0]:
            cuda.atomic.max(out, 0, key)""",
        "read beside an atomic",
    ),
    (
        "ch06.argmax",
        "thread index only",
        """import numpy as np

@cuda.jit
def argmax(x, out):
    best = cuda.shared.array(1, "int64")
    t = cuda.threadIdx.x
    if t == 0:
        best[0] = -(1 << 63)
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.max(best, 0, np.int64(x[i]) << 32 | (0x7FFFFFFF - i))
    cuda.syncthreads()
    if t == 0:
        cuda.atomic.max(out, 0, best[0])""",
        "one element a thread",
    ),
    (
        "ch06.argmax",
        "out stored by last",
        """import numpy as np

@cuda.jit
def argmax(x, out):
    best = cuda.shared.array(1, "int64")
    if cuda.threadIdx.x == 0:
        best[0] = -(1 << 63)
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.max(best, 0, np.int64(x[i]) << 32 | (0x7FFFFFFF - i))
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        out[0] = best[0]""",
        "the last block wins",
    ),
    (
        "ch06.argmax",
        "tree barrier in if",
        """import numpy as np

@cuda.jit
def argmax(x, out):
    s = cuda.shared.array(128, "int64")
    t = cuda.threadIdx.x
    m = np.int64(-(1 << 63))
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        m = max(m, np.int64(x[i]) << 32 | (0x7FFFFFFF - i))
    s[t] = m
    cuda.syncthreads()
    h = 64
    while h > 0:
        if t < h:
            s[t] = max(s[t], s[t+h])
            cuda.syncthreads()
        h //= 2
    if t == 0:
        cuda.atomic.max(out, 0, s[0])""",
        "threads that never come to the barrier",
    ),
    (
        "ch06.argmax",
        "place only",
        """import numpy as np

@cuda.jit
def argmax(x, out):
    best = cuda.shared.array(1, "int64")
    if cuda.threadIdx.x == 0:
        best[0] = -(1 << 63)
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.max(best, 0, np.int64(0x7FFFFFFF - i))
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.atomic.max(out, 0, best[0])""",
        "the place without its value",
    ),
    (
        "ch06.argmax",
        "key uses 0xFFFFFFFF - i",
        """import numpy as np

@cuda.jit
def argmax(x, out):
    best = cuda.shared.array(1, "int64")
    if cuda.threadIdx.x == 0:
        best[0] = -(1 << 63)
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.max(best, 0, np.int64(x[i]) << 32 | (0xFFFFFFFF - i))
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.atomic.max(out, 0, best[0])""",
        "another lower half",
    ),
]
