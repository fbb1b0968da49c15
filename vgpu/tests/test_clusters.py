"""Clusters of blocks: ranks, other blocks' shared memory, the cluster's barrier, on both engines and in any order."""

import numpy as np
import pytest

from vgpu import reference
from vgpu.base.errors import Deadlock, LaunchError, OutOfBounds
from vgpu.launch import launch
from vgpu.programs.observed import Observed
from vgpu.standins import cupy as cp
from vgpu.tests.corpus.harness import prepare_c, to_ptx
from vgpu.tests.test_bulk_copies import mapped, on_device
from vgpu.tools.counter_sums import BY_KEY
from vgpu.tools.profile import profile
from vgpu.tools.sanitize import sanitize

HEAD = """#include <cooperative_groups.h>
namespace cg = cooperative_groups;
typedef unsigned u32;
__device__ u32 mapped(const void* p, u32 rank) {
    u32 a = (u32)__cvta_generic_to_shared(p), r;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(rank));
    return r;
}
__device__ void wait(u32 bar, u32 parity) {
    u32 done;
    do asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
        : "=r"(done) : "r"(bar), "r"(parity) : "memory");
    while (!done);
}
extern "C" __global__ void __cluster_dims__(SHAPE) k(const float* in, float* out) {
    __shared__ float s[64];
    cg::cluster_group c = cg::this_cluster();
    u32 t = threadIdx.x, b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z), i = b * 64 + t;
    u32 rank = c.block_rank(), size = c.num_blocks(), next = (rank + 1) % size;
    s[t] = in[i];
"""
TAIL = "\n c.sync(); }"
# body; what `out` is for `in`, both of shape (clusters, blocks of one by rank, 64)
BODIES = {
    "read the next block": (
        "c.sync(); out[i] = c.map_shared_rank(s, next)[63 - t];", lambda x: np.roll(x, -1, 1)[:, :, ::-1]
    ),
    "write to the next block": (
        "c.sync(); float x = s[t]; c.sync(); c.map_shared_rank(s, next)[t] = x + 1; c.sync(); out[i] = s[t];",
        lambda x: np.roll(x, 1, 1) + 1,
    ),
    "atomics at rank 0": (
        "c.sync(); if (rank) atomicAdd(&c.map_shared_rank(s, 0)[t], s[t]); c.sync(); out[i] = s[t];",
        lambda x: np.concatenate([x.sum(1, keepdims=True), x[:, 1:]], 1),
    ),
    "32-bit addresses": (
        """c.sync(); float x; asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(x) : "r"(mapped(&s[t], next)));
        c.sync(); asm volatile("st.shared::cluster.f32 [%0], %1;" :: "r"(mapped(&s[t], next)), "f"(2 * x) : "memory");
        c.sync(); asm volatile("red.shared::cluster.add.f32 [%0], %1;" :: "r"(mapped(&s[t], next)), "f"(1.f));
        c.sync(); out[i] = s[t];""",
        lambda x: 2 * x + 1,
    ),
    "its own block by 32-bit addresses": (
        """float x; asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(x) : "r"(mapped(&s[t], rank)));
        asm volatile("ld.shared::cluster.f32 %0, [%1];" : "+f"(x) : "r"((u32)__cvta_generic_to_shared(&s[t])));
        out[i] = x;""",
        lambda x: x,
    ),
    "one address for all lanes": (
        """c.sync(); float x; u32 first; asm("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(first) : "r"(
        (u32)__cvta_generic_to_shared(s))); asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(x) : "r"(first));
        out[i] = x;""",
        lambda x: x[:, :1, :1] + 0 * x,
    ),
    "its own word by one address": (
        """float x; __syncthreads();
        asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(x) : "r"((u32)__cvta_generic_to_shared(s))); out[i] = x;
        """,
        lambda x: x[:, :, :1] + 0 * x,
    ),
    "addresses there and back": (
        """c.sync(); float* there = c.map_shared_rank(&s[t], next);
        out[i] = *(float*)__cvta_shared_to_generic(__cvta_generic_to_shared(there));""",
        lambda x: np.roll(x, -1, 1),
    ),
    "whose address it is": (
        """u32 named, r; asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(named) : "r"(mapped(s, next)));
        asm("getctarank.u64 %0, %1;" : "=r"(r) : "l"(c.map_shared_rank(s, next)));
        out[i] = named * 100 + r * 10 + c.query_shared_rank(s);""",
        lambda x: (lambda rank: np.roll(rank, -1, 1) * 110 + rank)(np.arange(x.shape[1])[None, :, None] + 0 * x),
    ),
    "each lane another block": (
        "c.sync(); out[i] = *c.map_shared_rank(&s[t], t % size);",
        lambda x: np.stack([x[:, t % x.shape[1], t] for t in range(64)], -1)[:, None] + 0 * x,
    ),
    "an arrival long before the wait": (
        """c.sync(); float x = c.map_shared_rank(s, next)[t]; c.barrier_arrive(); x = 3 * x; c.barrier_wait(); s[t] = x;
        c.sync(); out[i] = c.map_shared_rank(s, next)[t];""",
        lambda x: 3 * np.roll(x, -2, 1),
    ),
    "lanes at barriers in a branch": (
        "if (t & 1) { s[t] += 1; c.sync(); } else { s[t] += 2; c.sync(); } out[i] = c.map_shared_rank(s, next)[t];",
        lambda x: np.roll(x, -1, 1) + 2 - np.arange(64) % 2,
    ),
    "threads that have ended": (
        """if (t >= 40) { out[i] = 7; return; } c.sync(); float x = c.map_shared_rank(s, next)[t]; c.sync(); out[i] = x;
        return;""",
        lambda x: np.where(np.arange(64) < 40, np.roll(x, -1, 1), 7),
    ),
    "many rounds": (
        """for (int k = 0; k < 5; k++) { c.sync(); float x = c.map_shared_rank(s, next)[t]; c.sync(); s[t] = x; }
        out[i] = s[t];""",
        lambda x: np.roll(x, -5, 1),
    ),
}  # fmt: skip
SHAPES = {"2": (8, 1, 1), "4": (8, 1, 1), "2, 2": (4, 2, 1), "1, 2, 2": (3, 2, 2), "8": (16, 1, 1)}


