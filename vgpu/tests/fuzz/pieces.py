"""Small pieces of PTX that between them use every kind of instruction, over one set of registers and parameters.

A program is a few of them in a row, so that statements of one fit into another. `%d4` and `%d5` are the addresses of
the thread's own word of `in` and `out`, `%d6` that of a tensor map in global memory, which kernels can overwrite,
`%r8` the thread's 16 bytes of shared memory, `%r9` an mbarrier; `%r2` is the thread, `%d7` and `%d8` are handles of a
texture and a surface.
"""

from __future__ import annotations

IN_WORDS, OUT_WORDS, MAP_AT = 256, 1024, 512  # words of the two arrays; where in `out` the tensor map lies
PARAMETERS = (
    ".param .u64 p0, .param .u64 p1, .param .u32 p2, .param .u64 p3, .param .u64 p4, .param .align 64 .b8 p5[128]"
)

HEAD = """.version 8.6
.target sm_100a
.address_size 64
.extern .func (.param .b64 retval) malloc (.param .b64 a);
.extern .func free (.param .b64 a);
.extern .func (.param .b32 retval) vprintf (.param .b64 a, .param .b64 b);
.extern .shared .align 16 .b8 dynamic[];
.global .align 8 .b8 words[64];
.const .align 8 .b8 fixed[32] = {1, 2, 3, 4};
.global .align 1 .b8 format[6] = {37, 115, 32, 37, 117, 0};
"""
FUNCTIONLESS = ".global .align 8 .u64 table[2] = {1, 2};\n"
FUNCTIONS = """.global .align 8 .u64 table[2] = {twice, deep};
.func (.param .b32 back) twice (.param .b32 x, .param .b32 y) {
.reg .b32 %r<6>;
ld.param.b32 %r1, [x];
ld.param.b32 %r2, [y];
mad.lo.s32 %r3, %r1, 2, %r2;
st.param.b32 [back], %r3;
ret; }
.func (.param .b32 back) deep (.param .b32 x, .param .b32 y) {
.reg .pred %p<2>;
.reg .b32 %r<8>;
.local .align 8 .b8 frame[16];
ld.param.b32 %r1, [x];
ld.param.b32 %r2, [y];
st.local.b32 [frame+4], %r2;
and.b32 %r1, %r1, 3;
setp.eq.s32 %p1, %r1, 0;
@%p1 bra DONE;
sub.s32 %r3, %r1, 1;
{
.param .b32 a0;
.param .b32 a1;
.param .b32 r0;
st.param.b32 [a0], %r3;
st.param.b32 [a1], %r2;
call.uni (r0), deep, (a0, a1);
ld.param.b32 %r4, [r0];
}
add.s32 %r2, %r2, %r4;
DONE:
ld.local.b32 %r5, [frame+4];
add.s32 %r2, %r2, %r5;
st.param.b32 [back], %r2;
ret; }
.func (.param .align 8 .b8 back[24]) wide (.param .align 8 .b8 x[24], .param .b64 y) {
.reg .b32 %r<6>;
.reg .b64 %d<6>;
ld.param.b64 %d1, [x];
ld.param.v2.b32 {%r1, %r2}, [x+8];
ld.param.b64 %d2, [y];
add.s64 %d1, %d1, %d2;
st.param.b64 [back], %d1;
st.param.v2.b32 [back+8], {%r2, %r1};
st.param.b64 [back+16], %d2;
ret; }
"""
ENTRY = """.visible .entry k(PARAMETERS) {
.reg .pred %p<8>;
.reg .b16 %h<8>;
.reg .b32 %r<32>;
.reg .b64 %d<32>;
.reg .b128 %q<4>;
.shared .align 128 .b8 tile[2048];
.shared .align 8 .b8 bar[16];
.local .align 16 .b8 depot[64];
ld.param.u64 %d1, [p0];
ld.param.u64 %d2, [p1];
ld.param.u32 %r1, [p2];
ld.param.u64 %d7, [p3];
ld.param.u64 %d8, [p4];
mov.u32 %r2, %tid.x;
mul.wide.u32 %d3, %r2, 4;
add.s64 %d4, %d1, %d3;
add.s64 %d5, %d2, %d3;
add.s64 %d6, %d2, MAP_BYTES;
mov.u32 %r8, tile;
mad.lo.u32 %r8, %r2, 16, %r8;
mov.u32 %r9, bar;
ld.global.u32 %r3, [%d4];
add.s32 %r4, %r3, %r2;
mov.u64 %d9, 0;
setp.lt.u32 %p1, %r2, 32;
setp.eq.u32 %p2, %r2, 0;
""".replace("PARAMETERS", PARAMETERS).replace("MAP_BYTES", str(4 * MAP_AT))
END = """st.global.b32 [%d5], %r4;
ret;
}
"""

