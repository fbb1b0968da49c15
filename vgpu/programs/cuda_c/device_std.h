// What kernels may use of std, as nvcc lets them: here it is libcu++'s.
#include <cuda/std/array>
#include <cuda/std/cmath>
#include <cuda/std/functional>
#include <cuda/std/limits>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>
namespace std {
using namespace ::cuda::std;
}
