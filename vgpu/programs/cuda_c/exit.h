// The program's end: Python goes on.
#pragma once
#include <stdlib.h>
#ifdef __cplusplus
#include <cstdlib>
extern "C" [[noreturn]] void vgpu_exit(int status);
namespace std {
using ::vgpu_exit;
}
#else
_Noreturn void vgpu_exit(int status);
#endif
#define exit vgpu_exit
