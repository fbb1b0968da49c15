// CUTLASS's wmma operations use functions that only kernels have: the host's half goes without.
#ifdef __CUDACC_RTC__
#include_next <cutlass/arch/wmma.h>
#endif
