"""Wrong answers to the exercises of chapter 08, each written out whole."""

ROWS = [
    # key, what is wrong, source, name of the mistake
    (
        "ch08.sides",
        "odd and even swapped",
        """@cuda.jit
def sides(x, out):
    t, half = cuda.threadIdx.x, cuda.blockDim.x // 2
    even = t < half
    i = cuda.blockIdx.x * cuda.blockDim.x + (2 * t + 1 if even else 2 * (t - half))
    if i < x.size:
        v = x[i]
        if even:
            for k in range(64):
                v = 0.99 * v + 1.0
        else:
            for k in range(64):
                v = 1.01 * v - 1.0
        out[i] = v
""",
        "the sides are swapped",
    ),
    (
        "ch08.sides",
        "block offset forgotten",
        """@cuda.jit
def sides(x, out):
    t, half = cuda.threadIdx.x, cuda.blockDim.x // 2
    even = t < half
    i = 2 * t if even else 2 * (t - half) + 1
    if i < x.size:
        v = x[i]
        if even:
            for k in range(64):
                v = 0.99 * v + 1.0
        else:
            for k in range(64):
                v = 1.01 * v - 1.0
        out[i] = v
""",
        "every block has the same elements",
    ),
    (
        "ch08.sides",
        "first formula only",
        """@cuda.jit
def sides(x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        for k in range(64):
            v = 0.99 * v + 1.0
        out[i] = v
""",
        "one formula for all",
    ),
    (
        "ch08.sides",
        "both loops run for even (no else)",
        """@cuda.jit
def sides(x, out):
    t, half = cuda.threadIdx.x, cuda.blockDim.x // 2
    even = t < half
    i = cuda.blockIdx.x * cuda.blockDim.x + (2 * t if even else 2 * (t - half) + 1)
    if i < x.size:
        v = x[i]
        if even:
            for k in range(64):
                v = 0.99 * v + 1.0
        for k in range(64):
            v = 1.01 * v - 1.0
        out[i] = v
""",
        "one side goes through both loops",
    ),
    (
        "ch08.rows",
        "a warp a row",
        """extern "C" __global__
void row_sums(const int* first, const float* x, const int* order, float* out, int rows) {
    int lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
    for (int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32; r < rows; r += warps) {
        float s = 0;
        for (int k = first[r] + lane; k < first[r + 1]; k += 32) s += x[k];
        for (int d = 16; d; d /= 2) s += __shfl_down_sync(0xffffffff, s, d);
        if (lane == 0) out[r] = s;
    }
}
""",
        "many times the work",
    ),
    (
        "ch08.rows",
        "<= end",
        """extern "C" __global__
void row_sums(const int* first, const float* x, const int* order, float* out, int rows) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= rows) return;
    int row = order[t];
    float sum = 0;
    for (int k = first[row]; k <= first[row + 1]; ++k) sum += x[k];
    out[row] = sum;
}
""",
        "beyond the end of a row",
    ),
    (
        "ch08.rows",
        "misses last (end - 1)",
        """extern "C" __global__
void row_sums(const int* first, const float* x, const int* order, float* out, int rows) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= rows) return;
    int row = order[t];
    float sum = 0;
    for (int k = first[row]; k < first[row + 1] - 1; ++k) sum += x[k];
    out[row] = sum;
}
""",
        "the last element of a row is left out",
    ),
    (
        "ch08.rows",
        "first[order[t] + 1] as first[order[t+1]]",
        """extern "C" __global__
void row_sums(const int* first, const float* x, const int* order, float* out, int rows) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= rows) return;
    float sum = 0;
    for (int k = first[order[t]]; k < first[order[t + 1]]; ++k) sum += x[k];
    out[order[t]] = sum;
}
""",
        "an index has gone astray",
    ),
    (
        "ch08.rows",
        "sum uninitialised / int",
        """extern "C" __global__
void row_sums(const int* first, const float* x, const int* order, float* out, int rows) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= rows) return;
    int row = order[t];
    int sum = 0;
    for (int k = first[row]; k < first[row + 1]; ++k) sum += x[k];
    out[row] = sum;
}
""",
        "the sums are whole numbers",
    ),
    (
        "ch08.rows",
        "empty rows not written",
        """extern "C" __global__
void row_sums(const int* first, const float* x, const int* order, float* out, int rows) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= rows) return;
    int row = order[t];
    float sum = 0;
    for (int k = first[row]; k < first[row + 1]; ++k) { sum += x[k]; out[row] = sum; }
}
""",
        "an empty row has a sum as well",
    ),
    (
        "ch08.rows",
        "sum in out",
        """extern "C" __global__
void row_sums(const int* first, const float* x, const int* order, float* out, int rows) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= rows) return;
    int row = order[t];
    for (int k = first[row]; k < first[row + 1]; ++k) out[row] += x[k];
}
""",
        "out is added to before it is written",
    ),
    (
        "ch08.table",
        "scale forgotten (x + shift)",
        """__device__ const float shift[8] = {1.0f, -2.0f, 4.0f, -1.0f, 3.0f, 0.0f, -3.0f, 2.0f};
extern "C" __global__ void table(const int* kind, const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] + shift[kind[i]];
}
""",
        "the scale is forgotten",
    ),
    (
        "ch08.table",
        "index by i % 8",
        """__device__ const float scale[8] = {2.0f, 3.0f, 0.5f, 1.5f, 4.0f, 0.25f, 5.0f, 6.0f};
__device__ const float shift[8] = {1.0f, -2.0f, 4.0f, -1.0f, 3.0f, 0.0f, -3.0f, 2.0f};
extern "C" __global__ void table(const int* kind, const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = scale[i % 8] * x[i] + shift[i % 8];
}
""",
        "the place is looked up, not the kind",
    ),
    (
        "ch08.table",
        "int tables",
        """__device__ const int scale[8] = {2, 3, 0, 1, 4, 0, 5, 6};
__device__ const int shift[8] = {1, -2, 4, -1, 3, 0, -3, 2};
extern "C" __global__ void table(const int* kind, const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = scale[kind[i]] * x[i] + shift[kind[i]];
}
""",
        "some kinds are right, and others not",
    ),
    (
        "ch08.table",
        "scale and shift swapped",
        """__device__ const float scale[8] = {2.0f, 3.0f, 0.5f, 1.5f, 4.0f, 0.25f, 5.0f, 6.0f};
__device__ const float shift[8] = {1.0f, -2.0f, 4.0f, -1.0f, 3.0f, 0.0f, -3.0f, 2.0f};
extern "C" __global__ void table(const int* kind, const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = shift[kind[i]] * x[i] + scale[kind[i]];
}
""",
        "scale and shift are swapped",
    ),
    (
        "ch08.table",
        "kind used as float / x index",
        """__device__ const float scale[8] = {2.0f, 3.0f, 0.5f, 1.5f, 4.0f, 0.25f, 5.0f, 6.0f};
__device__ const float shift[8] = {1.0f, -2.0f, 4.0f, -1.0f, 3.0f, 0.0f, -3.0f, 2.0f};
extern "C" __global__ void table(const int* kind, const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = scale[i] * x[i] + shift[i];
}
""",
        "an index has gone astray",
    ),
    (
        "ch08.sides",
        "twice the index, without asking",
        """@cuda.jit
def sides(x, out):
    i = cuda.grid(1)
    if i < x.size:
        j = 2 * i
        v = x[j]
        if i % 2 == 0:
            for k in range(64):
                v = 0.99 * v + 1.0
        else:
            for k in range(64):
                v = 1.01 * v - 1.0
        out[j] = v
""",
        "an index has gone astray",
    ),
]
