// CUB's device-wide functions for the host's half of a program: the host runs them, on device memory. Nothing counts
// them. What kernels use of CUB is NVIDIA's own.
#pragma once
#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "../../runtime.h"

namespace cub {

// What kernels' templates take.
enum BlockReduceAlgorithm {
    BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
    BLOCK_REDUCE_RAKING,
    BLOCK_REDUCE_WARP_REDUCTIONS
};
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm {
    BLOCK_LOAD_DIRECT,
    BLOCK_LOAD_STRIPED,
    BLOCK_LOAD_VECTORIZE,
    BLOCK_LOAD_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};
enum BlockStoreAlgorithm {
    BLOCK_STORE_DIRECT,
    BLOCK_STORE_STRIPED,
    BLOCK_STORE_VECTORIZE,
    BLOCK_STORE_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

template <class K, class V>
struct KeyValuePair {
    K key;
    V value;
};
template <class T>
struct DoubleBuffer {
    T *d_buffers[2];
    int selector = 0;
    DoubleBuffer() = default;
    DoubleBuffer(T *current, T *alternate) : d_buffers{current, alternate} {}
    T *Current() { return d_buffers[selector]; }
    T *Alternate() { return d_buffers[selector ^ 1]; }
};
struct Sum {
    template <class T>
    T operator()(const T &a, const T &b) const { return a + b; }
};
struct Max {
    template <class T>
    T operator()(const T &a, const T &b) const { return a < b ? b : a; }
};
struct Min {
    template <class T>
    T operator()(const T &a, const T &b) const { return b < a ? b : a; }
};

namespace vgpu {
template <class I>
using Value = typename std::iterator_traits<I>::value_type;

// Whether a range is device memory. Iterators that compute their values have none.
template <class I, class N>
cudaError_t range(I, N) { return cudaSuccess; }
template <class T, class N>
cudaError_t range(T *p, N n) { return n > 0 ? call("range", p, (size_t)n * sizeof(T)) : cudaSuccess; }

// Both phases of a call: without storage it says how much it needs, with it `work` is done.
template <class Work, class... Checks>
cudaError_t run(void *storage, size_t &bytes, Work work, Checks... checks) {
    if (!storage) {
        bytes = 256;
        return cudaSuccess;
    }
    for (cudaError_t status : {cudaSuccess, checks...})
        if (status) return status;
    work();
    return cudaSuccess;
}
template <class I, class N>
cudaError_t checked(void *storage, I at, N n) { return storage ? range(at, n) : cudaSuccess; }

// Keys by the bits that count, in ascending order or not.
template <class K>
auto order(bool descending, int begin, int end) {
    return [=](const K &a, const K &b) {
        const K &x = descending ? b : a, &y = descending ? a : b;
        if constexpr (std::is_integral_v<K>) {
            if (begin > 0 || end < int(8 * sizeof(K))) {
                using U = std::make_unsigned_t<K>;
                U mask = (end - begin >= int(8 * sizeof(K)) ? U(0) : U(U(1) << (end - begin))) - U(1);
                return U(U(x) >> begin & mask) < U(U(y) >> begin & mask);
            }
        }
        return x < y;
    };
}
template <class K, class V, class N>
cudaError_t sort(void *storage, size_t &bytes, const K *keys, K *to, const V *values, V *values_to, N n,
                 bool descending, int begin, int end) {
    auto work = [=] {
        std::vector<N> places(n);
        std::iota(places.begin(), places.end(), N(0));
        auto less = order<K>(descending, begin, end);
        std::stable_sort(places.begin(), places.end(), [&](N a, N b) { return less(keys[a], keys[b]); });
        std::vector<K> sorted(n);
        for (N i = 0; i < n; ++i) sorted[i] = keys[places[i]];
        std::copy(sorted.begin(), sorted.end(), to);
        if (!values) return;
        std::vector<V> moved(n);
        for (N i = 0; i < n; ++i) moved[i] = values[places[i]];
        std::copy(moved.begin(), moved.end(), values_to);
    };
    return run(storage, bytes, work, checked(storage, keys, n), checked(storage, to, n),
               checked(storage, values, values ? n : 0), checked(storage, values_to, values ? n : 0));
}
}  // namespace vgpu

struct DeviceReduce {
    template <class I, class O, class N, class Op, class T>
    static cudaError_t Reduce(void *storage, size_t &bytes, I in, O out, N n, Op op, T init, cudaStream_t = 0) {
        auto work = [=] {
            T found = init;
            for (N i = 0; i < n; ++i) found = op(found, T(in[i]));
            *out = found;
        };
        return vgpu::run(storage, bytes, work, vgpu::checked(storage, in, n), vgpu::checked(storage, out, 1));
    }
    template <class I, class O, class N>
    static cudaError_t Sum(void *storage, size_t &bytes, I in, O out, N n, cudaStream_t = 0) {
        return Reduce(storage, bytes, in, out, n, cub::Sum(), vgpu::Value<I>{});
    }
    template <class I, class O, class N>
    static cudaError_t Min(void *storage, size_t &bytes, I in, O out, N n, cudaStream_t = 0) {
        return Reduce(storage, bytes, in, out, n, cub::Min(), std::numeric_limits<vgpu::Value<I>>::max());
    }
    template <class I, class O, class N>
    static cudaError_t Max(void *storage, size_t &bytes, I in, O out, N n, cudaStream_t = 0) {
        return Reduce(storage, bytes, in, out, n, cub::Max(), std::numeric_limits<vgpu::Value<I>>::lowest());
    }
    template <class I, class O, class N>
    static cudaError_t ArgMin(void *storage, size_t &bytes, I in, O out, N n, cudaStream_t = 0) {
        return arg(storage, bytes, in, out, n, std::less<>());
    }
    template <class I, class O, class N>
    static cudaError_t ArgMax(void *storage, size_t &bytes, I in, O out, N n, cudaStream_t = 0) {
        return arg(storage, bytes, in, out, n, std::greater<>());
    }
    template <class K, class UK, class V, class A, class R, class Op, class N>
    static cudaError_t ReduceByKey(void *storage, size_t &bytes, K keys, UK unique, V values, A sums, R runs, Op op, N n,
                                   cudaStream_t = 0) {
        auto work = [=] {
            N found = 0;
            for (N i = 0; i < n; ++i) {
                if (i == 0 || !(keys[i] == keys[i - 1])) {
                    unique[found] = keys[i];
                    sums[found++] = values[i];
                } else {
                    sums[found - 1] = op(sums[found - 1], values[i]);
                }
            }
            *runs = found;
        };
        return vgpu::run(storage, bytes, work, vgpu::checked(storage, keys, n), vgpu::checked(storage, values, n),
                         vgpu::checked(storage, runs, 1));
    }

private:
    template <class I, class O, class N, class Less>
    static cudaError_t arg(void *storage, size_t &bytes, I in, O out, N n, Less less) {
        auto work = [=] {
            N found = 0;
            for (N i = 1; i < n; ++i)
                if (less(in[i], in[found])) found = i;
            out->key = found;
            out->value = in[found];
        };
        return vgpu::run(storage, bytes, work, vgpu::checked(storage, in, n), vgpu::checked(storage, out, 1));
    }
};

struct DeviceSegmentedReduce {
    template <class I, class O, class B, class E, class Op, class T>
    static cudaError_t Reduce(void *storage, size_t &bytes, I in, O out, int segments, B begins, E ends, Op op, T init,
                              cudaStream_t = 0) {
        auto work = [=] {
            for (int s = 0; s < segments; ++s) {
                T found = init;
                for (auto i = begins[s]; i < ends[s]; ++i) found = op(found, T(in[i]));
                out[s] = found;
            }
        };
        return vgpu::run(storage, bytes, work, vgpu::checked(storage, out, segments),
                         vgpu::checked(storage, begins, segments), vgpu::checked(storage, ends, segments));
    }
    template <class I, class O, class B, class E>
    static cudaError_t Sum(void *storage, size_t &bytes, I in, O out, int segments, B begins, E ends, cudaStream_t = 0) {
        return Reduce(storage, bytes, in, out, segments, begins, ends, cub::Sum(), vgpu::Value<I>{});
    }
};

struct DeviceScan {
    template <class I, class O, class Op, class T, class N>
    static cudaError_t ExclusiveScan(void *storage, size_t &bytes, I in, O out, Op op, T init, N n, cudaStream_t = 0) {
        auto work = [=] {
            T sum = init;
            for (N i = 0; i < n; ++i) {
                T next = op(sum, T(in[i]));  // before it is written: the arrays may be one
                out[i] = sum;
                sum = next;
            }
        };
        return vgpu::run(storage, bytes, work, vgpu::checked(storage, in, n), vgpu::checked(storage, out, n));
    }
    template <class I, class O, class Op, class N>
    static cudaError_t InclusiveScan(void *storage, size_t &bytes, I in, O out, Op op, N n, cudaStream_t = 0) {
        auto work = [=] {
            if (n == 0) return;
            vgpu::Value<I> sum = in[0];
            out[0] = sum;
            for (N i = 1; i < n; ++i) out[i] = sum = op(sum, vgpu::Value<I>(in[i]));
        };
        return vgpu::run(storage, bytes, work, vgpu::checked(storage, in, n), vgpu::checked(storage, out, n));
    }
    template <class I, class O, class N>
    static cudaError_t ExclusiveSum(void *storage, size_t &bytes, I in, O out, N n, cudaStream_t = 0) {
        return ExclusiveScan(storage, bytes, in, out, cub::Sum(), vgpu::Value<I>{}, n);
    }
    template <class I, class O, class N>
    static cudaError_t InclusiveSum(void *storage, size_t &bytes, I in, O out, N n, cudaStream_t = 0) {
        return InclusiveScan(storage, bytes, in, out, cub::Sum(), n);
    }
    template <class I, class N>
    static cudaError_t ExclusiveSum(void *storage, size_t &bytes, I data, N n) {
        return ExclusiveSum(storage, bytes, data, data, n);
    }
    template <class I, class N>
    static cudaError_t InclusiveSum(void *storage, size_t &bytes, I data, N n) {
        return InclusiveSum(storage, bytes, data, data, n);
    }
};

struct DeviceRadixSort {
    template <class K, class N>
    static cudaError_t SortKeys(void *storage, size_t &bytes, const K *keys, K *to, N n, int begin = 0,
                                int end = 8 * sizeof(K), cudaStream_t = 0) {
        return vgpu::sort(storage, bytes, keys, to, (const char *)nullptr, (char *)nullptr, n, false, begin, end);
    }
    template <class K, class N>
    static cudaError_t SortKeysDescending(void *storage, size_t &bytes, const K *keys, K *to, N n, int begin = 0,
                                          int end = 8 * sizeof(K), cudaStream_t = 0) {
        return vgpu::sort(storage, bytes, keys, to, (const char *)nullptr, (char *)nullptr, n, true, begin, end);
    }
    template <class K, class V, class N>
    static cudaError_t SortPairs(void *storage, size_t &bytes, const K *keys, K *to, const V *values, V *values_to, N n,
                                 int begin = 0, int end = 8 * sizeof(K), cudaStream_t = 0) {
        return vgpu::sort(storage, bytes, keys, to, values, values_to, n, false, begin, end);
    }
    template <class K, class V, class N>
    static cudaError_t SortPairsDescending(void *storage, size_t &bytes, const K *keys, K *to, const V *values,
                                           V *values_to, N n, int begin = 0, int end = 8 * sizeof(K), cudaStream_t = 0) {
        return vgpu::sort(storage, bytes, keys, to, values, values_to, n, true, begin, end);
    }
    template <class K, class N>
    static cudaError_t SortKeys(void *storage, size_t &bytes, DoubleBuffer<K> &keys, N n, int begin = 0,
                                int end = 8 * sizeof(K), cudaStream_t = 0) {
        auto status = SortKeys(storage, bytes, keys.Current(), keys.Alternate(), n, begin, end);
        keys.selector ^= storage != nullptr;
        return status;
    }
    template <class K, class V, class N>
    static cudaError_t SortPairs(void *storage, size_t &bytes, DoubleBuffer<K> &keys, DoubleBuffer<V> &values, N n,
                                 int begin = 0, int end = 8 * sizeof(K), cudaStream_t = 0) {
        auto status = SortPairs(storage, bytes, keys.Current(), keys.Alternate(), values.Current(), values.Alternate(), n,
                                begin, end);
        keys.selector ^= storage != nullptr;
        values.selector ^= storage != nullptr;
        return status;
    }
};

struct DeviceSelect {
    template <class I, class F, class O, class C, class N>
    static cudaError_t Flagged(void *storage, size_t &bytes, I in, F flags, O out, C count, N n, cudaStream_t = 0) {
        return select(storage, bytes, in, out, count, n, [=](N i) { return bool(flags[i]); });
    }
    template <class I, class O, class C, class N, class P>
    static cudaError_t If(void *storage, size_t &bytes, I in, O out, C count, N n, P wanted, cudaStream_t = 0) {
        return select(storage, bytes, in, out, count, n, [=](N i) mutable { return bool(wanted(in[i])); });
    }
    template <class I, class O, class C, class N>
    static cudaError_t Unique(void *storage, size_t &bytes, I in, O out, C count, N n, cudaStream_t = 0) {
        return select(storage, bytes, in, out, count, n, [=](N i) { return i == 0 || !(in[i] == in[i - 1]); });
    }

private:
    template <class I, class O, class C, class N, class P>
    static cudaError_t select(void *storage, size_t &bytes, I in, O out, C count, N n, P wanted) {
        auto work = [=]() mutable {
            std::vector<vgpu::Value<I>> found;  // the arrays may be one
            for (N i = 0; i < n; ++i)
                if (wanted(i)) found.push_back(in[i]);
            std::copy(found.begin(), found.end(), out);
            *count = found.size();
        };
        return vgpu::run(storage, bytes, work, vgpu::checked(storage, in, n), vgpu::checked(storage, count, 1));
    }
};

struct DeviceRunLengthEncode {
    template <class I, class U, class L, class R, class N>
    static cudaError_t Encode(void *storage, size_t &bytes, I in, U unique, L lengths, R runs, N n, cudaStream_t = 0) {
        auto work = [=] {
            N found = 0;
            for (N i = 0; i < n; ++i) {
                if (i == 0 || !(in[i] == in[i - 1])) {
                    unique[found] = in[i];
                    lengths[found++] = 0;
                }
                ++lengths[found - 1];
            }
            *runs = found;
        };
        return vgpu::run(storage, bytes, work, vgpu::checked(storage, in, n), vgpu::checked(storage, runs, 1));
    }
};

struct DeviceHistogram {
    template <class I, class C, class L, class N>
    static cudaError_t HistogramEven(void *storage, size_t &bytes, I samples, C *counts, int levels, L lower, L upper,
                                     N n, cudaStream_t = 0) {
        auto work = [=] {
            std::fill(counts, counts + levels - 1, C(0));
            for (N i = 0; i < n; ++i)
                if (!(samples[i] < lower) && samples[i] < upper)
                    ++counts[(int)((samples[i] - lower) * (levels - 1) / (upper - lower))];
        };
        return vgpu::run(storage, bytes, work, vgpu::checked(storage, samples, n),
                         vgpu::checked(storage, counts, levels - 1));
    }
};

}  // namespace cub
