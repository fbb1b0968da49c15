"""More wrong answers to the exercises of chapter 05, by other hands."""

ROWS = [
    (
        "ch05.transpose",
        "copy not transposed",
        """@cuda.jit
def transpose(x, out):
    c, r = cuda.grid(2)
    if r < out.shape[0] and c < out.shape[1]:
        out[r, c] = x[r, c]""",
        "copied, and not turned",
    ),
    (
        "ch05.transpose",
        "int32 tile",
        """@cuda.jit
def transpose(x, out):
    tile = cuda.shared.array((32, 33), "int32")
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        tile[ty, tx] = x[row, column]
    cuda.syncthreads()
    row, column = 32 * cuda.blockIdx.x + ty, 32 * cuda.blockIdx.y + tx
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = tile[tx, ty]""",
        "the fractions are lost",
    ),
    (
        "ch05.transpose",
        "gridDim for blockIdx",
        """@cuda.jit
def transpose(x, out):
    tile = cuda.shared.array((32, 33), "float32")
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        tile[ty, tx] = x[row, column]
    cuda.syncthreads()
    row, column = 32 * cuda.gridDim.x + ty, 32 * cuda.blockIdx.y + tx
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = tile[tx, ty]""",
        "nothing is written yet",
    ),
    (
        "ch05.stencil",
        "halo right index off",
        """{ __shared__ float s[136]; int t=threadIdx.x, i=blockIdx.x*128+t; s[t+4]= i<n? x[i]:0.f; if(t<4){
    int l=i-4; s[t]= l>=0? x[l]:0.f; int r=i+128; s[t+131]= r<n? x[r]:0.f; } __syncthreads();
    if(i<n){ float a=0; for(int k=-4;k<=4;++k) a+=s[t+4+k]; out[i]=a; } }""",
        "several threads fill one element",
    ),
    (
        "ch05.stencil",
        "mean",
        """{
    __shared__ float tile[136];
    int first = blockIdx.x * 128, t = threadIdx.x;
    for (int j = t; j < 136; j += 128) {
        int i = first - 4 + j;
        tile[j] = 0 <= i && i < n ? x[i] : 0;
    }
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 9; ++k) sum += tile[t + k];
    if (first + t < n) out[first + t] = sum / 9;
}""",
        "a mean, not a sum",
    ),
    (
        "ch05.stencil",
        "weights none -own",
        """{
    __shared__ float tile[136];
    int first = blockIdx.x * 128, t = threadIdx.x;
    for (int j = t; j < 136; j += 128) {
        int i = first - 4 + j;
        tile[j] = 0 <= i && i < n ? x[i] : 0;
    }
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 9; ++k) if (k != 4) sum += tile[t + k];
    if (first + t < n) out[first + t] = sum;
}""",
        "its own element is left out",
    ),
    (
        "ch05.stencil",
        "reach 3",
        """{
    __shared__ float tile[136];
    int first = blockIdx.x * 128, t = threadIdx.x;
    for (int j = t; j < 136; j += 128) {
        int i = first - 4 + j;
        tile[j] = 0 <= i && i < n ? x[i] : 0;
    }
    __syncthreads();
    float sum = 0;
    for (int k = 1; k < 8; ++k) sum += tile[t + k];
    if (first + t < n) out[first + t] = sum;
}""",
        "a window of the wrong length or off centre",
    ),
    (
        "ch05.stencil",
        "j+=127",
        """{
    __shared__ float tile[136];
    int first = blockIdx.x * 128, t = threadIdx.x;
    for (int j = t; j < 136; j += 64) {
        int i = first - 4 + j;
        tile[j] = 0 <= i && i < n ? x[i] : 0;
    }
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 9; ++k) sum += tile[t + k];
    if (first + t < n) out[first + t] = sum;
}""",
        "more is loaded than the tile",
    ),
    (
        "ch05.stencil",
        "thread0 fills",
        """{
    __shared__ float tile[136];
    int first = blockIdx.x * 128, t = threadIdx.x;
    for (int j = 0; j < 136 && t == 0; ++j) {
        int i = first - 4 + j;
        tile[j] = 0 <= i && i < n ? x[i] : 0;
    }
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 9; ++k) sum += tile[t + k];
    if (first + t < n) out[first + t] = sum;
}""",
        "more is loaded than the tile",
    ),
    (
        "ch05.stencil",
        "tile in double",
        """{
    __shared__ double tile[136];
    int first = blockIdx.x * 128, t = threadIdx.x;
    for (int j = t; j < 136; j += 128) {
        int i = first - 4 + j;
        tile[j] = 0 <= i && i < n ? x[i] : 0;
    }
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 9; ++k) sum += tile[t + k];
    if (first + t < n) out[first + t] = sum;
}""",
        "the tile holds doubles",
    ),
    (
        "ch05.stencil",
        "out accumulates",
        """{
    __shared__ float tile[136];
    int first = blockIdx.x * 128, t = threadIdx.x;
    for (int j = t; j < 136; j += 128) {
        int i = first - 4 + j;
        tile[j] = 0 <= i && i < n ? x[i] : 0;
    }
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 9; ++k) sum += tile[t + k];
    if (first + t < n) out[first + t] += sum;
}""",
        "added to what the output held",
    ),
    (
        "ch05.matmul",
        "float64 tiles",
        """@cuda.jit
def matmul(a, b, c):
    mine, yours = cuda.shared.array((16, 16), "float64"), cuda.shared.array((16, 16), "float64")
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
        "the tiles hold doubles",
    ),
    (
        "ch05.matmul",
        "accumulate into c",
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
        for j in range(16):
            total += mine[y, j] * yours[j, x]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] += total""",
        "added to what the output held",
    ),
    (
        "ch05.matmul",
        "= instead of +=",
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
        for j in range(16):
            total = mine[y, j] * yours[j, x]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total""",
        "only the last product counts",
    ),
]
