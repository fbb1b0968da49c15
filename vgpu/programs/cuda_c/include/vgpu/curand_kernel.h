// cuRAND in kernels: XORWOW (Marsaglia, 2003) and Philox4x32-10, with cuRAND's distributions. Sequences are independent,
// but not cuRAND's numbers: it seeds XORWOW in another way, and jumps 2^67 numbers for each subsequence.
#pragma once

struct curandStateXORWOW {
    unsigned int d, v[5];
    int has_normal, has_normal_double;
    float normal;
    double normal_double;
};
struct curandStatePhilox4_32_10 {
    unsigned int ctr[4], key[2], output[4];
    unsigned int used;
    int has_normal, has_normal_double;
    float normal;
    double normal_double;
};
typedef struct curandStateXORWOW curandStateXORWOW_t, curandState_t, curandState;
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

#ifdef __CUDACC_RTC__
namespace vgpu_random {
__device__ inline unsigned int scrambled(unsigned int x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}
__device__ inline void next(unsigned int *ctr) {
    for (int i = 0; i < 4 && ++ctr[i] == 0; ++i) {}
}
// Ten rounds of Philox (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
__device__ inline void philox(const unsigned int *ctr, const unsigned int *key, unsigned int *output) {
    unsigned int c[4] = {ctr[0], ctr[1], ctr[2], ctr[3]}, k[2] = {key[0], key[1]};
    for (int round = 0; round < 10; ++round) {
        unsigned int low0 = 0xD2511F53u * c[0], high0 = __umulhi(0xD2511F53u, c[0]);
        unsigned int low1 = 0xCD9E8D57u * c[2], high1 = __umulhi(0xCD9E8D57u, c[2]);
        c[0] = high1 ^ c[1] ^ k[0];
        c[1] = low1;
        c[2] = high0 ^ c[3] ^ k[1];
        c[3] = low0;
        k[0] += 0x9E3779B9u;
        k[1] += 0xBB67AE85u;
    }
    for (int i = 0; i < 4; ++i) output[i] = c[i];
}
__device__ inline float uniform(unsigned int x) { return x * 2.3283064e-10f + 2.3283064e-10f / 2; }  // in (0, 1]
__device__ inline double uniform(unsigned int x, unsigned int y) {
    unsigned long long z = x ^ (unsigned long long)y << 21;
    return z * 1.1102230246251565e-16 + 1.1102230246251565e-16 / 2;
}
__device__ inline float2 normal(unsigned int x, unsigned int y) {
    float radius = sqrtf(-2 * logf(uniform(x))), angle = y * (2.3283064e-10f * 6.2831855f) + 2.3283064e-10f * 3.1415927f;
    return make_float2(sinf(angle) * radius, cosf(angle) * radius);
}
}  // namespace vgpu_random

__device__ inline unsigned int curand(curandStateXORWOW *state) {
    unsigned int t = state->v[0] ^ state->v[0] >> 2;
    for (int i = 0; i < 4; ++i) state->v[i] = state->v[i + 1];
    state->v[4] = state->v[4] ^ state->v[4] << 4 ^ t ^ t << 1;
    state->d += 362437;
    return state->v[4] + state->d;
}
__device__ inline void skipahead(unsigned long long n, curandStateXORWOW *state) {
    for (; n > 0; --n) curand(state);
}
__device__ inline void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                                   curandStateXORWOW *state) {
    unsigned int a = 1099087573u * ((unsigned int)seed ^ 0xaad26b49u);
    unsigned int b = 2591861531u * ((unsigned int)(seed >> 32) ^ 0xf7dcefddu);
    *state = {6615241u + b + a, {123456789u + a, 362436069u ^ a, 521288629u + b, 88675123u ^ b, 5783321u + a}};
    if (subsequence != 0)
        for (int i = 0; i < 5; ++i)
            state->v[i] ^= vgpu_random::scrambled((unsigned int)subsequence + 0x9E3779B9u * (i + 1)) ^
                           vgpu_random::scrambled((unsigned int)(subsequence >> 32) + 0x85EBCA6Bu * i);
    skipahead(offset, state);
}

