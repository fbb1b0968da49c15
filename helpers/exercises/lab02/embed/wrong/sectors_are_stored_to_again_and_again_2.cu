extern "C" __global__
void embed(const int* token, const float* table, float* out, int tokens, int width) {
int s = blockIdx.x * blockDim.x + threadIdx.x; if (s == 0) for (int t = 0; t < tokens; ++t) for (int k = 0; k < width; ++k) out[t * width + k] = token[t] < 0 ? 0 : table[token[t] * width + k];
}
