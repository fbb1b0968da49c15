extern "C" __global__
void grey(const float* planes, float* out, int n) {
for (int i = 0; i < n; ++i) out[i] = 0.25f * planes[i] + 0.5f * planes[n + i] + 0.25f * planes[2 * n + i];
}
