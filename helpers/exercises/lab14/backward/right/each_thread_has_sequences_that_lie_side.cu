extern "C" __global__ void backward(const float* kept, const float* c_old, const float* d_out, const float* d_next,
                                           const float* d_c, float* left, int batch, int hidden) {
    __shared__ float part[5][256];
    int unit = 32 * blockIdx.x + threadIdx.x, number = 32 * threadIdx.y + threadIdx.x;
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0;
    int each = (batch + 7) / 8, first = each * threadIdx.y, end = min(first + each, batch);
    for (int row = first; unit < hidden && row < end; ++row) {
        float i = kept[row * 6 * hidden + unit], f = kept[(row * 6 + 1) * hidden + unit];
        float g = kept[(row * 6 + 2) * hidden + unit], o = kept[(row * 6 + 3) * hidden + unit];
        float t = tanhf(f * c_old[row * hidden + unit] + i * g);
        float dh = d_next[row * hidden + unit] + d_out[row * hidden + unit];
        float dc = fmaf(dh * o, fmaf(-t, t, 1.0f), d_c[row * hidden + unit]);
        float d_i = dc * g * (i - i * i), d_f = dc * c_old[row * hidden + unit] * (f - f * f);
        float d_g = dc * i * (1 + g) * (1 - g), d_o = dh * t * (o - o * o);
        float* mine = left + row * 5 * hidden + unit;
        mine[0] = d_i; mine[hidden] = d_f; mine[2 * hidden] = d_g; mine[3 * hidden] = d_o; mine[4 * hidden] = dc * f;
        s0 += d_i; s1 += d_f; s2 += d_g; s3 += d_o; s4 += dc * f;
    }
    part[0][number] = s0; part[1][number] = s1; part[2][number] = s2; part[3][number] = s3; part[4][number] = s4;
    __syncthreads();
    if (number < 32 && unit < hidden)
        for (int n = 0; n < 5; ++n) {
            float all = 0;
            for (int v = 7; v >= 0; --v) all += part[n][32 * v + number];
            left[(batch * 5 + n) * hidden + unit] = all;
        }
}
