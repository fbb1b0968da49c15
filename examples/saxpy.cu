#include <cstdio>
#include <vector>

__global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

int main() {
    const int n = 10'000;
    std::vector<float> x(n, 1.0f), y(n, 2.0f);
    float *on_gpu[2];
    for (auto &each : on_gpu) cudaMalloc(&each, n * sizeof(float));
    cudaMemcpy(on_gpu[0], x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(on_gpu[1], y.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    saxpy<<<(n + 255) / 256, 256>>>(n, 3.0f, on_gpu[0], on_gpu[1]);
    cudaMemcpy(y.data(), on_gpu[1], n * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (float each : y) wrong += each != 5.0f;
    printf("%d of %d are wrong: %s\n", wrong, n, cudaGetErrorString(cudaGetLastError()));
    for (auto &each : on_gpu) cudaFree(each);
    return wrong > 0;
}