__device__ inline unsigned int curand(curandStatePhilox4_32_10 *state) {
    if (state->used == 4) {
        vgpu_random::next(state->ctr);
        vgpu_random::philox(state->ctr, state->key, state->output);
        state->used = 0;
    }
    return state->output[state->used++];
}
__device__ inline void skipahead(unsigned long long n, curandStatePhilox4_32_10 *state) {
    n += state->used;
    unsigned long long blocks = n / 4, low = state->ctr[0] | (unsigned long long)state->ctr[1] << 32;
    unsigned long long sum = low + blocks;
    state->ctr[0] = (unsigned int)sum;
    state->ctr[1] = (unsigned int)(sum >> 32);
    if (sum < low && ++state->ctr[2] == 0) ++state->ctr[3];
    state->used = n % 4;
    vgpu_random::philox(state->ctr, state->key, state->output);
}
__device__ inline void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                                   curandStatePhilox4_32_10 *state) {
    *state = {{0, 0, (unsigned int)subsequence, (unsigned int)(subsequence >> 32)},
              {(unsigned int)seed, (unsigned int)(seed >> 32)}};
    skipahead(offset, state);
}
__device__ inline uint4 curand4(curandStatePhilox4_32_10 *state) {
    unsigned int a = curand(state), b = curand(state), c = curand(state);
    return make_uint4(a, b, c, curand(state));
}
__device__ inline float4 curand_uniform4(curandStatePhilox4_32_10 *state) {
    uint4 x = curand4(state);
    return make_float4(vgpu_random::uniform(x.x), vgpu_random::uniform(x.y), vgpu_random::uniform(x.z),
                       vgpu_random::uniform(x.w));
}
__device__ inline float4 curand_normal4(curandStatePhilox4_32_10 *state) {
    uint4 x = curand4(state);
    float2 a = vgpu_random::normal(x.x, x.y), b = vgpu_random::normal(x.z, x.w);
    return make_float4(a.x, a.y, b.x, b.y);
}

template <class S>
__device__ float curand_uniform(S *state) { return vgpu_random::uniform(curand(state)); }
template <class S>
__device__ double curand_uniform_double(S *state) {
    unsigned int x = curand(state);
    return vgpu_random::uniform(x, curand(state));
}
template <class S>
__device__ float2 curand_normal2(S *state) {
    unsigned int x = curand(state);
    return vgpu_random::normal(x, curand(state));
}
template <class S>
__device__ float curand_normal(S *state) {
    if (state->has_normal) {
        state->has_normal = 0;
        return state->normal;
    }
    float2 both = curand_normal2(state);
    state->has_normal = 1;
    state->normal = both.y;
    return both.x;
}
template <class S>
__device__ double2 curand_normal2_double(S *state) {
    double radius = sqrt(-2 * log(curand_uniform_double(state)));
    double angle = 2 * curand_uniform_double(state), sine, cosine;
    sincospi(angle, &sine, &cosine);
    return make_double2(sine * radius, cosine * radius);
}
template <class S>
__device__ double curand_normal_double(S *state) {
    if (state->has_normal_double) {
        state->has_normal_double = 0;
        return state->normal_double;
    }
    double2 both = curand_normal2_double(state);
    state->has_normal_double = 1;
    state->normal_double = both.y;
    return both.x;
}
template <class S>
__device__ float curand_log_normal(S *state, float mean, float deviation) {
    return expf(mean + deviation * curand_normal(state));
}
template <class S>
__device__ double curand_log_normal_double(S *state, double mean, double deviation) {
    return exp(mean + deviation * curand_normal_double(state));
}
// By multiplying uniform numbers for a small mean, and from a normal one for a large mean.
template <class S>
__device__ unsigned int curand_poisson(S *state, double mean) {
    if (mean > 64) return (unsigned int)fmax(0.0, rint(mean + sqrt(mean) * curand_normal_double(state)));
    unsigned int found = 0;
    for (double product = curand_uniform_double(state), limit = exp(-mean); product > limit; ++found)
        product *= curand_uniform_double(state);
    return found;
}
#endif
