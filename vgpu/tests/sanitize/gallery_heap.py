"""Mistakes with memory that kernels allocate themselves, as cases of the gallery in CUDA C."""

from __future__ import annotations

import numpy as np

from vgpu.tests.sanitize.gallery_c import Case

CASES: list[Case] = []


def case(kind: str, source: str, block: int, grid: int = 1, **options) -> None:
    def args(wrong):
        return np.zeros(64, np.int32), np.zeros(64, np.int64)

    CASES.append(Case(f"heap-{kind}-{len(CASES)}", kind, source, (grid,), (block,), args, options))


case("heap_leak", """
extern "C" __global__ void k(int* out, long long* kept) {
    int* scratch = (int*)malloc(8 * sizeof(int)); //!
    for (int j = 0; j < 8; j++) scratch[j] = j * threadIdx.x;
    out[threadIdx.x] = scratch[7];
#ifndef WRONG
    free(scratch);
#endif
}""", 64)  # fmt: skip

case("heap_leak", """
struct Node { int value; Node* next; };
extern "C" __global__ void k(int* out, Node** lists) {
    Node* first = nullptr;
    for (int j = 0; j < 4; j++) {
        Node* node = new Node; //!
        node->value = j;
        node->next = first;
        first = node;
    }
#ifdef WRONG
    first = first->next;
#endif
    lists[threadIdx.x] = first;
}""", 32)  # fmt: skip

case("uninitialised", """
extern "C" __global__ void k(int* out, long long* kept) {
    int* counts = new int[4];
#ifndef WRONG
    for (int j = 0; j < 4; j++) counts[j] = 0;
#endif
    counts[threadIdx.x & 3] += 1; //!
    out[threadIdx.x] = counts[threadIdx.x & 3];
    delete[] counts;
}""", 32)  # fmt: skip

case("use_after_free", """
struct Node { int value; Node* next; };
extern "C" __global__ void k(int* out, long long* kept) {
    Node* first = nullptr;
    for (int j = 0; j < 3; j++) {
        Node* node = new Node;
        node->value = j;
        node->next = first;
        first = node;
    }
    while (first) {
        out[threadIdx.x] += first->value;
#ifdef WRONG
        delete first;
        first = first->next; //!
#else
        Node* next = first->next;
        delete first;
        first = next;
#endif
    }
}""", 32)  # fmt: skip

case("out_of_bounds", """
extern "C" __global__ void k(int* out, long long* kept) {
    int n = threadIdx.x + 1;
    int* row = new int[n];
#ifdef WRONG
    for (int j = 0; j <= n; j++)
#else
    for (int j = 0; j < n; j++)
#endif
        row[j] = j; //!
    out[threadIdx.x] = row[n - 1];
    delete[] row;
}""", 32)  # fmt: skip

case("bad_free", """
extern "C" __global__ void k(int* out, long long* kept) {
    __shared__ int* table;
    if (threadIdx.x == 0) table = new int[64];
    __syncthreads();
    table[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = table[63 - threadIdx.x];
    __syncthreads();
#ifndef WRONG
    if (threadIdx.x == 0)
#endif
        delete[] table; //!
}""", 64)  # fmt: skip

case("bad_free", """
struct Shape { __device__ ~Shape() {} int corners; };
extern "C" __global__ void k(int* out, long long* kept) {
    Shape* shapes = new Shape[3];
    shapes[2].corners = threadIdx.x;
    out[threadIdx.x] = shapes[2].corners;
#ifdef WRONG
    delete shapes; //!
#else
    delete[] shapes;
#endif
}""", 32)  # fmt: skip

case("race_read_write", """
extern "C" __global__ void k(int* out, long long* kept) {
    __shared__ int* table;
    if (threadIdx.x == 0) table = new int[64];
    __syncthreads();
    table[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = table[63 - threadIdx.x]; //!
#ifndef WRONG
    __syncthreads();
#endif
    if (threadIdx.x == 63) delete[] table; //!
}""", 64, races_in_global=True)  # fmt: skip

case("race_lanes", """
extern "C" __global__ void k(int* out, int** rows) {
    __shared__ int* row;
    if (threadIdx.x == 0) rows[0] = row = new int[64];
    __syncthreads();
#ifdef WRONG
    row[threadIdx.x / 2] = threadIdx.x; //!
#else
    row[threadIdx.x] = threadIdx.x;
#endif
}""", 64, races_in_global=True)  # fmt: skip
