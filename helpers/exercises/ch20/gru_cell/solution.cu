extern "C" __global__
void gru_cell(const float* xw, const float* hu, const float* h_old, float* out, int batch, int hidden) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < batch * hidden) {
        int first = (i / hidden) * 3 * hidden + i % hidden;
        float r = 1 / (1 + expf(-(xw[first] + hu[first])));
        float z = 1 / (1 + expf(-(xw[first + hidden] + hu[first + hidden])));
        float n = tanhf(xw[first + 2 * hidden] + r * hu[first + 2 * hidden]);
        out[i] = (1 - z) * n + z * h_old[i];
    }
}
