__device__ float sigmoid(float z) { return 1 / (1 + expf(-z)); }
extern "C" __global__ void step(const float* from_input, const float* U, const float* state, const int* lengths,
                                float* fresh, int t, int batch, int hidden) {
    int x = threadIdx.x, y = threadIdx.y, unit = 16 * blockIdx.x + x, row = 16 * blockIdx.y + y;
    __shared__ float h_tile[16][17], u[4][16][17];
    float z0 = 0, z1 = 0, z2 = 0, z3 = 0;
    for (int k0 = 0; k0 < hidden; k0 += 16) {
        bool column = k0 + x < hidden;
        h_tile[y][x] = column && row < batch ? state[2 * row * hidden + k0 + x] : 0.0f;
        for (int n = 0; n < 4; ++n)
            u[n][x][y] = column && 16 * blockIdx.x + y < hidden
                       ? U[(n * hidden + 16 * blockIdx.x + y) * hidden + k0 + x] : 0.0f;
        __syncthreads();
        for (int k = 0; k < 16; ++k) {
            float mine = h_tile[y][k];
            z0 = fmaf(mine, u[0][k][x], z0); z1 = fmaf(mine, u[1][k][x], z1);
            z2 = fmaf(mine, u[2][k][x], z2); z3 = fmaf(mine, u[3][k][x], z3);
        }
        __syncthreads();
    }
    if (row < batch && unit < hidden) {
        float h, c = state[(2 * row + 1) * hidden + unit];
        if (lengths[row] > t) {
            const float* more = from_input + 4 * row * hidden + unit;
            c = sigmoid(z1 + more[hidden]) * c + sigmoid(z0 + more[0]) * tanhf(z2 + more[2 * hidden]);
            h = sigmoid(z3 + more[3 * hidden]) * tanhf(c);
        } else
            h = state[2 * row * hidden + unit];
        fresh[2 * row * hidden + unit] = h;
        fresh[(2 * row + 1) * hidden + unit] = c;
    }
}
