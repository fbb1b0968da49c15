extern "C" __global__ void shrink(const float* x, float* out, int rows, int columns, int
    pitch, int out_pitch){int c = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y *
    blockDim.y + threadIdx.y;
int lane = threadIdx.x, c0 = blockIdx.x * 64; float a = 0, b = 0; if (y < rows) { if (c0 +
    lane < columns) a = x[y * pitch + c0 + lane]; if (c0 + 32 + lane < columns) b = x[y *
    pitch + c0 + 32 + lane]; } float sa = a + __shfl_down_sync(~0u, a, 1), sb = b +
    __shfl_down_sync(~0u, b, 1); float lo = __shfl_sync(~0u, sa, 2 * lane & 31), hi =
    __shfl_sync(~0u, sb, 2 * lane & 31); float v = lane < 16 ? lo : hi; if (y < rows && c <
    columns / 2) out[y * out_pitch + c] = 0.5f * v;}
