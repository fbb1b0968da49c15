"""Kernels in CuTe DSL, as programs write them. CuTe DSL reads their source, so they stand in a file of their own."""

import cutlass
from cutlass import cute
from cutlass.cute.nvgpu import cpasync, warp

TILE = 32


@cute.kernel
def add(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, n: cutlass.Int32):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    i = block * 128 + thread
    if i < n:
        c[i] = a[i] + b[i]


@cute.jit
def sum_of(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, n: cutlass.Int32):
    add(a, b, c, n).launch(grid=((n + 127) // 128, 1, 1), block=(128, 1, 1))


@cute.jit
def three_of(a, b, c):
    sum_of(a, a, b, cute.size(a))
    sum_of(a, b, c, cute.size(a))


@cute.kernel
def transpose(x: cute.Tensor, y: cute.Tensor, padding: cutlass.Constexpr[int], barrier: cutlass.Constexpr[bool]):
    column, row, _ = cute.arch.thread_idx()
    m, n, _ = cute.arch.block_idx()
    shared = cutlass.utils.SmemAllocator()
    tile = shared.allocate_tensor(x.element_type, cute.make_layout((TILE, TILE), stride=(TILE + padding, 1)))
    source = cute.local_tile(x, (TILE, TILE), (m, n))
    target = cute.local_tile(y, (TILE, TILE), (n, m))
    for i in cutlass.range_constexpr(0, TILE, 8):
        tile[row + i, column] = source[row + i, column]
    if cutlass.const_expr(barrier):
        cute.arch.sync_threads()
    for i in cutlass.range_constexpr(0, TILE, 8):
        target[row + i, column] = tile[column, row + i]


@cute.jit
def transposed(
    x: cute.Tensor, y: cute.Tensor, padding: cutlass.Constexpr[int] = 1, barrier: cutlass.Constexpr[bool] = True
):
    rows, columns = x.shape
    transpose(x, y, padding, barrier).launch(grid=(rows // TILE, columns // TILE, 1), block=(TILE, 8, 1))


@cute.kernel
def multiply(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, tiled: cute.TiledMma):
    thread, _, _ = cute.arch.thread_idx()
    mine = tiled.get_slice(thread)
    of_a, of_b, of_c = mine.partition_A(a), mine.partition_B(b), mine.partition_C(c)
    in_a, in_b, in_c = (tiled.make_fragment_A(of_a), tiled.make_fragment_B(of_b), tiled.make_fragment_C(of_c))
    cute.autovec_copy(of_a, in_a)
    cute.autovec_copy(of_b, in_b)
    in_c.fill(0.0)
    cute.gemm(tiled, in_c, in_a, in_b, in_c)
    cute.autovec_copy(in_c, of_c)


@cute.jit
def product(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    tiled = cute.make_tiled_mma(warp.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, (16, 8, 16)))
    multiply(a, b, c, tiled).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.kernel
def copy(load: cute.CopyAtom, source: cute.Tensor, store: cute.CopyAtom, target: cute.Tensor, layout: cute.Layout):
    m, n, _ = cute.arch.block_idx()
    shared = cutlass.utils.SmemAllocator()
    barrier = shared.allocate_array(cutlass.Int64, 1)
    tile = shared.allocate_tensor(cutlass.Float32, layout, byte_alignment=128)
    with cute.arch.elect_one():
        cute.arch.mbarrier_init(barrier, 1)
        cute.arch.mbarrier_expect_tx(barrier, cute.size_in_bytes(cutlass.Float32, layout))
    cute.arch.mbarrier_init_fence()
    cute.arch.barrier()
    of_tile, of_source = cpasync.tma_partition(
        load, 0, cute.make_layout(1), cute.group_modes(tile, 0, 2),
        cute.group_modes(cute.local_tile(source, (TILE, TILE), (None, None)), 0, 2),
    )  # fmt: skip
    _, of_target = cpasync.tma_partition(
        store, 0, cute.make_layout(1), cute.group_modes(tile, 0, 2),
        cute.group_modes(cute.local_tile(target, (TILE, TILE), (None, None)), 0, 2),
    )  # fmt: skip
    cute.copy(load, of_source[(None, m, n)], of_tile, tma_bar_ptr=barrier)
    with cute.arch.elect_one():
        cute.arch.mbarrier_arrive(barrier)
    cute.arch.mbarrier_wait(barrier, 0)
    cute.copy(store, of_tile, of_target[(None, m, n)])
    cute.arch.cp_async_bulk_commit_group()
    cute.arch.cp_async_bulk_wait_group(0)


@cute.jit
def copied(x: cute.Tensor, y: cute.Tensor):
    layout = cute.make_layout((TILE, TILE), stride=(TILE, 1))
    load, source = cpasync.make_tiled_tma_atom(cpasync.CopyBulkTensorTileG2SOp(), x, layout, (TILE, TILE))
    store, target = cpasync.make_tiled_tma_atom(cpasync.CopyBulkTensorTileS2GOp(), y, layout, (TILE, TILE))
    rows, columns = x.shape
    copy(load, source, store, target, layout).launch(
        grid=(cute.ceil_div(rows, TILE), cute.ceil_div(columns, TILE), 1), block=(32, 1, 1)
    )


@cute.kernel
def rank(x: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    if thread == 0:
        x[block] = cute.arch.block_idx_in_cluster()


@cute.jit
def ranks(x: cute.Tensor, blocks: cutlass.Constexpr):
    """The rank of each block in its cluster of so many."""
    rank(x).launch(grid=(cute.size(x), 1, 1), block=(32, 1, 1), cluster=(blocks, 1, 1))
