extern "C" __global__
void histogram(const int* values, int* counts, int n, int bins) {
int t = threadIdx.x; for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) counts[values[i]]++;
}
