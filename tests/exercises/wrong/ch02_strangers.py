"""More wrong answers to the exercises of chapter 02, by other hands."""

ROWS = [
    (
        "ch02.blocks",
        "swapped",
        """import math
def blocks(n, threads):
    return -(-threads//n)""",
        "threads divided by elements",
    ),
    (
        "ch02.blocks",
        "parens",
        """import math
def blocks(n, threads):
    return n + threads - 1 // threads""",
        "brackets are missing",
    ),
    (
        "ch02.blocks",
        "parens2",
        """import math
def blocks(n, threads):
    return n + (threads - 1) // threads""",
        "brackets are missing",
    ),
    (
        "ch02.blocks",
        "n-1//t",
        """import math
def blocks(n, threads):
    return (n-1)//threads""",
        "the last block is lost",
    ),
    (
        "ch02.blocks",
        "+1 for small",
        """import math
def blocks(n, threads):
    return max(1, n//threads)""",
        "at least one block, and else rounded down",
    ),
    (
        "ch02.blocks",
        "128 hard",
        """import math
def blocks(n, threads):
    return (n+127)//128""",
        "a block size of your own",
    ),
    (
        "ch02.blocks",
        "true div",
        """import math
def blocks(n, threads):
    return (n + threads - 1)/threads""",
        "a fraction of a block",
    ),
    (
        "ch02.blocks",
        "if no else",
        """import math
def blocks(n, threads):
    if n % threads:
        return n//threads + 1""",
        "nothing is returned",
    ),
    (
        "ch02.blocks",
        "int+0.5",
        """import math
def blocks(n, threads):
    return int(n/threads+0.5)""",
        "rounded to the nearest",
    ),
    (
        "ch02.bias",
        "in multiplied",
        """{int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < columns && y < rows) out[y*columns+x] = in[y*columns+x] * bias[x]; }""",
        "multiplied by the bias",
    ),
    (
        "ch02.bias",
        "bias idx flat",
        """{int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < columns && y < rows) out[y*columns+x] = in[y*columns+x] + bias[y*columns+x]; }""",
        "the index leads out of an array",
    ),
    (
        "ch02.bias",
        "pitch gridDim*blockDim",
        """{int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int w = gridDim.x*blockDim.x; if (x < columns && y < rows) out[y*w+x] = in[y*w+x] + bias[x]; }""",
        "the index leads out of an array",
    ),
    (
        "ch02.bias",
        "bias[0]",
        """{int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < columns && y < rows) out[y*columns+x] = in[y*columns+x] + *bias; }""",
        "the bias of another column",
    ),
    (
        "ch02.bias",
        "bias[threadIdx.x]",
        """{int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < columns && y < rows) out[y*columns+x] = in[y*columns+x] + bias[threadIdx.x]; }""",
        "the bias of another column",
    ),
    (
        "ch02.bias",
        "transposed store",
        """{int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < columns && y < rows) out[x*rows+y] = in[y*columns+x] + bias[x]; }""",
        "stored as the transposed matrix",
    ),
    (
        "ch02.bias",
        "bias only",
        """{int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < columns && y < rows) out[y*columns+x] = bias[x]; }""",
        "the matrix is left out",
    ),
    (
        "ch02.stride",
        "starts at block",
        """@cuda.jit
def square(x, out):
    for i in range(cuda.blockIdx.x, x.size, cuda.gridDim.x):
        out[i] = x[i]*x[i]""",
        "many threads come to one element",
    ),
    (
        "ch02.stride",
        "double",
        """@cuda.jit
def square(x, out):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = x[i]*2""",
        "doubled, not squared",
    ),
    (
        "ch02.stride",
        "size-1",
        """@cuda.jit
def square(x, out):
    for i in range(cuda.grid(1), x.size-1, cuda.gridsize(1)):
        out[i] = x[i]*x[i]""",
        "the last element is left out",
    ),
    (
        "ch02.stride",
        "fixed 8 rounds",
        """@cuda.jit
def square(x, out):
    for r in range(8):
        i = cuda.grid(1)+r*128
        if i < x.size:
            out[i] = x[i]*x[i]""",
        "a fixed number of turns",
    ),
    (
        "ch02.stride",
        "four a thread",
        """@cuda.jit
def square(x, out):
    for r in range(4):
        i = cuda.grid(1)*4+r
        if i < x.size:
            out[i] = x[i]*x[i]""",
        "a fixed number of turns",
    ),
    (
        "ch02.stride",
        "block 0 only",
        """@cuda.jit
def square(x, out):
    if cuda.blockIdx.x == 0:
        for i in range(cuda.threadIdx.x, x.size, cuda.blockDim.x):
            out[i] = x[i]*x[i]""",
        "few threads do all the work",
    ),
    (
        "ch02.stride",
        "warp 0 of each",
        """@cuda.jit
def square(x, out):
    if cuda.threadIdx.x < 32:
        for i in range(cuda.blockIdx.x*32+cuda.threadIdx.x, x.size, 64):
            out[i] = x[i]*x[i]""",
        "few threads do all the work",
    ),
    (
        "ch02.stride",
        "accumulates",
        """@cuda.jit
def square(x, out):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] += x[i]*x[i]""",
        "nothing is written yet",
    ),
]
