"""The reference interpreter itself: order of execution, observers, and lanes that talk to each other."""

from __future__ import annotations

import struct
from itertools import pairwise

import numpy as np
import pytest

from vgpu import ptx, reference
from vgpu.base.errors import OutOfBounds, Unsupported
from vgpu.compile import cuda_c_to_ptx
from vgpu.reference import lanes as reference_lanes
from vgpu.storage import layout, memory

LANE = np.arange(32)
EVERY = np.ones(32, bool)


def module_of(source: str) -> ptx.Module:
    return ptx.parse(cuda_c_to_ptx(source).ptx)


def run(source: str, grid, block, *arguments, **options) -> int:
    module = module_of(source)
    (kernel,) = module.kernels.values()
    params = [
        struct.pack("<Q", a.ctypes.data) if isinstance(a, np.ndarray) else struct.pack("<i", a) for a in arguments
    ]
    return reference.run(kernel, module, grid, block, params, **options)


def ints(n) -> np.ndarray:
    data = memory.array(n, np.int32)
    data[:] = 0
    return data


# ---------------------------------------------------------------- order and observers

SPLIT = """extern "C" __global__ void split(int* out) {
    int v = threadIdx.x;
    if (v < 8)
        v = v * v * v + out[100];
    else
        v = v + out[101];
    out[v % 64] = v;
}"""


def test_the_lowest_place_runs_first_and_lanes_meet_again():
    steps = []
    out = ints(128)
    run(SPLIT, 1, 32, out, on_step=steps.append)
    counts = [int(step.mask.sum()) for step in steps]
    assert counts[0] == counts[-1] == 32 and set(counts) == {32, 8, 24}
    assert [step.step for step in steps] == list(range(1, len(steps) + 1))
    assert {4, 6, 7} <= {step.line for step in steps} <= set(range(1, 9))


def test_blocks_can_be_chosen():
    source = 'extern "C" __global__ void mark(int* out) { out[blockIdx.x + 4 * blockIdx.y] = 1 + threadIdx.x; }'
    out = ints(8)
    run(source, (4, 2), 1, out, blocks=[(2, 1, 0), (0, 0, 0)])
    assert out.tolist() == [1, 0, 0, 0, 0, 0, 1, 0]


def test_accesses_are_reported_with_their_space():
    source = """__constant__ int table[4] = {5, 6, 7, 8};
    extern "C" __global__ void spaces(int* out) {
        __shared__ int s[64];
        int l[4];
        for (int k = 0; k < 4; ++k) l[(k + out[0]) % 4] = k;
        s[threadIdx.x * 2] = l[threadIdx.x % 4];
        __syncthreads();
        atomicAdd(&out[threadIdx.x % 2], s[threadIdx.x] + table[threadIdx.x % 4]);
    }"""
    seen = []
    out = ints(2)
    run(source, 1, 32, out, on_access=seen.append)
    kinds = {(a.space, a.op) for a in seen}
    assert kinds == {
        ("global", "load"), ("local", "store"), ("local", "load"), ("shared", "store"), ("shared", "load"),
        ("const", "load"), ("global", "atomic"),
    }  # fmt: skip
    (store,) = [a for a in seen if (a.space, a.op) == ("shared", "store")]
    assert store.nbytes == 4 and store.addresses.tolist() == (LANE * 8).tolist() and store.line == 6
    (atomic,) = [a for a in seen if a.op == "atomic"]
    assert (atomic.addresses - np.uint64(out.ctypes.data)).tolist() == (LANE % 2 * 4).tolist()


def test_generic_addresses_are_told_apart_lane_by_lane():
    source = """__device__ __noinline__ int get(const int* p) { return *p; }
    extern "C" __global__ void pick(int* out) {
        __shared__ int s[32];
        s[threadIdx.x] = 100 + threadIdx.x;
        out[32 + threadIdx.x] = get(threadIdx.x % 2 ? &s[threadIdx.x] : &out[threadIdx.x]);
    }"""
    seen, out = [], ints(64)
    run(source, 1, 32, out, on_access=seen.append)
    loads = [a for a in seen if a.op == "load"]
    assert [(a.space, int(a.mask.sum())) for a in loads] == [("global", 16), ("shared", 16)]
    assert out[32:].tolist() == [100 + t if t % 2 else 0 for t in range(32)]


def test_calls_that_never_return_fill_the_stack():
    source = """__device__ int deep(volatile int* p, int n) {
        volatile int here[64];
        here[n % 64] = n;
        return deep(p, n + p[0]) + here[0];
    }
    extern "C" __global__ void fall(int* out) { out[0] = deep(out, 1); }"""
    with pytest.raises(OutOfBounds, match="stack"):
        run(source, 1, 1, ints(1))