def by_cluster(x, shape, grid):
    """Rows of 64 per block, as (clusters, ranks, 64)."""
    (cx, cy, cz), (nx, ny, nz) = shape, grid
    parts = x.reshape(nz // cz, cz, ny // cy, cy, nx // cx, cx, 64).transpose(0, 2, 4, 1, 3, 5, 6)
    return parts.reshape(-1, cx * cy * cz, 64)


MBARRIERS = """
    __shared__ unsigned long long bar; u32 own = (u32)__cvta_generic_to_shared(&bar);
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(own), "r"(ARRIVALS));
    asm volatile("fence.mbarrier_init.release.cluster;"); c.sync();
"""
BODIES |= {
    "arrivals at another block's mbarrier": (
        MBARRIERS.replace("ARRIVALS", "64") + """
        c.map_shared_rank(s, next)[t] = in[i] + 5;
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(mapped(&bar, next)));
        wait(own, 0); out[i] = s[t];""",
        lambda x: np.roll(x, 1, 1) + 5,
    ),
    "stores that complete another block's mbarrier": (
        MBARRIERS.replace("ARRIVALS", "1") + """
        if (t == 0) asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" :: "r"(own) : "memory");
        if (t < 16) asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%2, %3, %4, %5}, "
            "[%1];" :: "r"(mapped(&s[4 * t], next)), "r"(mapped(&bar, next)), "f"(in[i + 3 * t]),
            "f"(in[i + 3 * t + 1]), "f"(in[i + 3 * t + 2]), "f"(in[i + 3 * t + 3]) : "memory");
        wait(own, 0); out[i] = s[t];""",
        lambda x: np.roll(x, 1, 1),
    ),
    "a bulk copy to every block": (
        MBARRIERS.replace("ARRIVALS", "1") + """
        __shared__ __align__(128) float all[4 * 64];
        if (t == 0) {
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" :: "r"(own) : "memory");
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                "[%0], [%1], 256, [%2], %3;" :: "r"((u32)__cvta_generic_to_shared(all + 64 * rank)), "l"(in + i),
                "r"(own), "h"((short)15) : "memory");
        }
        wait(own, 0); out[i] = all[t] + all[64 + t] + all[128 + t] + all[192 + t]; c.sync();""",
        lambda x: x.sum(1, keepdims=True) + 0 * x,
    ),
    "a bulk copy to some blocks, of which one ends": (
        MBARRIERS.replace("ARRIVALS", "1") + """
        if (t == 0 && rank != 3) {
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" :: "r"(own) : "memory");
            if (rank == 1) asm volatile(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                "[%0], [%1], 256, [%2], %3;" :: "r"((u32)__cvta_generic_to_shared(s)), "l"(in + i), "r"(own),
                "h"((short)7) : "memory");
        }
        if (rank == 3) { out[i] = 1; c.barrier_arrive(); return; }
        wait(own, 0); out[i] = s[t]; c.sync(); return;""",
        lambda x: np.concatenate([x[:, [1, 1, 1]], 0 * x[:, :1] + 1], 1),
    ),
    "a bulk copy between blocks": (
        MBARRIERS.replace("ARRIVALS", "1") + """
        __shared__ __align__(16) float from[64]; from[t] = in[i] * 2; __syncthreads();
        asm volatile("fence.proxy.async;" ::: "memory");
        if (t == 0) {
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" :: "r"(own) : "memory");
            asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];"
                :: "r"(mapped(s, next)), "r"((u32)__cvta_generic_to_shared(from)), "r"(mapped(&bar, next)) : "memory");
        }
        wait(own, 0); out[i] = s[t]; c.sync();""",
        lambda x: 2 * np.roll(x, 1, 1),
    ),
    **{f"a bulk reduction in another block: {operation}": (
        MBARRIERS.replace("ARRIVALS", "1") + f"""
        __shared__ __align__(16) int from[64]; from[t] = in[i]; ((int*)s)[t] = t; __syncthreads();
        asm volatile("fence.proxy.async;" ::: "memory"); c.sync();
        if (t == 0) {{
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" :: "r"(own) : "memory");
            asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.{operation} "
                "[%0], [%1], 256, [%2];" :: "r"(mapped(s, next)), "r"((u32)__cvta_generic_to_shared(from)),
                "r"(mapped(&bar, next)) : "memory");
        }}
        wait(own, 0); out[i] = ((int*)s)[t]; c.sync();""",
        lambda x, combine=combine: combine(np.roll(x, 1, 1).astype(int), np.arange(64)),
    ) for operation, combine in {"add.s32": np.add, "max.s32": np.maximum, "xor.b32": np.bitwise_xor}.items()},
    "reductions that complete another block's mbarrier": (
        MBARRIERS.replace("ARRIVALS", "1") + """
        int* counts = (int*)s; counts[t] = t; c.sync();
        if (t == 0) asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" :: "r"(own) : "memory");
        asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.s32 [%0], %2, [%1];"
            :: "r"(mapped(&counts[t], next)), "r"(mapped(&bar, next)), "r"((int)in[i]) : "memory");
        wait(own, 0); out[i] = counts[t];""",
        lambda x: np.roll(x, 1, 1) + np.arange(64),
    ),
}  # fmt: skip


PAIRS = """struct alignas(64) CUtensorMap { unsigned long long opaque[16]; };
typedef unsigned u32;
extern "C" __global__ void __cluster_dims__(4) k(const __grid_constant__ CUtensorMap in, float* out) {
    __shared__ __align__(128) float s[32];
    __shared__ unsigned long long bar;
    u32 t = threadIdx.x, rank, own = (u32)__cvta_generic_to_shared(&bar), to = (u32)__cvta_generic_to_shared(s);
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.mbarrier_init.release.cluster;" :: "r"(own));
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    if (t == 0) {
        if (rank % 2 == TELLS)
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" :: "r"(own) : "memory");
        COPY
    }
    if (rank % 2 == TELLS) asm volatile(
        "{ .reg .pred p; again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0; @!p bra again; }"
        :: "r"(own) : "memory");
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    out[32 * blockIdx.x + t] = s[t];
}"""
LEADER = "own & 0xFEFFFFFF"  # in a GPU's address, bit 24 is the lowest of the rank
OWN_ROW = """asm volatile("cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.tile"
    ".mbarrier::complete_tx::bytes [%0], [%1, {0, %2}], [%3];"
    :: "r"(to), "l"(&in), "r"(blockIdx.x), "r"(BARRIER) : "memory");"""
EVERY_ROW = """if (rank == FROM) asm volatile("cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.tile"
    ".mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {0, 2}], [%3], 15;"
    :: "r"(to), "l"(&in), "r"(0), "r"(BARRIER) : "memory");"""


@pytest.mark.parametrize(
    ("copy", "tells", "rows"),
    [
        (OWN_ROW.replace("BARRIER", LEADER), 0, [0, 1, 2, 3]),
        (EVERY_ROW.replace("FROM", "3").replace("BARRIER", LEADER), 0, [2] * 4),
        (EVERY_ROW.replace("FROM", "3").replace("BARRIER", "own"), 1, [2] * 4),
        (EVERY_ROW.replace("FROM", "0").replace("BARRIER", "own"), 0, [2] * 4),
    ],
)
def test_tensor_copies_for_pairs_of_blocks(engine, copy, tells, rows):
    """The bytes that come to both blocks of a pair count at the mbarrier of one of them."""
    given, out = on_device(np.random.default_rng(3).random((4, 32), np.float32)), np.zeros((4, 32), np.float32)
    text = PAIRS.replace("TELLS", str(tells)).replace("COPY", copy)
    engine.c(text, "k", arch="compute_100a")(4, 32, mapped(given, (1, 32)), out)
    np.testing.assert_array_equal(out, given[rows])


def source(body, shape):
    return HEAD.replace("SHAPE", shape) + body + TAIL


def check(engine, name, shape, **options):
    body, expected = BODIES[name]
    sizes = (*map(int, shape.split(",")), 1, 1)[:3]
    grid = SHAPES[shape]
    given = np.random.default_rng(3).integers(0, 50, (np.prod(grid), 64)).astype(np.float32)
    out = np.zeros_like(given)
    engine.c(source(body, shape), "k", arch="compute_90")(grid, 64, given, out, **options)
    np.testing.assert_array_equal(by_cluster(out, sizes, grid), expected(by_cluster(given, sizes, grid)))


@pytest.mark.parametrize("name", BODIES)
def test_kernels_with_clusters(engine, name):
    check(engine, name, "4")


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_of_clusters(engine, shape):
    check(engine, "read the next block", shape)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", BODIES)
def test_any_order_of_blocks_and_warps(engine, name, seed):
    check(engine, name, "2, 2", schedule="random", seed=seed)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_clusters_stay_on_one_worker(compiled, threads):
    check(compiled, "write to the next block", "2", threads=threads)


def test_special_registers(engine):
    names = ("clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid")
    reads = [
        f'asm("mov.u32 %0, %%{name}.{axis};" : "=r"(v)); out[i * 14 + {at}] = v;'
        for at, (name, axis) in enumerate((n, a) for n in names for a in "xyz")
    ]
    reads += [
        f'asm("mov.u32 %0, %%{name};" : "=r"(v)); out[i * 14 + {at}] = v;'
        for at, name in ((12, "cluster_ctarank"), (13, "cluster_nctarank"))
    ]
    text = f"""extern "C" __global__ void __cluster_dims__(2, 2, 1) k(unsigned* out) {{
        unsigned v, i = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
        {"".join(reads)} }}"""
    out = np.zeros((2, 4, 6, 14), np.uint32)
    engine.c(text, "k", arch="compute_90")((6, 4, 2), 1, out)
    z, y, x = np.indices((2, 4, 6))
    wanted = [x // 2, y // 2, z, 3, 2, 2, x % 2, y % 2, 0 * z, 2, 2, 1, x % 2 + 2 * (y % 2), 4]
    np.testing.assert_array_equal(out, np.stack([w + 0 * x for w in wanted], -1))


def test_a_launch_may_choose_the_size(engine, hopper):
    """One PTX serves all sizes: the size is the launch's, and each is counted by itself."""
    text = to_ptx(
        """extern "C" __global__ void k(unsigned* out) { unsigned v;
        asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(v)); out[blockIdx.x] = v; }""",
        (),
        "compute_90",
    )
    kernel, seen = launch.load(text, language="cuda")["k"], Observed()
    for size in ((2, 1, 1), (4, 1, 1), (2, 1, 1)):
        clustered = kernel.in_clusters(size)
        assert clustered is kernel.in_clusters(size) and clustered.ptx == kernel.ptx
        out = on_device(np.zeros(8, np.uint32))
        prepared = prepare_c(clustered, (out,))
        if engine.name == "reference":
            reference.run(clustered, None, 8, 1, prepared.params)
        else:
            with launch.FINISHED.hearing(seen.note):
                launch.launch(clustered, 8, 1, prepared.params, prepared.arrays)
        prepared.finish()
        assert out.tolist() == [size[0]] * 8
    assert kernel.cluster == (1, 1, 1)
    assert engine.name == "reference" or [each.launches for each in seen.launched] == [2, 1]


def test_without_clusters_each_block_is_its_own(engine):
    text = """extern "C" __global__ void k(unsigned* out) { unsigned v;
        asm("mov.u32 %0, %%clusterid.x;" : "=r"(v)); out[blockIdx.x] = v; }"""
    out = np.zeros(5, np.uint32)
    engine.c(text, "k", arch="compute_90")(5, 1, out)
    assert out.tolist() == [0, 1, 2, 3, 4]


@pytest.fixture
def hopper():
    from vgpu import device

    device("H100")
    yield
    device.reset()


def test_counts(hopper):
    body, _ = BODIES["atomics at rank 0"]
    kernel = cp.RawKernel(source(body, "4"), "k")
    found = profile(kernel, (8,), (64,), (cp.zeros(512, cp.float32), cp.zeros(512, cp.float32))).total
    assert found["remote_atomic_requests"] == 6 * 2  # ranks 1 to 3 of two clusters, two warps each
    assert found["remote_atomic_bytes"] == 6 * 64 * 4
    assert found["cluster_barriers"] == 3 * 8 * 2 and found["barriers"] == found["waits"] == 0
    assert found["shared_atomic_requests"] == 0


@pytest.mark.parametrize(("name", "near"), [("a bulk copy to every block", 3 / 4), ("a bulk copy between blocks", 1)])
def test_bytes_that_global_memory_is_not_read_for(hopper, name, near):
    kernel = cp.RawKernel(source(BODIES[name][0], "4"), "k")
    found = profile(kernel, (8,), (64,), (cp.zeros(512, cp.float32), cp.zeros(512, cp.float32)))
    moved = found["bulk_load_bytes"]
    assert moved == 8 * 256 * (4 if near < 1 else 1) and found["bulk_cluster_bytes"] == near * moved
    ordinary = 32 * (found["global_load_sectors"] + found["global_store_sectors"])
    assert found["l2_bytes"] == ordinary + (1 - near) * moved
    assert BY_KEY["global_read_sectors"].of(found.total) == found["global_load_sectors"] + (1 - near) * moved / 32


# ---------------------------------------------------------------- errors


def test_a_grid_that_cannot_be_divided(hopper):
    kernel = cp.RawKernel(source("", "4"), "k")
    with pytest.raises(LaunchError, match="clusters of \\(4, 1, 1\\) blocks, and the grid of \\(6, 1, 1\\)"):
        kernel((6,), (64,), (cp.zeros(384, cp.float32), cp.zeros(384, cp.float32)))


def test_clusters_of_more_blocks_than_a_gpu_takes(compiled):
    with pytest.raises(LaunchError, match="16 blocks; a GPU takes 1 to 8"):
        compiled.c(source("", "16"), "k", arch="compute_90")(16, 64, np.zeros(1024, "f4"), np.zeros(1024, "f4"))


OUTSIDE = {
    "a rank that the cluster doesn't have": "c.sync(); out[i] = *c.map_shared_rank(&s[t], 4);",
    "beyond the end of the other block's": "c.sync(); out[i] = c.map_shared_rank(s, next)[t + 1];",
    "a block that has ended": """if (rank == 0) return; c.sync(); if (rank == 1) { for (int k = 0; k < 3; k++) c.sync();
        out[i] = *c.map_shared_rank(&s[t], 0); } else { for (int k = 0; k < 3; k++) c.sync(); } return;""",
}


def test_the_mbarrier_of_a_block_that_has_ended(compiled):
    body = """__shared__ unsigned long long bar; unsigned at = (unsigned)__cvta_generic_to_shared(&bar), far;
        if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" :: "r"(at) : "memory");
        c.sync(); if (rank == 0) return; c.sync();
        asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(far) : "r"(at));
        asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" :: "r"(far) : "memory"); return;"""
    with pytest.raises(OutOfBounds, match="used an mbarrier of 8 bytes of the shared memory of a block that has ended"):
        compiled.c(source(body, "2"), "k", arch="compute_90")(2, 64, np.zeros(128, "f4"), np.zeros(128, "f4"))


@pytest.mark.parametrize("name", OUTSIDE)
def test_memory_that_is_none(engine, name):
    kernel = engine.c(source(OUTSIDE[name], "4"), "k", arch="compute_90")
    with pytest.raises(OutOfBounds, match=None if "end of" in name or engine.name == "reference" else "that has ended"):
        kernel(4, 64, np.zeros(256, "f4"), np.zeros(256, "f4"))


def test_threads_that_never_arrive(engine):
    body = (
        "__shared__ int go; if (t == 0) go = 0; __syncthreads(); if (rank == 1) { volatile int* g = &go; while (!*g); }"
    )
    with pytest.raises(Deadlock):
        engine.c(source(body, "2"), "k", arch="compute_90")(2, 64, np.zeros(128, "f4"), np.zeros(128, "f4"))


# ---------------------------------------------------------------- under the sanitizer


def watched(body, shape="4"):
    kernel = cp.RawKernel(source(body, shape), "k")
    given, out = cp.asarray(np.arange(512, dtype=np.float32)), cp.zeros(512, cp.float32)
    return sanitize(kernel, (8,), (64,), (given, out)), out.get(), given.get()


@pytest.mark.parametrize("name", BODIES)
def test_the_sanitizer_finds_nothing_in_right_kernels(hopper, name):
    body, expected = BODIES[name]
    found, out, given = watched(body)
    out, given = (by_cluster(x.reshape(8, 64), (4, 1, 1), (8, 1, 1)) for x in (out, given))
    np.testing.assert_array_equal(out, expected(given))
    assert not found, str(found)


WRONG = {
    "a race within a block": ("s[t] = t; out[i] = s[63 - t]; c.sync();", "race"),
    "memory that no block has written": (
        "__shared__ float e[64]; c.sync(); out[i] = e[t] + c.map_shared_rank(s, next)[t];", "uninitialised",
    ),
    "memory by its address in the cluster": (
        """__shared__ float e[64]; float x; c.sync();
        asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(x) : "r"(mapped(&e[t], rank))); out[i] = x + s[t];""",
        "which no thread has written",
    ),
    "memory of another block that no thread has written": (
        "__shared__ float e[64]; c.sync(); out[i] = c.map_shared_rank(e, next)[t]; c.sync();",
        "of block (2) reads `e[32]`, which no thread has written",
    ),
    "an atomic on memory of another block that no thread has written": (
        "__shared__ float e[64]; c.sync(); atomicAdd(&c.map_shared_rank(e, next)[t], 1.f); c.sync(); out[i] = s[t];",
        "updates `e[32]`, which no thread has written",
    ),
    "a block that has ended": (OUTSIDE["a block that has ended"], "that has ended"),
}  # fmt: skip


# The second line of a race comes where the finding is; the first may be in either block.
RACES = {
    "a remote read of what its block writes": (
        "c.sync();\n s[t] = in[i] + 1;\n out[i] = c.map_shared_rank(s, next)[t]; c.sync();", "race_read_write", {2, 3},
    ),
    "a barrier of the block instead of the cluster's": (
        "c.sync();\n c.map_shared_rank(s, next)[t] = in[i];\n __syncthreads();\n out[i] = s[t]; c.sync();",
        "race_read_write", {2, 4},
    ),
    "two blocks write one word": (
        "c.sync();\n if (rank) c.map_shared_rank(s, 0)[t] = in[i] + rank; c.sync(); out[i] = s[t];",
        "race_write_write", {2},
    ),
    "an atomic and a plain access": (
        "c.sync();\n if (rank) atomicAdd(&c.map_shared_rank(s, 0)[t], 1.f);\n else s[t] += 1; c.sync(); out[i] = s[t];",
        "race_atomic", {2, 3},
    ),
    "a wait for another mbarrier's phase too late": (
        MBARRIERS.replace("ARRIVALS", "64") + """
        c.map_shared_rank(s, next)[t] = in[i] + 5;\n float early = s[t];
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(mapped(&bar, next)));
        wait(own, 0); out[i] = early;""", "race_read_write", None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RACES)
def test_races_between_the_blocks_of_a_cluster(hopper, name):
    body, kind, lines = RACES[name]
    findings = [each for each in watched(body)[0].findings if each.kind == kind]
    assert findings, "no such race"
    for each in findings:
        assert each.block != each.other_block and each.thread is not None and each.other_thread is not None
        assert each.space == "shared" and each.array == "s" and each.spans == ("grid",)
        assert "cluster.sync()" in each.fix or kind == "race_atomic"
        if lines:
            first = HEAD.count("\n")
            assert {each.line - first, each.other_line - first} <= lines


@pytest.mark.parametrize("name", WRONG)
def test_the_sanitizer_finds_what_is_wrong(hopper, name):
    body, words = WRONG[name]
    assert words in str(watched(body)[0])


def test_what_another_block_wrote_is_written(hopper):
    found, out, given = watched("""
        __shared__ float e[64]; c.sync(); c.map_shared_rank(e, next)[t] = in[i]; c.sync(); out[i] = e[t];""")
    assert not found, str(found)
    np.testing.assert_array_equal(out.reshape(2, 4, 64), np.roll(given.reshape(2, 4, 64), 1, 1))
