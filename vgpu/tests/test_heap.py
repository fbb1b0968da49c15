"""Memory that kernels allocate: malloc and free, new and delete, on both engines, and what goes wrong with them."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from vgpu import cuda, profile
from vgpu.base.errors import InvalidFree, Misaligned, OutOfBounds
from vgpu.compile import cuda_c_to_ptx
from vgpu.launch import host_calls, launch
from vgpu.operations import CUDARuntimeError
from vgpu.standins import cupy as cp
from vgpu.storage import heap, layout
from vgpu.tests.conftest import Launchable, prepare_c
from vgpu.tools.steps.trace import trace


@pytest.fixture(autouse=True)
def fresh_heap():
    heap.reset()
    yield
    heap.reset()


def together(engine, source, *names):
    """Kernels of one module, which share its variables."""
    loaded = launch.load(cuda_c_to_ptx(source).ptx, language="cuda", source=source, filename="kernel.cu")
    return [Launchable(engine.name, partial(prepare_c, loaded[name])) for name in names]


def ints(n):
    return np.zeros(n, np.int32)


# ---------------------------------------------------------------- programs

LISTS = """
struct Node { int value; Node* next; };
__device__ Node* heads[64];
extern "C" __global__ void build(int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = 0; j < n + i % 3; j++) {
        Node* node = new Node;
        node->value = i * j;
        node->next = heads[i];
        heads[i] = node;
    }
}
extern "C" __global__ void sum(int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, total = 0;
    for (Node* node = heads[i]; node; node = node->next) total += node->value;
    out[i] = total;
}
extern "C" __global__ void clear() {
    int i = 63 - blockIdx.x * blockDim.x - threadIdx.x;   // another thread's list
    while (heads[i]) { Node* next = heads[i]->next; delete heads[i]; heads[i] = next; }
}"""


def test_lists_live_on_from_launch_to_launch_and_any_thread_frees_them(engine):
    build, total, clear = together(engine, LISTS, "build", "sum", "clear")
    out = ints(64)
    build(2, 32, 5)
    build(2, 32, 2)
    total(2, 32, out)
    i = np.arange(64)
    lengths = [(n + i % 3) for n in (5, 2)]
    np.testing.assert_array_equal(out, sum(i * m * (m - 1) // 2 for m in lengths))
    assert len(heap.current().live()) == sum(int(m.sum()) for m in lengths)
    clear(2, 32)
    total(2, 32, out)
    assert not out.any() and not heap.current().live() and heap.current().in_use == 0


def test_memory_outlives_the_engine_that_allocated_it(compiled, interpreted):
    out = ints(64)
    (build,) = together(compiled, LISTS, "build")
    total, clear = together(interpreted, LISTS, "sum", "clear")
    build(2, 32, 4)
    total(2, 32, out)
    m = 4 + np.arange(64) % 3
    np.testing.assert_array_equal(out, np.arange(64) * m * (m - 1) // 2)
    clear(2, 32)
    assert not heap.current().live()


TREE = """
struct Node { int key; unsigned long long child[2]; };
extern "C" __global__ void insert(unsigned long long* root, const int* keys, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Node* node = new Node;
    node->key = keys[i];
    node->child[0] = node->child[1] = 0;
    __threadfence();
    unsigned long long* place = root;
    while (true) {
        unsigned long long there = atomicCAS(place, 0ull, (unsigned long long)node);
        if (!there) return;
        place = &((Node*)there)->child[node->key > ((Node*)there)->key];
    }
}
__device__ void walk(Node* node, int* out, int& count) {
    if (!node) return;
    walk((Node*)node->child[0], out, count);
    out[count++] = node->key;
    walk((Node*)node->child[1], out, count);
    delete node;
}
extern "C" __global__ void flatten(unsigned long long* root, int* out) {
    int count = 0;
    walk((Node*)*root, out, count);
    *root = 0;
}"""


def test_a_tree_that_threads_of_many_blocks_build(engine):
    keys = np.random.default_rng(3).permutation(150).astype(np.int32)
    root, out = np.zeros(1, np.int64), ints(150)
    engine.c(TREE, "insert")(5, 32, root, keys, 150)
    assert len(heap.current().live()) == 150
    engine.c(TREE, "flatten")(1, 1, root, out)
    np.testing.assert_array_equal(out, np.sort(keys))
    assert heap.current().in_use == 0


TABLE = """
struct Entry { int key, count; Entry* next; };
struct Bucket { int lock; Entry* first; };
extern "C" __global__ void count(Bucket* table, const int* keys, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Bucket* bucket = table + keys[i] % 16;
    for (bool done = false; !done;) {
        if (atomicCAS(&bucket->lock, 0, 1) == 0) {
            __threadfence();
            volatile Entry* entry = bucket->first;
            while (entry && entry->key != keys[i]) entry = entry->next;
            if (entry) entry->count++;
            else {
                Entry* fresh = (Entry*)malloc(sizeof(Entry));
                *fresh = {keys[i], 1, ((volatile Bucket*)bucket)->first};
                ((volatile Bucket*)bucket)->first = fresh;
            }
            __threadfence();
            atomicExch(&bucket->lock, 0);
            done = true;
        }
    }
}
extern "C" __global__ void read(Bucket* table, int* out) {
    for (Entry* entry = table[threadIdx.x].first; entry; entry = entry->next) out[entry->key] = entry->count;
}"""


def test_a_hash_table_with_chains(engine):
    keys = np.random.default_rng(5).integers(0, 80, 300).astype(np.int32)
    table, out = np.zeros(32, np.int64), ints(80)
    engine.c(TABLE, "count")(3, 128, table, keys, 300)
    engine.c(TABLE, "read")(1, 16, table, out)
    np.testing.assert_array_equal(out, np.bincount(keys, minlength=80))
    assert len(heap.current().live()) == len(np.unique(keys))


CLASSES = """
__device__ int destroyed[3];
struct Shape {
    int corners;
    __device__ Shape(int n) : corners(n) {}
    __device__ virtual float area() const = 0;
    __device__ virtual ~Shape() { atomicAdd(&destroyed[0], 1); }
};
struct Rectangle : Shape {
    float a, b;
    __device__ Rectangle(float a, float b) : Shape(4), a(a), b(b) {}
    __device__ float area() const override { return a * b; }
    __device__ ~Rectangle() override { atomicAdd(&destroyed[1], 1); }
};
struct Polygon : Shape {
    float* x;
    __device__ Polygon(int n) : Shape(n), x(new float[2 * n]) { for (int i = 0; i < 2 * n; i++) x[i] = i; }
    __device__ float area() const override { float s = 0; for (int i = 0; i < 2 * corners; i++) s += x[i]; return s; }
    __device__ ~Polygon() override { delete[] x; atomicAdd(&destroyed[2], 1); }
};
extern "C" __global__ void make(Shape** shapes) {
    int i = threadIdx.x;
    shapes[i] = i % 3 ? (Shape*)new Rectangle(i, 2) : new Polygon(3 + i % 2);
}
extern "C" __global__ void use(Shape** shapes, float* out) {
    int i = threadIdx.x;
    out[i] = shapes[i]->area();
    delete shapes[i];
}
extern "C" __global__ void told(int* out) {
    for (int i = 0; i < 3; i++) out[i] = atomicExch(&destroyed[i], 0);
}"""


def test_virtual_destructors_through_base_pointers(engine):
    shapes, out, told = np.zeros(48, np.int64), np.zeros(48, np.float32), ints(3)
    make, use, tell = together(engine, CLASSES, "make", "use", "told")
    make(1, 48, shapes)
    use(1, 48, shapes, out)
    tell(1, 1, told)
    i = np.arange(48)
    n = 2 * (3 + i % 2)
    np.testing.assert_array_equal(out, np.where(i % 3, 2 * i, n * (n - 1) // 2))
    assert told.tolist() == [48, 32, 16]
    assert not heap.current().live()


SCRATCH = """
extern "C" __global__ void medians(const float* rows, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float* row = (float*)malloc(n * sizeof(float));
    memcpy(row, rows + i * n, n * sizeof(float));
    for (int a = 1; a < n; a++)
        for (int b = a; b > 0 && row[b] < row[b - 1]; b--) { float t = row[b]; row[b] = row[b - 1]; row[b - 1] = t; }
    out[i] = row[n / 2];
    memset(row, 0, n * sizeof(float));
    free(row);
}"""


def test_scratch_arrays_of_every_thread(engine):
    rows = np.random.default_rng(1).standard_normal((64, 9)).astype(np.float32)
    out = np.zeros(64, np.float32)
    engine.c(SCRATCH)(2, 32, rows, out, 9)
    np.testing.assert_array_equal(out, np.median(rows, axis=1))
    assert not heap.current().live()


SHARED_BY_A_BLOCK = """
extern "C" __global__ void k(int* out) {
    __shared__ int* data;
    if (threadIdx.x == 0) data = (int*)malloc(blockDim.x * 4);
    __syncthreads();
    if (!data) return;
    data[threadIdx.x] = threadIdx.x * blockIdx.x;
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = data[blockDim.x - 1 - threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) free(data);
}"""


def test_one_allocation_for_a_block(engine):
    out = ints(4 * 96)
    engine.c(SHARED_BY_A_BLOCK)(4, 96, out)
    np.testing.assert_array_equal(out.reshape(4, 96), np.arange(4)[:, None] * np.arange(96)[::-1])
    assert not heap.current().live()


# ---------------------------------------------------------------- the rules of the heap


def test_pointers_are_aligned_and_pieces_keep_apart(engine):
    where = np.zeros((64, 4), np.int64)
    engine.c("""
        struct alignas(64) Line { float x[16]; };
        extern "C" __global__ void k(unsigned long long* where) {
            unsigned long long* mine = where + 4 * threadIdx.x;
            mine[0] = (unsigned long long)malloc(1 + threadIdx.x);
            mine[1] = (unsigned long long)new double;
            mine[2] = (unsigned long long)new Line;
            mine[3] = (unsigned long long)new Line[2];
        }""")(1, 64, where)
    assert not (where[:, :2] % 16).any() and not (where[:, 2:] % 64).any() and where.all()
    sizes = np.stack([1 + np.arange(64), np.full(64, 8), np.full(64, 64), np.full(64, 128)], axis=1)
    order = np.argsort(where, axis=None)
    starts, sizes = where.ravel()[order], sizes.ravel()[order]
    assert (starts[:-1] + sizes[:-1] < starts[1:]).all()


def test_placement_new_makes_objects_where_they_are_told(engine):
    out = ints(32)
    engine.c("""
        struct P { int x, y; P(int a) : x(a), y(2 * a) {} ~P() { x = -1; } };
        extern "C" __global__ void k(int* out) {
            __shared__ alignas(P) char room[32 * sizeof(P)];
            char* heap = (char*)malloc(sizeof(P));
            P* a = new (room + threadIdx.x * sizeof(P)) P(threadIdx.x);
            P* b = new (heap) P(100);
            out[threadIdx.x] = a->y + b->x;
            b->~P();
            out[threadIdx.x] += b->x;
            free(heap);
        }""")(1, 32, out)
    np.testing.assert_array_equal(out, 2 * np.arange(32) + 99)


FILL = """
extern "C" __global__ void k(int* out, int bytes) {
    int found = 0;
    void* last = nullptr;
    while (void* p = malloc(bytes)) { *(void**)p = last; last = p; found++; }
    out[threadIdx.x] = found;
    while (last) { void* next = *(void**)last; free(last); last = next; }
}"""


def test_a_full_heap_gives_null_and_is_whole_again_when_all_is_freed(engine):
    heap.set_limit(1 << 16)
    kernel, out = engine.c(FILL), ints(32)
    kernel(1, 32, out, 112)
    assert out.sum() == (1 << 16) // (112 + 16) and out.max() - out.min() <= 1
    kernel(1, 1, out, (1 << 16) - 16)
    assert out[0] == 1, "pieces that were freed join"
    kernel(1, 1, out, 1 << 16)
    assert out[0] == 0, "there is no room for the whole heap and what lies between pieces"


def test_the_heap_has_8_megabytes_by_default_and_sizes_beyond_it_fail(engine):
    out = ints(5)
    engine.c("""
        extern "C" __global__ void k(int* out) {
            size_t sizes[] = {8 << 20, (8 << 20) - 64, 1ull << 40, (size_t)-4, 0};
            for (int i = 0; i < 5; i++) { void* p = malloc(sizes[i]); out[i] = p != nullptr; free(p); }
        }""")(1, 1, out)
    assert out.tolist() == [0, 1, 0, 0, 1]
    assert heap.limit() == heap.current().nbytes == 8 << 20


def test_freeing_null_does_nothing(engine):
    out = ints(1)
    engine.c("""
        extern "C" __global__ void k(int* out) {
            free(nullptr); delete (int*)nullptr; delete[] (int*)nullptr; *out = 1;
        }
    """)(1, 32, out)
    assert out[0] == 1


MANY = """
extern "C" __global__ void k(int* out, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (int r = 0; r < rounds; r++) {
        int n = 1 + (i * 7 + r * 13) % 20;
        int* p = new int[n];
        for (int j = 0; j < n; j++) p[j] = i + j;
        for (int j = 0; j < n; j++) sum += p[j];
        delete[] p;
    }
    out[i] = sum;
}"""


def test_many_blocks_allocate_at_once_and_results_do_not_depend_on_threads(compiled):
    heap.set_limit(1 << 18)  # so small that memory comes round again
    kernel, found = compiled.c(MANY), []
    for threads in (1, 2, 4):
        out = ints(32 * 64)
        kernel(32, 64, out, 9, threads=threads)
        found.append(out)
    i = np.arange(32 * 64)
    counts = [1 + (i * 7 + r * 13) % 20 for r in range(9)]
    np.testing.assert_array_equal(found[0], sum(n * i + n * (n - 1) // 2 for n in counts))
    assert all((each == found[0]).all() for each in found)
    assert not heap.current().live()


@pytest.mark.parametrize("seed", (1, 2))
def test_random_schedules(engine, seed):
    out = ints(128)
    engine.c(MANY)(2, 64, out, 2, schedule="random", seed=seed)
    i = np.arange(128)
    counts = [1 + (i * 7 + r * 13) % 20 for r in range(2)]
    np.testing.assert_array_equal(out, sum(n * i + n * (n - 1) // 2 for n in counts))


def test_divergent_calls_in_a_recursive_function(engine):
    out = ints(32)
    engine.c("""
        struct Node { int value; Node* left; Node* right; };
        __device__ Node* grow(int depth, int value) {
            if (depth == 0) return nullptr;
            Node* node = new Node;
            node->value = value;
            node->left = grow(depth - 1, 2 * value);
            node->right = grow(depth - 1, 2 * value + 1);
            return node;
        }
        __device__ int fell(Node* node) {
            if (!node) return 0;
            int sum = node->value + fell(node->left) + fell(node->right);
            delete node;
            return sum;
        }
        extern "C" __global__ void k(int* out) { out[threadIdx.x] = fell(grow(threadIdx.x % 4, 1)); }""")(1, 32, out)
    np.testing.assert_array_equal(out, [sum(range(1, 2**d)) for d in np.arange(32) % 4])
    assert not heap.current().live()


# ---------------------------------------------------------------- faults

WRONG = """
extern "C" __global__ void k(int* out, int what) {
    int* p = (int*)malloc(40);
    p[0] = 1;
    if (threadIdx.x != 5) return;
    if (what == 0) p[10] = 1;
    if (what == 1) out[0] = p[-1];
    if (what == 2) { free(p);
        out[0] = p[2]; }
    if (what == 3) { free(p);
        free(p); }
    if (what == 4) free(p + 1);
    if (what == 5) free(out);
    if (what == 6) *(int*)((char*)p + 2) = 1;
    if (what == 7) atomicAdd(p + 10, 1);
    if (what == 8) *(double*)(p + 9) = 1;
    if (what == 9) { int* q = (int*)malloc(1ull << 40);
        *q = 1; }
    if (what == 10) p[1 << 19] = 1;
    if (what == 11) *(int4*)(p + 8) = make_int4(0, 0, 0, 0);
    if (what == 12) free(&what);
}"""
OWNER = r"the 40 bytes that thread \(5\) of block \(0\) allocated at line 3"
FAULTS = {
    0: (OutOfBounds, rf"at byte 40 of {OWNER}", 6),
    1: (OutOfBounds, rf"at byte -4 of {OWNER}", 7),
    2: (OutOfBounds, rf"at byte 8 of {OWNER}, after thread \(5\) of block \(0\) freed them at line 8", 9),
    3: (InvalidFree, rf"{OWNER}, a second time: thread \(5\) of block \(0\) freed them at line 10 before", 11),
    4: (InvalidFree, rf"an address 4 bytes into {OWNER}", 12),
    5: (InvalidFree, "^A free of what is not of the heap|`argument 0`, an array of the host's", 13),
    6: (Misaligned, "no multiple of 4", 14),
    7: (OutOfBounds, rf"at byte 40 of {OWNER}", 15),
    8: (OutOfBounds, rf"at byte 36 of {OWNER}", 16),
    9: (OutOfBounds, "null pointer|outside global", 18),
    10: (OutOfBounds, "in the heap, where nothing is allocated", 19),
    11: (OutOfBounds, rf"at byte 32 of {OWNER}", 20),
    12: (InvalidFree, "what is not of the heap", 21),
}


@pytest.mark.parametrize("what", FAULTS)
def test_faults_say_who_allocated_and_who_freed(engine, what):
    kind, words, line = FAULTS[what]
    with pytest.raises(kind, match=words) as caught:
        engine.c(WRONG)(1, 32, ints(32), what)
    assert (caught.value.line, caught.value.thread, caught.value.block) == (line, (5, 0, 0), (0, 0, 0))


def test_a_null_pointer_in_a_kernel_that_allocates_tells_of_the_limit(compiled):
    with pytest.raises(OutOfBounds, match=r"heap is full.*deviceSetLimit"):
        compiled.c(WRONG)(1, 32, ints(32), 9)


def test_another_kernel_is_named_as_the_one_that_allocated(compiled):
    source = LISTS + 'extern "C" __global__ void bad(int* out) { *out = heads[3][1].value; }'
    build, bad = together(compiled, source, "build", "bad")
    build(2, 32, 1)
    with pytest.raises(
        OutOfBounds, match=r"the 16 bytes that thread \(3\) of block \(0\) allocated at line 7 of kernel build"
    ):
        bad(1, 1, ints(1))


def test_memory_of_freed_pieces_is_given_out_again_as_late_as_can_be(compiled):
    area, caller = heap.Heap(4096), (None, None, 0, 0)
    first = area.allocate(100, caller)
    assert area.free(first, caller) and not area.free(first, caller)
    assert area.allocate(100, caller) != first and area.find(first).freed_by is not None
    given = [first]
    while address := area.allocate(100, caller):
        given.append(address)
    assert len(set(given)) == len(given) - 1 and given.count(first) == 2, "the freed piece came last"


def test_pieces_of_every_size_never_overlap():
    area, caller, random = heap.Heap(1 << 15), (None, None, 0, 0), np.random.default_rng(11)
    live: dict[int, int] = {}
    for _ in range(3000):
        if live and random.random() < 0.5:
            address = list(live)[random.integers(len(live))]
            del live[address]
            assert area.free(address, caller)
        else:
            nbytes, alignment = int(random.integers(0, 1500)), 16 << int(random.integers(0, 4))
            if address := area.allocate(nbytes, caller, alignment):
                assert address % alignment == 0 and area.base <= address <= area.base + area.nbytes - nbytes
                assert all(a + n < address or address + nbytes < a for a, n in live.items())
                live[address] = nbytes
        assert area.in_use == sum(live.values())
    for address, nbytes in live.items():
        ends = np.array([address + nbytes - 1, address + nbytes], np.uint64)
        assert area.inside(ends, 1).tolist() == [nbytes > 0, False]
        area.free(address, caller)
    assert area.allocate(area.nbytes - 16, caller), "all of it joins again"


# ---------------------------------------------------------------- the host's side


def test_the_limit_is_set_through_the_runtime_api_and_only_before_the_first_launch():
    runtime = cp.cuda.runtime
    assert runtime.deviceGetLimit(runtime.cudaLimitMallocHeapSize) == 8 << 20
    runtime.deviceSetLimit(runtime.cudaLimitMallocHeapSize, 16 << 20)
    assert runtime.deviceGetLimit(runtime.cudaLimitMallocHeapSize) == 16 << 20
    out = cp.zeros(32, np.int32)
    kernel = cp.RawKernel(FILL, "k")
    kernel((1,), (1,), (out, 1 << 20))
    assert out[0] == 15
    with pytest.raises(CUDARuntimeError, match=r"cudaErrorInvalidValue.*fixed once"):
        runtime.deviceSetLimit(runtime.cudaLimitMallocHeapSize, 1 << 20)
    assert runtime.deviceGetLimit(runtime.cudaLimitStackSize) == layout.STACK_BYTES
    assert runtime.deviceGetLimit(runtime.cudaLimitPrintfFifoSize) == host_calls.LIMIT
    with pytest.raises(CUDARuntimeError, match="only cudaLimitMallocHeapSize"):
        runtime.deviceSetLimit(runtime.cudaLimitStackSize, 4096)
    with pytest.raises(CUDARuntimeError, match="no limit 9"):
        runtime.deviceGetLimit(9)
    cuda.close()
    assert runtime.deviceGetLimit(runtime.cudaLimitMallocHeapSize) == 8 << 20


def test_after_a_reset_old_pointers_lead_nowhere(engine):
    build, total = together(engine, LISTS + "  // with variables of its own", "build", "sum")
    build(2, 32, 3)
    first = heap.current().base
    heap.reset()
    assert heap.ensure().base != first
    with pytest.raises(OutOfBounds):
        total(2, 32, ints(64))


@pytest.mark.parametrize("nbytes", (0, -1, 1 << 40))
def test_a_limit_that_cannot_be(nbytes):
    with pytest.raises(CUDARuntimeError, match="cannot be"):
        cp.cuda.runtime.deviceSetLimit(cp.cuda.runtime.cudaLimitMallocHeapSize, nbytes)


def test_the_host_cannot_copy_from_the_heap():
    kept, out = cp.zeros(1, np.int64), np.zeros(4, np.int32)
    cp.RawKernel('extern "C" __global__ void k(int** kept) { *kept = new int[4]; }', "k")((1,), (1,), (kept,))
    runtime = cp.cuda.runtime
    with pytest.raises(CUDARuntimeError, match="not on the device"):
        runtime.memcpy(out.ctypes.data, int(kept[0]), 16, runtime.memcpyDeviceToHost)


def test_printf_reads_strings_in_the_heap(compiled, capsys):
    compiled.c("""
        extern "C" __global__ void k() {
            char* text = (char*)malloc(4);
            text[0] = 'h'; text[1] = 'i'; text[2] = '0' + threadIdx.x; text[3] = 0;
            printf("%s\\n", text);
            free(text);
        }""")(1, 2)
    assert capsys.readouterr().out == "hi0\nhi1\n"


def test_accesses_to_the_heap_are_counted_and_allocating_is_not():
    kernel = cp.RawKernel(
        """
        extern "C" __global__ void k(int* out) {
            __shared__ int* row;
            if (threadIdx.x == 0) row = new int[64];
            __syncthreads();
            row[threadIdx.x] = threadIdx.x;
            __syncthreads();
            out[threadIdx.x] = row[63 - threadIdx.x];
            __syncthreads();
            if (threadIdx.x == 0) delete[] row;
        }""",
        "k",
    )
    found = profile(kernel, 1, 64, (cp.zeros(64, np.int32),)).counters
    keys = ("global_store_requests", "global_store_sectors", "global_load_requests", "global_load_sectors")
    told = {line: [found.lines[line].get(key, 0) for key in keys] for line in (4, 6, 8, 10)}
    assert told == {4: [0, 0, 0, 0], 6: [2, 8, 0, 0], 8: [2, 8, 2, 8], 10: [0, 0, 0, 0]}
    assert (found.footprint.read_bytes, found.footprint.written_bytes) == (256, 512)


def test_a_trace_leaves_the_heap_as_it_was(compiled):
    source = """
        extern "C" __global__ void make(int** kept) { kept[threadIdx.x] = new int(threadIdx.x); }
        extern "C" __global__ void drop(int** kept, int* out) {
            out[threadIdx.x] = *kept[threadIdx.x]; delete kept[threadIdx.x];
        }
    """
    module = cp.RawModule(code=source)
    kept, out = cp.zeros(32, np.int64), cp.zeros(32, np.int32)
    module.get_function("make")((1,), (32,), (kept,))
    seen = trace(module.get_function("drop"), 1, 32, (kept, out))
    assert len(seen.accesses) and len(heap.current().live()) == 32
    module.get_function("drop")((1,), (32,), (kept, out))
    np.testing.assert_array_equal(out.get(), np.arange(32))
    assert not heap.current().live()
