// cuRAND's host API for pseudorandom numbers. The distributions are cuRAND's, the numbers NumPy's.
#pragma once
#define CURAND_H_  // some programs ask for it
#include "../runtime.h"

enum curandStatus_t {
    CURAND_STATUS_SUCCESS = 0,
    CURAND_STATUS_VERSION_MISMATCH = 100,
    CURAND_STATUS_NOT_INITIALIZED = 101,
    CURAND_STATUS_ALLOCATION_FAILED = 102,
    CURAND_STATUS_TYPE_ERROR = 103,
    CURAND_STATUS_OUT_OF_RANGE = 104,
    CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
    CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
    CURAND_STATUS_LAUNCH_FAILURE = 201,
    CURAND_STATUS_PREEXISTING_FAILURE = 202,
    CURAND_STATUS_INITIALIZATION_FAILED = 203,
    CURAND_STATUS_ARCH_MISMATCH = 204,
    CURAND_STATUS_INTERNAL_ERROR = 999
};
enum curandRngType_t {
    CURAND_RNG_TEST = 0,
    CURAND_RNG_PSEUDO_DEFAULT = 100,
    CURAND_RNG_PSEUDO_XORWOW = 101,
    CURAND_RNG_PSEUDO_MRG32K3A = 121,
    CURAND_RNG_PSEUDO_MTGP32 = 141,
    CURAND_RNG_PSEUDO_MT19937 = 142,
    CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
    CURAND_RNG_QUASI_DEFAULT = 200,
    CURAND_RNG_QUASI_SOBOL32 = 201,
    CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 = 202,
    CURAND_RNG_QUASI_SOBOL64 = 203,
    CURAND_RNG_QUASI_SCRAMBLED_SOBOL64 = 204
};
enum curandOrdering_t {
    CURAND_ORDERING_PSEUDO_BEST = 100,
    CURAND_ORDERING_PSEUDO_DEFAULT = 101,
    CURAND_ORDERING_PSEUDO_SEEDED = 102,
    CURAND_ORDERING_PSEUDO_LEGACY = 103,
    CURAND_ORDERING_PSEUDO_DYNAMIC = 104,
    CURAND_ORDERING_QUASI_DEFAULT = 201
};
using curandGenerator_t = struct curandGenerator_st *;
using curandRngType = curandRngType_t;
using curandStatus = curandStatus_t;

namespace vgpu_random {
template <class... A>
curandStatus_t random(const char *name, A... given) {
    auto status = call(name, given...);
    return status == cudaSuccess             ? CURAND_STATUS_SUCCESS
           : status == cudaErrorNotSupported ? CURAND_STATUS_TYPE_ERROR
                                             : CURAND_STATUS_LAUNCH_FAILURE;
}
inline long bits(double x) {
    long found;
    memcpy(&found, &x, sizeof found);
    return found;
}
}  // namespace vgpu_random

inline curandStatus_t curandCreateGenerator(curandGenerator_t *made, curandRngType_t type) {
    return vgpu_random::random("random_create", made, type);
}
inline curandStatus_t curandCreateGeneratorHost(curandGenerator_t *made, curandRngType_t type) {
    return vgpu_random::random("random_create", made, type);
}
inline curandStatus_t curandDestroyGenerator(curandGenerator_t of) { return vgpu_random::random("random_destroy", of); }
inline curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t of, unsigned long long seed) {
    return vgpu_random::random("random_seed", of, seed);
}
inline curandStatus_t curandSetGeneratorOffset(curandGenerator_t of, unsigned long long offset) {
    return vgpu_random::random("random_offset", of, offset);
}
inline curandStatus_t curandSetGeneratorOrdering(curandGenerator_t, curandOrdering_t) { return CURAND_STATUS_SUCCESS; }
inline curandStatus_t curandSetStream(curandGenerator_t, cudaStream_t) { return CURAND_STATUS_SUCCESS; }
inline curandStatus_t curandGenerateSeeds(curandGenerator_t) { return CURAND_STATUS_SUCCESS; }
inline curandStatus_t curandGetVersion(int *version) {
    *version = CUDART_VERSION;
    return CURAND_STATUS_SUCCESS;
}
#define VGPU_DRAWS(name, T, kind)                                                                                       \
    inline curandStatus_t name(curandGenerator_t of, T *to, size_t n) {                                                 \
        return vgpu_random::random("random_draw", of, kind, sizeof(T), to, n, 0, 0);                                    \
    }
VGPU_DRAWS(curandGenerate, unsigned int, 0)
VGPU_DRAWS(curandGenerateLongLong, unsigned long long, 0)
VGPU_DRAWS(curandGenerateUniform, float, 1)
VGPU_DRAWS(curandGenerateUniformDouble, double, 1)
#undef VGPU_DRAWS
#define VGPU_DRAWS(name, T, kind)                                                                                       \
    inline curandStatus_t name(curandGenerator_t of, T *to, size_t n, T mean, T deviation) {                            \
        return vgpu_random::random("random_draw", of, kind, sizeof(T), to, n, vgpu_random::bits(mean),                  \
                                   vgpu_random::bits(deviation));                                                       \
    }
VGPU_DRAWS(curandGenerateNormal, float, 2)
VGPU_DRAWS(curandGenerateNormalDouble, double, 2)
VGPU_DRAWS(curandGenerateLogNormal, float, 3)
VGPU_DRAWS(curandGenerateLogNormalDouble, double, 3)
#undef VGPU_DRAWS
inline curandStatus_t curandGeneratePoisson(curandGenerator_t of, unsigned int *to, size_t n, double mean) {
    return vgpu_random::random("random_draw", of, 4, sizeof *to, to, n, vgpu_random::bits(mean), 0);
}
