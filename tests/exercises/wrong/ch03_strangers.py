"""More wrong answers to the exercises of chapter 03, by other hands."""

ROWS = [
    (
        "ch03.ranks",
        "ranks w/o ties",
        """{int i = blockIdx.x*blockDim.x+threadIdx.x; if (i >= n) return;
    float a=x[4*i],b=x[4*i+1],c=x[4*i+2],d=x[4*i+3]; int ra=(b<a)+(c<a)+(d<a),
    rb=(a<b)+(c<b)+(d<b), rc=(a<c)+(b<c)+(d<c), rd=(a<d)+(b<d)+(c<d); int w=k[i];
    if(ra==w) out[i]=a; if(rb==w) out[i]=b; if(rc==w) out[i]=c; if(rd==w) out[i]=d; }""",
        "equal values are left out",
    ),
    (
        "ch03.table",
        "filled but not used",
        """@cuda.jit
def look_up(which, table, out):
    s = cuda.shared.array(256, "float32")
    i, t = cuda.grid(1), cuda.threadIdx.x
    for k in range(t, 256, 128):
        s[k] = table[k]
    cuda.syncthreads()
    if i < out.size:
        out[i] = table[which[i]]""",
        "more is loaded than the table",
    ),
    (
        "ch03.table",
        "s[i]",
        """@cuda.jit
def look_up(which, table, out):
    s = cuda.shared.array(256, "float32")
    i, t = cuda.grid(1), cuda.threadIdx.x
    for k in range(t, 256, 128):
        s[k] = table[k]
    cuda.syncthreads()
    if i < out.size:
        out[i] = s[t]""",
        "`which` is not used",
    ),
    (
        "ch03.table",
        "which as values",
        """@cuda.jit
def look_up(which, table, out):
    s = cuda.shared.array(256, "int32")
    i, t = cuda.grid(1), cuda.threadIdx.x
    for k in range(t, 256, 128):
        s[k] = table[k]
    cuda.syncthreads()
    if i < out.size:
        out[i] = s[which[i]]""",
        "the fractions are lost",
    ),
    (
        "ch03.table",
        "all fill everything",
        """@cuda.jit
def look_up(which, table, out):
    s = cuda.shared.array(256, "float32")
    i, t = cuda.grid(1), cuda.threadIdx.x
    for k in range(256):
        s[k] = table[k]
    cuda.syncthreads()
    if i < out.size:
        out[i] = s[which[i]]""",
        "every thread fills the whole table",
    ),
    (
        "ch03.table",
        "stride step 1",
        """@cuda.jit
def look_up(which, table, out):
    s = cuda.shared.array(256, "float32")
    i, t = cuda.grid(1), cuda.threadIdx.x
    for k in range(t, 256):
        s[k] = table[k]
    cuda.syncthreads()
    if i < out.size:
        out[i] = s[which[i]]""",
        "several threads fill one entry",
    ),
    (
        "ch03.bytes",
        "shared off chip",
        """def bytes_of_block(threads, registers, shared, local):
    return 4*threads*registers, shared + threads*local""",
        "shared memory counted as off chip",
    ),
    (
        "ch03.bytes",
        "registers off chip",
        """def bytes_of_block(threads, registers, shared, local):
    return shared, 4*threads*registers + threads*local""",
        "registers counted as off chip",
    ),
    (
        "ch03.bytes",
        "reg 8 bytes",
        """def bytes_of_block(threads, registers, shared, local):
    return 8*threads*registers + shared, threads*local""",
        "a register counted as eight bytes",
    ),
    (
        "ch03.bytes",
        "per thread",
        """def bytes_of_block(threads, registers, shared, local):
    return 4*registers + shared, local""",
        "that is one thread's",
    ),
    (
        "ch03.bytes",
        "all *4",
        """def bytes_of_block(threads, registers, shared, local):
    return 4*(threads*registers + shared), 4*threads*local""",
        "bytes counted as words",
    ),
    (
        "ch03.bytes",
        "local both",
        """def bytes_of_block(threads, registers, shared, local):
    return threads*(4*registers+local) + shared, threads*local""",
        "local memory counted twice",
    ),
    (
        "ch03.bytes",
        "three",
        """def bytes_of_block(threads, registers, shared, local):
    return 4*threads*registers, shared, threads*local""",
        "not a pair of numbers",
    ),
    (
        "ch03.bytes",
        "no shared",
        """def bytes_of_block(threads, registers, shared, local):
    return 4*threads*registers, threads*local""",
        "one of the three is left out",
    ),
]
