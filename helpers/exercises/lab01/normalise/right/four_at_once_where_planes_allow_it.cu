extern "C" __global__ void normalise(const float* x, const float* mean, const float* scale,
    float* out, int channels, int pixels, int n){int i = blockIdx.x * blockDim.x +
    threadIdx.x; int step = gridDim.x * blockDim.x; bool ok = pixels % 4 == 0; if (ok) { const
    float4* x4 = (const float4*)x; float4* o4 = (float4*)out; for (; i < n / 4; i += step) {
    int c = 4 * i / pixels % channels; float m = mean[c], s = scale[c]; float4 v = x4[i]; v.x
    = (v.x - m) * s; v.y = (v.y - m) * s; v.z = (v.z - m) * s; v.w = (v.w - m) * s; o4[i] = v;
    } } else for (; i < n; i += step) { int c = i / pixels % channels; out[i] = (x[i] -
    mean[c]) * scale[c]; }}
