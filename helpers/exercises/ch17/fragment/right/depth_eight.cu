#include <cuda_fp16.h>

__device__ unsigned pack(float low, float high) {
    half2 both = __floats2half2_rn(low, high);
    return *reinterpret_cast<unsigned*>(&both);
}

__device__ unsigned pair_at(const half* from) {
    return *reinterpret_cast<const unsigned*>(from);
}

__device__ void mma_eight(float (&c)[4], unsigned a0, unsigned a1, unsigned b) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a0), "r"(a1), "r"(b));
}

__device__ void mma(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

extern "C" __global__ __launch_bounds__(32)
void two_products(const half* __restrict__ q, const half* __restrict__ k, const half* __restrict__ v,
                  float* __restrict__ out) {
    int row = threadIdx.x / 4, pair = threadIdx.x % 4 * 2;
    q += blockIdx.x * 256 + row * 16 + pair;
    k += blockIdx.x * 256 + row * 16 + pair;
    v += blockIdx.x * 128 + pair * 8 + row;
    out += blockIdx.x * 128 + row * 8 + pair;

    unsigned a[4] = {pair_at(q), pair_at(q + 8 * 16), pair_at(q + 8), pair_at(q + 8 * 16 + 8)};
    float s[2][4] = {};
    for (int j = 0; j < 2; ++j)
        mma(s[j], a, pair_at(k + j * 8 * 16), pair_at(k + j * 8 * 16 + 8));

    float o[4] = {};
    for (int j = 0; j < 2; ++j)
        mma_eight(o, pack(s[j][0], s[j][1]), pack(s[j][2], s[j][3]), pack(v[64 * j], v[64 * j + 8]));
    *reinterpret_cast<float2*>(out) = make_float2(o[0], o[1]);
    *reinterpret_cast<float2*>(out + 64) = make_float2(o[2], o[3]);
}
