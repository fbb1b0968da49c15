extern "C" __global__ void backward(const float* kept, const float* c_old, const float* d_out, const float* d_next,
                                           const float* d_c, float* left, int batch, int hidden) {
    __shared__ float part[8][5][33];
    int x = threadIdx.x, y = threadIdx.y, unit = 32 * blockIdx.x + x;
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0;
    for (int row = y; row < batch && unit < hidden; row += 8) {
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
    part[y][0][x] = s0; part[y][1][x] = s1; part[y][2][x] = s2; part[y][3][x] = s3; part[y][4][x] = s4;
    __syncthreads();
    for (int d = 4; d > 0; d /= 2) {
        if (y < d)
            for (int n = 0; n < 5; ++n) part[y][n][x] += part[y + d][n][x];
        __syncthreads();
    }
    if (y < 5 && unit < hidden) left[(batch * 5 + y) * hidden + unit] = part[0][y][x];
}