LONG = {  # what would not fit a line
    "TENSOR_LOAD": "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
    "COLUMN_LOAD": "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes",
    "ROW_LOAD": "cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes.cta_group"
    "::2",
    "TO_ALL": "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster",
    "TO_OTHER": "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes",
    "ADD_THERE": "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32",
    "COPY_MAP": "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned",
    "SCALED": "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0",
    "FRAGMENTS": "{%r1, %r2, %r3, %r4}, {%r3, %r4}, {%r2, %r3, %r4, %r1}",
    "PRODUCT": "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16",
    "UMMA": "tcgen05.mma.cta_group::1.kind",
    "MMA": "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
}
PIECES: dict[str, str] = {
    "global": """ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%d1+16];
ld.global.nc.v2.f32 {%r14, %r15}, [%d1+8];
ld.global.u8 %r16, [%d4+1];
ld.volatile.global.s16 %h1, [%d4+2];
ldu.global.b64 %d10, [%d1];
ld.global.b128 %q1, [%d1+32];
st.global.b128 [%d2+64], %q1;
st.global.v2.b64 [%d2+32], {%d10, %d3};
st.global.b8 [%d5+1], %r16;
@%p1 st.global.v4.b32 [%d2+16], {%r10, %r11, %r12, %r13};
st.relaxed.gpu.global.b16 [%d5+2], %h1;
ld.acquire.sys.global.b32 %r17, [%d2+4];
ld.const.b32 %r18, [fixed+4];
ld.global.b64 %d11, [words+8];
st.global.b32 [words+12], %r3;""",
    "shared": """st.shared.v4.b32 [%r8], {%r2, %r3, %r4, %r1};
ld.shared.b32 %r10, [%r8+4];
ld.shared.v2.b64 {%d10, %d11}, [%r8];
st.shared.b8 [tile+17], %r3;
ld.shared.u16 %h1, [tile+34];
atom.shared.add.u32 %r11, [tile], %r3;
atom.shared.cas.b64 %d12, [tile+8], %d10, %d11;
red.shared.max.s32 [tile+16], %r3;
atom.shared.exch.b32 %r12, [%r8+8], %r3;
st.volatile.shared.b32 [%r8+12], %r11;""",
    "dynamic": """mov.u32 %r10, dynamic;
and.b32 %r11, %r2, 15;
mad.lo.u32 %r10, %r11, 16, %r10;
st.shared.b64 [%r10], %d3;
ld.shared.v4.b32 {%r12, %r13, %r14, %r15}, [%r10];
mov.u32 %r16, %dynamic_smem_size;
mov.u32 %r17, %total_smem_size;
sub.u32 %r18, %r17, 8;
ld.shared.b64 %d10, [%r18];""",
    "local": """st.local.v2.b32 [depot+8], {%r2, %r3};
ld.local.b64 %d10, [depot+8];
mov.b32 %r10, depot;
add.s32 %r10, %r10, 16;
st.local.b16 [%r10], %h2;
ld.local.v4.b32 {%r11, %r12, %r13, %r14}, [depot+16];
mov.u64 %d11, depot;
cvta.local.u64 %d12, %d11;
st.b32 [%d12+4], %r3;
ld.u8 %r15, [%d12+5];""",
    "generic": """cvt.u64.u32 %d10, %r8;
cvta.shared.u64 %d11, %d10;
st.b32 [%d11], %r3;
ld.b64 %d12, [%d11];
isspacep.shared %p3, %d11;
cvta.to.shared.u64 %d13, %d11;
cvta.global.u64 %d14, %d5;
@%p3 st.b32 [%d14], %r4;
atom.add.u32 %r10, [%d14], 3;
mov.u64 %d15, p5;
cvta.param.u64 %d16, %d15;
ld.b32 %r11, [%d16+8];
ld.param.b64 %d17, [p5+24];
selp.b64 %d18, %d11, %d14, %p1;
ld.b32 %r12, [%d18];""",
    "atomics": """atom.global.add.u32 %r10, [%d2], %r3;
atom.global.cas.b32 %r11, [%d2+8], %r3, %r4;
atom.global.exch.b64 %d10, [%d2+16], %d3;
atom.global.add.f32 %r12, [%d2+24], %r3;
atom.global.inc.u32 %r13, [%d2+28], 7;
red.global.and.b32 [%d5], %r3;
red.relaxed.gpu.global.add.u64 [%d2+40], %d3;
atom.global.add.noftz.f16x2 %r14, [%d2+48], %r3;
atom.global.exch.b128 %q2, [%d2+64], %q1;
atom.global.add.v4.f32 {%r15, %r16, %r17, %r18}, [%d2+80], {%r1, %r2, %r3, %r4};
atom.acq_rel.gpu.global.min.s64 %d11, [%d2+96], %d3;""",
    "lanes": """shfl.sync.idx.b32 %r10|%p3, %r3, 5, 31, -1;
shfl.sync.bfly.b32 %r11, %r3, %r2, 31, -1;
vote.sync.ballot.b32 %r12, %p1, -1;
vote.sync.any.pred %p4, %p2, -1;
match.any.sync.b32 %r13, %r2, -1;
match.all.sync.b64 %r14|%p5, %d1, -1;
activemask.b32 %r15;
redux.sync.add.s32 %r16, %r3, -1;
elect.sync %r17|%p6, -1;
bar.warp.sync -1;""",
    "matrix": """mov.u32 %r10, 16;
wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18}, [%d1], %r10;
wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [tile], {%r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18}, 16;
ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r19, %r20, %r21, %r22}, [%r8];
MMA {%r23, %r24, %r25, %r26}, {%r19, %r20, %r21, %r22}, {%r11, %r12}, {%r13, %r14, %r15, %r16};
stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r8], {%r23, %r24};
movmatrix.sync.aligned.m8n8.trans.b16 %r27, %r19;
wmma.load.c.sync.aligned.col.m16n16k16.shared.f32 {%r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18}, [tile], 16;""",
    "narrow": """mov.b64 {%r10, %r11}, %d3;
cvt.rs.satfinite.e4m3x4.f32 %r12, {%r3, %r4, %r2, %r1}, %r11;
cvt.rs.satfinite.relu.e2m1x4.f32 %h1, {%r3, %r4, %r2, %r1}, %r11;
cvt.rs.bf16x2.f32 %r13, %r3, %r4, %r10;
cvt.rp.satfinite.ue8m0x2.bf16x2 %h2, %r13;
ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8 {%r14, %r15, %r16, %r17}, [%r8];
ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b6x16_p32 {%r18, %r19}, [%r8];
mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%r24, %r25}, {%r14}, {%r15}, {%r2, %r3};
stmatrix.sync.aligned.m16n8.x4.trans.shared.b8 [%r8], {%r24, %r25, %r18, %r19};""",
    "scaled": """cvt.u16.u32 %h1, %r1;
SCALED {%r20, %r21, %r22, %r23}, FRAGMENTS, %r2, {%h1, 1}, %r3, {0, %h1};
add.s32 %r4, %r20, %r23;""",
    "columns": """@%p2 mbarrier.init.shared.b64 [%r9], 1;
bar.sync 0;
add.s64 %d14, %d6, 128;
mov.u32 %r10, 0;
@%p2 mbarrier.arrive.expect_tx.shared.b64 %d10, [%r9], 256;
@%p2 COLUMN_LOAD [tile], [%d14, {%r10, %r10, %r10, %r10}], [%r9], {%h1, 1};
WAIT_4:
mbarrier.try_wait.parity.shared.b64 %p3, [%r9], 0;
@!%p3 bra WAIT_4;
@%p2 cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group [%d14, {%r10, %r2, %r10, %r10}], [tile];
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
st.global.b32 [%d14+NASTY_FIELD], %r1;""",
    "products": """mov.u32 %r10, tile;
shr.u32 %r10, %r10, 4;
cvt.u64.u32 %d10, %r10;
or.b64 %d10, %d10, 0x1000080000;
setp.ne.u32 %p3, %r1, 0;
fence.proxy.async;
wgmma.fence.sync.aligned;
PRODUCT {%r11, %r12, %r13, %r14}, %d10, %d10, %p3, 1, -1, 0, 1;
PRODUCT {%r11, %r12, %r13, %r14}, {%r15, %r16, %r17, %r18}, %d10, 1, 1, 1, 0;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 1;
wgmma.wait_group.sync.aligned 0;
setmaxnreg.inc.sync.aligned.u32 232;""",
    "tensor_memory": """@%p2 mbarrier.init.shared.b64 [%r9], 1;
shr.u32 %r10, %r2, 5;
setp.eq.u32 %p3, %r10, 0;
@%p3 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tile], 64;
bar.sync 0;
ld.shared.b32 %r11, [tile];
shl.b32 %r12, %r10, 21;
add.u32 %r12, %r12, %r11;
tcgen05.st.sync.aligned.16x64b.x2.b32 [%r12+2], {%r1, %r2};
tcgen05.st.sync.aligned.16x32bx2.x1.unpack::16b.b32 [%r12], 9, {%r3};
tcgen05.wait::st.sync.aligned;
fence.proxy.async;
mov.u32 %r13, tile;
shr.u32 %r13, %r13, 4;
cvt.u64.u32 %d10, %r13;
or.b64 %d10, %d10, 0x401000080000;
@%p2 tcgen05.cp.cta_group::1.32x128b.warpx4.b8x16.b6x16_p32 [%r11+8], %d10;
@%p2 tcgen05.shift.cta_group::1.down [%r11+16];
@%p2 UMMA::f16 [%r11+40], %d10, %d10, 0x4020010, {%r1, %r2, %r3, %r4}, %p3, 2;
@%p2 UMMA::i8 [%r11+48], [%r11+8], %d10, 0x40200A0, 1;
@%p2 UMMA::mxf8f6f4.block_scale [%r11+56], [%r11], %d10, 0x8820000, [%r11+4], [%r11+8], %p3;
@%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r9];
WAIT_5:
mbarrier.try_wait.parity.shared.b64 %p4, [%r9], 0;
@!%p4 bra WAIT_5;
tcgen05.ld.sync.aligned.32x32b.x4.pack::16b.b32 {%r14, %r15, %r16, %r17}, [%r12+40];
tcgen05.wait::ld.sync.aligned;
bar.sync 0;
@%p3 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r11, 64;
add.s32 %r4, %r14, %r17;""",
    "copies": """cp.async.ca.shared.global [%r8], [%d1], 16;
cp.async.cg.shared.global [%r8], [%d1+32], 16, %r1;
cp.async.ca.shared.global.L2::128B [%r8+4], [%d4], 4;
cp.async.commit_group;
cp.async.ca.shared.global [%r8+8], [%d1+8], 8, 4;
cp.async.commit_group;
cp.async.wait_group 1;
cp.async.wait_all;
ld.shared.b32 %r10, [%r8+4];""",
    "mbarrier": """@%p2 mbarrier.init.shared.b64 [%r9], 900;
@%p2 mbarrier.init.shared.b64 [bar+8], 64;
bar.sync 0;
cp.async.ca.shared.global [%r8], [%d4], 4;
cp.async.mbarrier.arrive.noinc.shared.b64 [%r9];
mbarrier.try_wait.parity.shared.b64 %p3, [%r9], 0;
mbarrier.arrive.shared.b64 %d10, [%r9];
mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar+8], 16;
mbarrier.test_wait.shared.b64 %p4, [%r9], %d10;
mbarrier.pending_count.b64 %r10, %d10;
mbarrier.arrive_drop.shared.b64 %d11, [%r9], 2;
bar.sync 0;
@%p2 mbarrier.inval.shared.b64 [%r9];""",
    "bulk": """@%p2 mbarrier.init.shared.b64 [%r9], 1;
bar.sync 0;
@%p2 mbarrier.arrive.expect_tx.shared.b64 %d10, [%r9], 64;
@%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%d1], 64, [%r9];
WAIT_1:
mbarrier.try_wait.parity.shared.b64 %p3, [%r9], 0;
@!%p3 bra WAIT_1;
fence.proxy.async.shared::cta;
@%p2 cp.async.bulk.global.shared::cta.bulk_group [%d2+1024], [tile], 64;
@%p2 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d2+1152], [tile+64], 32;
cp.async.bulk.commit_group;
cp.async.bulk.wait_group.read 0;
cp.async.bulk.prefetch.L2.global [%d1], 64;""",
    "tensor map": """@%p2 mbarrier.init.shared.b64 [%r9], 1;
bar.sync 0;
mov.u64 %d11, p5;
cvta.param.u64 %d12, %d11;
mov.u32 %r10, 0;
@%p2 mbarrier.arrive.expect_tx.shared.b64 %d10, [%r9], 128;
@%p2 TENSOR_LOAD [tile], [%d6, {%r10, %r10}], [%r9];
WAIT_2:
mbarrier.try_wait.parity.shared.b64 %p3, [%r9], 0;
@!%p3 bra WAIT_2;
@%p2 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%d12, {%r10, %r2}], [tile];
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
prefetch.tensormap [%d12];
cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%d6, {%r10, %r10}];""",
    "map by hand": """@%p2 mbarrier.init.shared.b64 [%r9], 1;
bar.sync 0;
mov.u32 %r10, 0;
@%p2 mbarrier.arrive.expect_tx.shared.b64 %d10, [%r9], 128;
@%p2 TENSOR_LOAD [tile], [%d6, {%r10, %r10}], [%r9];
mov.u64 %d13, NASTY;
st.global.b64 [%d6+NASTY_FIELD], %d13;
st.global.b32 [%d6+NASTY_FIELD], %r1;
WAIT_3:
mbarrier.try_wait.parity.shared.b64 %p3, [%r9], 0;
@!%p3 bra WAIT_3;
@%p2 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%d6, {%r10, %r10}], [tile];
cp.async.bulk.commit_group;
st.global.b64 [%d6+NASTY_FIELD], %d13;
cp.async.bulk.wait_group 0;""",
    "rows": """@%p2 mbarrier.init.shared.b64 [%r9], 1;
bar.sync 0;
add.s64 %d14, %d6, 256;
mov.u32 %r10, 0;
@%p2 mbarrier.arrive.expect_tx.shared.b64 %d10, [%r9], 128;
@%p2 ROW_LOAD [tile], [%d14, {%r10, %r2, 9, %r10, 3}], [%r9];
WAIT_6:
mbarrier.try_wait.parity.shared.b64 %p3, [%r9], 0;
@!%p3 bra WAIT_6;
@%p2 cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%d14, {4, %r10, 9, %r2, %r1}], [tile];
@%p2 cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%d14, {%r10, %r2}], [tile];
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4 [%d14, {%r10, %r10, 1, 2, 3}];
st.global.b32 [%d14+NASTY_FIELD], %r1;""",
    "map in a kernel": """st.shared.v4.b32 [%r8], {0, 0, 0, 0};
add.s64 %d14, %d6, 384;
bar.sync 0;
tensormap.replace.tile.global_address.shared::cta.b1024.b64 [tile], %d1;
tensormap.replace.tile.rank.shared::cta.b1024.b32 [tile], 1;
tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [tile], 0, 8;
tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [tile], 1, 4;
tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [tile], 0, 16;
tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [tile], 1, 16;
tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [tile], 0, 64;
tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [tile], 1, 1;
tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [tile], 2;
tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [tile], 1;
COPY_MAP [%d14], [tile], 128;
tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%d14], 1;
fence.proxy.tensormap::generic.acquire.gpu [%d14], 128;
@%p2 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%d14, {0, %r2}], [tile];
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;""",
    "clusters": """mov.u32 %r10, %cluster_ctarank;
xor.b32 %r11, %r10, 1;
mapa.shared::cluster.u32 %r12, %r9, %r11;
mapa.shared::cluster.u32 %r13, %r8, %r11;
cvta.shared.u64 %d10, tile;
mapa.u64 %d11, %d10, %r11;
getctarank.shared::cluster.u32 %r14, %r13;
getctarank.u64 %r15, %d11;
@%p2 mbarrier.init.shared.b64 [%r9], 2;
fence.mbarrier_init.release.cluster;
barrier.cluster.arrive.release.aligned;
barrier.cluster.wait.acquire.aligned;
@%p2 mbarrier.arrive.expect_tx.shared.b64 %d12, [%r9], 200;
@%p2 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r12];
ld.shared::cluster.b32 %r16, [%r13];
st.shared::cluster.b32 [%r13+4], %r16;
atom.shared::cluster.add.u32 %r17, [%r13+8], 1;
ld.b32 %r18, [%d11+1024];
@%p2 st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r13], %r1, [%r12];
@%p2 ADD_THERE [%r13+4], 4, [%r12];
@%p2 TO_OTHER [%r13], [tile], 64, [%r12];
@%p2 TO_ALL [tile], [%d1], 64, [%r9], 3;
WAIT_7:
mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r9], 0;
@!%p3 bra WAIT_7;
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
add.s32 %r4, %r14, %r15;""",
    "textures": """cvt.rn.f32.u32 %r10, %r2;
mov.b32 %r11, 0f3FC00000;
tex.2d.v4.f32.f32 {%r12, %r13, %r14, %r15}, [%d7, {%r10, %r11}];
tld4.r.2d.v4.f32.f32 {%r12, %r13, %r14, %r15}, [%d7, {%r11, %r10}];
add.s64 %d10, %d7, 2;
tex.1d.v4.f32.s32 {%r12, %r13, %r14, %r15}, [%d10, {%r2}];
and.b32 %r17, %r2, 3;
shl.b32 %r18, %r17, 3;
suld.b.2d.b32.trap {%r16}, [%d8, {%r18, %r17}];
sust.b.2d.b32.zero [%d8, {%r18, %r17}], {%r16};
suld.b.2d.v2.b32.clamp {%r19, %r20}, [%d8, {%r18, %r17}];
txq.width.b32 %r21, [%d7];
suq.height.b32 %r22, [%d8];""",
    "calls": """{
.param .b32 a0;
.param .b32 a1;
.param .b32 r0;
st.param.b32 [a0], %r2;
st.param.b32 [a1], %r3;
call.uni (r0), twice, (a0, a1);
ld.param.b32 %r10, [r0];
call.uni (r0), deep, (a0, a1);
ld.param.b32 %r11, [r0];
}
{
.param .align 8 .b8 a0[24];
.param .b64 a1;
.param .align 8 .b8 r0[24];
st.param.b64 [a0], %d3;
st.param.v2.b32 [a0+8], {%r2, %r3};
st.param.b64 [a1], %d4;
call.uni (r0), wide, (a0, a1);
ld.param.b64 %d10, [r0];
ld.param.v2.b32 {%r12, %r13}, [r0+8];
ld.param.b64 %d11, [r0+16];
}
and.b32 %r14, %r2, 1;
mul.wide.u32 %d12, %r14, 8;
mov.u64 %d13, table;
add.s64 %d13, %d13, %d12;
ld.global.u64 %d14, [%d13];
{
.param .b32 a0;
.param .b32 a1;
.param .b32 r0;
st.param.b32 [a0], %r2;
st.param.b32 [a1], %r3;
proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);
call (r0), %d14, (a0, a1), proto;
ld.param.b32 %r15, [r0];
}""",
    "heap": """{
.param .b64 a0;
.param .b64 r0;
st.param.b64 [a0], 24;
call.uni (r0), malloc, (a0);
ld.param.b64 %d10, [r0];
}
setp.eq.s64 %p3, %d10, 0;
@!%p3 st.v2.b64 [%d10], {%d1, %d3};
@!%p3 ld.b64 %d11, [%d10+8];
@!%p3 atom.add.u64 %d12, [%d10+16], 1;
{
.param .b64 a0;
st.param.b64 [a0], %d10;
call.uni free, (a0);
}""",
    "print": """mov.u64 %d10, format;
cvta.global.u64 %d11, %d10;
mov.u64 %d12, depot;
cvta.local.u64 %d13, %d12;
st.local.b64 [depot], %d4;
st.local.b32 [depot+8], %r3;
setp.ne.u32 %p3, %r2, 63;
@%p3 bra QUIET;
{
.param .b64 a0;
.param .b64 a1;
.param .b32 r0;
st.param.b64 [a0], %d11;
st.param.b64 [a1], %d13;
call.uni (r0), vprintf, (a0, a1);
ld.param.b32 %r10, [r0];
}
QUIET:""",
    "barriers": """bar.sync 0;
barrier.sync 1, 64;
bar.red.popc.u32 %r10, 0, %p1;
bar.red.or.pred %p3, 0, %p2;
@%p1 bar.arrive 2, 64;
@!%p1 bar.sync 2, 64;
fence.acq_rel.gpu;
membar.cta;
nanosleep.u32 20;
prefetch.global.L2 [%d4];
discard.global.L2 [%d2+1024], 128;
applypriority.global.L2::evict_normal [%d2+1024], 128;
prefetchu.L1 [%d4];
pmevent 3;
griddepcontrol.wait;
@%p5 exit;
@%p5 trap;
createpolicy.fractional.L2::evict_last.b64 %d10, 0f3F800000;
ld.global.L2::cache_hint.b32 %r11, [%d4], %d10;""",
    "loops": """mov.u32 %r10, 0;
mov.u64 %d10, %d1;
LOOP:
ld.global.b32 %r11, [%d10];
add.cc.u32 %r12, %r11, %r12;
addc.u32 %r13, %r13, 0;
mad.lo.s32 %r14, %r11, 5, %r10;
lop3.b32 %r15, %r11, %r14, %r2, 0x96;
prmt.b32 %r16, %r15, %r11, 0x3210;
shl.b64 %d11, %d10, 1;
cvt.u16.u32 %h1, %r15;
div.u32 %r17, %r15, %r10;
fma.rn.f32 %r18, %r15, %r11, %r14;
add.s64 %d10, %d10, 4;
add.s32 %r10, %r10, 1;
setp.lt.u32 %p3, %r10, 3;
@%p3 bra LOOP;
@%p2 bra SKIP;
selp.b32 %r19, %r10, %r11, %p1;
WAYS: .branchtargets SKIP, ON;
@%p1 brx.idx %r10, WAYS;
ON:
SKIP:
mov.b64 {%r20, %r21}, %d10;
mov.b64 %d12, {%r21, %r20};
slct.s32.s32 %r22, %r20, %r21, %r3;""",
}


TARGETS = {"scaled": "sm_120a", "products": "sm_90a"}  # of the pieces that only one GPU runs


def program(names) -> str:
    """A module with one kernel of these pieces; labels of a piece that comes twice would clash."""
    body = "\n".join(PIECES[name] for name in names)
    for short, opcode in LONG.items():
        body = body.replace(short, opcode)
    functions = FUNCTIONS if "table" in body else FUNCTIONLESS
    # In pairs of blocks; the directive stands in the line of the entry, as lines are counted.
    entry = ENTRY.replace(") {", ") .reqnctapercluster 2 {", 1) if "clusters" in names else ENTRY
    target = next((target for name, target in TARGETS.items() if name in names), "sm_100a")
    return HEAD.replace("sm_100a", target) + functions + entry + body + "\n" + END
