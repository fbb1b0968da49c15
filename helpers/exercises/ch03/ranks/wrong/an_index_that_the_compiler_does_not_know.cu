#define EXCHANGE(p, q) { float smaller = fminf(p, q); q = fmaxf(p, q); p = smaller; }
extern "C" __global__ void ranks(const float* x, const int* k, float* out, int n) {
int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float m[4] = {x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]};
    for (int j = 1; j < 4; ++j)
        for (int at = j; at > 0 && m[at - 1] > m[at]; --at) {
            float larger = m[at - 1];
            m[at - 1] = m[at];
            m[at] = larger;
        }
    out[i] = m[k[i]];
}
