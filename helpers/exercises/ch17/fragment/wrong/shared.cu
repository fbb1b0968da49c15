#include <cuda_fp16.h>

__device__ unsigned pack(float low, float high) {
    half2 both = __floats2half2_rn(low, high);
    return *reinterpret_cast<unsigned*>(&both);
}

__device__ unsigned pair_at(const half* from) {
    return *reinterpret_cast<const unsigned*>(from);
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

    __shared__ half weights[16][16];
    for (int i = 0; i < 8; ++i)
        weights[row + i % 4 / 2 * 8][i / 4 * 8 + pair + i % 2] = __float2half(s[i / 4][i % 4]);
    __syncwarp();
    const half* mine = &weights[row][pair];
    unsigned p[4] = {pair_at(mine), pair_at(mine + 8 * 16), pair_at(mine + 8), pair_at(mine + 8 * 16 + 8)};
    float o[4] = {};
    mma(o, p, pack(v[0], v[8]), pack(v[64], v[72]));
    *reinterpret_cast<float2*>(out) = make_float2(o[0], o[1]);
    *reinterpret_cast<float2*>(out + 64) = make_float2(o[2], o[3]);
}
