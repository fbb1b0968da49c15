extern "C" __global__ void planes(const float* records, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
if (i < n) reinterpret_cast<float4*>(out)[i] = reinterpret_cast<const float4*>(records)[i];
}
