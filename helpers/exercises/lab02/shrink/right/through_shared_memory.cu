extern "C" __global__ void shrink(const float* x, float* out, int rows, int columns, int
    pitch, int out_pitch){__shared__ float s[8][65]; int ty = threadIdx.y, tx = threadIdx.x, y
    = blockIdx.y * 8 + ty, c0 = blockIdx.x * 64; if (y < rows) for (int k = tx; k < 64; k +=
    32) if (c0 + k < columns) s[ty][k] = x[y * pitch + c0 + k]; __syncthreads(); int c =
    blockIdx.x * 32 + tx; if (y < rows && c < columns / 2) out[y * out_pitch + c] = 0.5f *
    (s[ty][2 * tx] + s[ty][2 * tx + 1]);}
