extern "C" __global__
void scale(const float* x, float* out, int n) {
int all = gridDim.x * blockDim.x, run = (n + all - 1) / all, first = (blockIdx.x * blockDim.x + threadIdx.x) * run;
for (int i = first; i < min(n, first + run); ++i) out[i] = 1.5f * x[i];
}
