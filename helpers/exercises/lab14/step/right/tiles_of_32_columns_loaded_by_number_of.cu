__device__ float sigmoid(float z) { return 1 / (1 + expf(-z)); }
extern "C" __global__ void step(const float* from_input, const float* U, const float* state, const int* lengths,
                                float* fresh, int t, int batch, int hidden) {
    int x = threadIdx.x, y = threadIdx.y, unit = 16 * blockIdx.x + x, row = 16 * blockIdx.y + y;
    __shared__ float h_tile[16][33], u[64][33];
    int number = 16 * y + x;
    float z0 = 0, z1 = 0, z2 = 0, z3 = 0;
    for (int k0 = 0; k0 < hidden; k0 += 32) {
        int k = k0 + number % 32;
        for (int r = number / 32; r < 16; r += 8) {
            int other = 16 * blockIdx.y + r;
            h_tile[r][number % 32] = other < batch && k < hidden ? state[2 * other * hidden + k] : 0.0f;
        }
        for (int r = number / 32; r < 64; r += 8) {
            int other = 16 * blockIdx.x + r % 16;
            u[r][number % 32] = other < hidden && k < hidden ? U[(r / 16 * hidden + other) * hidden + k] : 0.0f;
        }
        __syncthreads();
        for (int j = 0; j < 32; ++j) {
            z0 += h_tile[y][j] * u[x][j];
            z1 += h_tile[y][j] * u[16 + x][j];
            z2 += h_tile[y][j] * u[32 + x][j];
            z3 += h_tile[y][j] * u[48 + x][j];
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
