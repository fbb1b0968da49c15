"""Memory that kernels allocate for themselves."""

# The kernels keep the long lines that they have where people publish them.

import numpy as np

from vgpu.tests.corpus.row import c

i4 = np.int32


@c(
    """
    template <class T> struct Container {
        __device__ virtual ~Container() {}
        __device__ virtual void push(T value) = 0;
        __device__ virtual bool pop(T& value) = 0;
    };
    template <class T> struct Vector : Container<T> {
        __device__ Vector(int most) : last(-1), data(new T[most]) {}
        __device__ ~Vector() override { delete[] data; }
        __device__ void push(T value) override { data[atomicAdd(&last, 1) + 1] = value; }
        __device__ bool pop(T& value) override {
            int at = atomicSub(&last, 1);
            if (at < 0) return false;
            value = data[at];
            return true;
        }
        int last; T* data;
    };
    template <class T> struct Pair : Container<T> {
        T one;
        __device__ void push(T value) override { one = value; }
        __device__ bool pop(T& value) override { value = one; return true; }
    };
    extern "C" __global__ void k(int* out) {
        __shared__ Container<int>* box;
        if (threadIdx.x == 0) box = blockIdx.x ? (Container<int>*)new Pair<int> : new Vector<int>(blockDim.x);
        __syncthreads();
        if (blockIdx.x == 0 || threadIdx.x == 0) box->push(threadIdx.x + 7);
        __syncthreads();
        int value = -1;
        box->pop(value);
        out[blockIdx.x * blockDim.x + threadIdx.x] = value;
        __syncthreads();
        if (threadIdx.x == 0) delete box;
    }""",
    2, 64, counts=False,
)  # fmt: skip
def containers_behind_one_interface_made_in_the_kernel(random):
    """A stack and a vector of C++, made by one thread and used by the block."""
    right = lambda out: sorted(out[:64]) == list(range(7, 71)) and (out[64:] == 7).all()
    return (np.zeros(128, i4),), {0: right}


@c(
    """
    extern "C" __global__ void k(int* out, int* lengths) {
        int room = 2, n = 0, i = threadIdx.x;
        int* row = (int*)malloc(room * sizeof(int));
        for (int j = 0; j <= i; j++) {
            if (n == room) {
                int* larger = (int*)malloc(2 * room * sizeof(int));
                memcpy(larger, row, room * sizeof(int));
                free(row);
                row = larger;
                room *= 2;
            }
            row[n++] = i * j;
        }
        lengths[i] = n;
        for (int j = 0; j < n; j++) out[i * 40 + j] = row[j];
        free(row);
    }""",
    1, 32, check=True, counts=False,
)  # fmt: skip
def sparse_rows_that_grow(random):
    """Rows as arrays that double when they are full, as `realloc` would."""
    rows = np.zeros((32, 40), i4)
    for i in range(32):
        rows[i, : i + 1] = i * np.arange(i + 1)
    return (np.zeros((32, 40), i4), np.zeros(32, i4)), {0: rows, 1: np.arange(32) + 1}
