extern "C" __global__
void rnn_cell(const float* xw, const float* hu, const float* bias, float* out, int batch, int hidden) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < batch * hidden)
        out[i] = tanhf(xw[i] + hu[i] + bias[i % hidden]);
}
