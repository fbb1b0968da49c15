extern "C" __global__
void exclusive(const int* x, int* out) {
int sum = 0; for (int i = 0; i < threadIdx.x; ++i) sum += x[i]; out[threadIdx.x] = sum;
}