def test_what_it_does_not_know_is_named():
    module = ptx.parse(""".version 8.5
.target sm_80
.address_size 64
.entry k() {
    .reg .b32 %r<4>; .reg .f32 %f<4>; .reg .b64 %rd;
    wgmma.rest.sync.aligned;
    ret;
}""")
    with pytest.raises(Unsupported, match=r"wgmma"):
        reference.run(module.kernels["k"], module, 1, 32, [])


def test_printing_goes_where_it_is_told():
    said = []
    run('extern "C" __global__ void hi(int n) { printf("%d of %d\\n", threadIdx.x, n); }', 1, 3, 7, output=said.append)
    assert said == ["0 of 7\n", "1 of 7\n", "2 of 7\n"]


# ---------------------------------------------------------------- lanes


def test_shuffles_by_definition():
    values = LANE * 10
    constant = lambda n: np.full(32, n, np.uint32)
    for mode, b, c, source in [
        ("idx", 5, 31, np.full(32, 5)),
        ("up", 3, 0, np.where(LANE >= 3, LANE - 3, LANE)),
        ("down", 4, 31, np.where(LANE < 28, LANE + 4, LANE)),
        ("bfly", 7, 31, LANE ^ 7),
        ("down", 1, 0x181F, np.where(LANE % 8 < 7, LANE + 1, LANE)),  # basic blocks of 8 lanes
    ]:
        received, inside = reference_lanes.shuffle(mode, values, constant(b), constant(c))
        assert received.tolist() == (source * 10).tolist(), mode
        assert (inside | (source == LANE)).all(), "who receives nothing keeps what it has"
    _, inside = reference_lanes.shuffle("down", values, constant(4), constant(31))
    assert inside.tolist() == (LANE < 28).tolist()


def test_votes_matches_and_reductions_by_definition():
    active = LANE % 3 == 0
    odd = LANE % 2 == 1
    assert set(reference_lanes.vote("ballot", odd, active)) == {sum(1 << n for n in range(32) if n % 3 == 0 and n % 2)}
    assert reference_lanes.vote("any", odd, active).all() and not reference_lanes.vote("all", odd, active).any()
    assert reference_lanes.vote("uni", np.zeros(32, bool), active).all()
    found, _ = reference_lanes.match("any", LANE % 4, EVERY)
    assert found[5] == sum(1 << n for n in range(1, 32, 4))
    whole, same = reference_lanes.match("all", np.full(32, 9), active)
    assert set(whole) == {reference_lanes.mask_of(active)} and same.all()
    assert set(reference_lanes.reduce("add", LANE.astype(np.uint32), active)) == {sum(range(0, 32, 3))}
    assert set(reference_lanes.reduce("min", LANE.astype(np.int32) - 9, active)) == {-9}
    leader, chosen = reference_lanes.elect(LANE > 6)
    assert set(leader) == {7} and np.flatnonzero(chosen).tolist() == [7]


# ---------------------------------------------------------------- where variables lie


def test_layouts():
    source = """__device__ __noinline__ float help(float v) {
        __shared__ float mine[5];
        mine[threadIdx.x % 5] = v;
        return mine[0];
    }
    struct S { char c; double d; };
    extern "C" __global__ void k(char a, S s, float* p) {
        __shared__ char small[3]; __shared__ double wide[4]; extern __shared__ float more[];
        small[a] = 1; wide[a] = s.d; more[a] = 2; __syncthreads();
        *p = small[0] + wide[1] + more[2] + help(s.c);
    }"""
    module = module_of(source)
    kernel = module.kernels["k"]
    offsets, total = layout.parameter_layout(kernel)
    assert list(offsets.values()) == [0, 8, 24] and total == 32
    places, static, dynamic = layout.shared_layout(module, kernel)
    assert dynamic == layout.align_up(static, 16) and places["more"] == dynamic
    spans = sorted((places[n], v.nbytes) for f in layout.reachable(module, kernel) for n, v in f.variables.items()
                   if v.space == "shared" and not v.external)  # fmt: skip
    assert len(spans) == 3 and all(a + n <= b for (a, n), (b, _) in pairwise(spans))


def test_module_variables_are_loaded_with_their_pointers():
    module = module_of("""__constant__ int table[3] = {1, 2, 3};
    __device__ int* first;
    __device__ const int* third = table + 2;
    extern "C" __global__ void k(int* p) { *p = *third + (first != nullptr) + table[*p]; }""")
    loaded = layout.load_variables(module)
    read = lambda name: bytes(np.asarray(loaded.allocations[name]))
    assert struct.unpack("<3i", read("table")) == (1, 2, 3)
    assert struct.unpack("<Q", read("third")) == (loaded.addresses["table"] + 8,)
    assert read("first") == bytes(8)
    assert "0x" not in repr(loaded), "addresses change from run to run"
