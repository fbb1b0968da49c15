"""Words of PTX instructions: those that ptxas takes are taken, others are refused."""

from __future__ import annotations

import pytest

from vgpu.launch import launch
from vgpu.ptx import PTXSyntaxError

TO_SHARED = "shared::cluster.global.mbarrier::complete_tx::bytes"
TO_GLOBAL = "global.shared::cta.bulk_group"


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (f"cp.async.bulk.{TO_SHARED} [%r1], [%rd1], %r2, [%r3]", None),
        ("cp.async.bulk.mbarrier::complete_tx::bytes.shared::cluster.global [%r1], [%rd1], %r2, [%r3]", None),
        (f"cp.async.bulk.tensor.{TO_SHARED}.2d [%r1], [%rd1, {{%r2, %r2}}], [%r3]", None),
        (f"cp.reduce.async.bulk.add.f32.{TO_GLOBAL} [%rd1], [%r1], %r2", None),
        (f"cp.bulk.async.{TO_SHARED} [%r1], [%rd1], %r2, [%r3]", "is no instruction of PTX"),
        (f"cp.async.bulk.{TO_SHARED}.{TO_SHARED} [%r1], [%rd1], %r2, [%r3]", "has .shared::cluster, which"),
        (f"cp.async.bulk.{TO_SHARED}.add.f32 [%r1], [%rd1], %r2, [%r3]", "has .add, which"),
        (f"cp.async.bulk.prefetch.{TO_GLOBAL} [%rd1], [%r1], %r2", "has .shared::cta, which"),
        (
            "cp.async.bulk.global.shared::cluster.mbarrier::complete_tx::bytes [%r1], [%rd1], %r2, [%r3]",
            "other direction",
        ),
        ("cp.async.bulk.global.shared::cta [%rd1], [%r1], %r2", "lacks .bulk_group"),
        (f"cp.async.bulk.tensor.1d.2d.{TO_SHARED} [%r1], [%rd1, {{%r2, %r2}}], [%r3]", "has .2d, which"),
        (f"cp.async.bulk.tensor.{TO_SHARED} [%r1], [%rd1, {{%r2, %r2}}], [%r3]", "lacks .1d or .2d or"),
        (f"cp.reduce.async.bulk.{TO_GLOBAL}.cas.b32 [%rd1], [%r1], %r2", "has .cas, which"),
        (f"cp.reduce.async.bulk.{TO_GLOBAL}.add.or.b32 [%rd1], [%r1], %r2", "has .or, which"),
        ("cp.async.wait_group.read 0", "has .read, which"),
        ("mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r1], %r2, %r3", None),
        ("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1], %r2", None),
        ("mbarrier.arrive.release.cta.expect_tx.shared.b64 _, [%r1], %r2", "has .expect_tx, which"),
        ("mbarrier.init.shared::cluster.b64 [%r1], %r2", "has .shared::cluster, which"),
        ("mbarrier.arrive.shared [%r1]", "lacks .b64"),
        ("fence.proxy.async.global", None),
        ("fence.acq_rel.release.gpu", "has .release, which"),
        ("fence", "lacks .cta or .cluster or .gpu or .sys"),
        ("bar.red.popc.u32 %r1, 0, %p1", None),
        ("bar.sync.gpu 0", "has .gpu, which"),
        ("barrier.cluster.sync", "has .sync, which"),
        ("vote.sync.ballot.pred %r1, %p1, -1", "has .ballot, which"),
        ("shfl.sync.bfly.up.b32 %r1, %r2, 1, 31, -1", "has .up, which"),
        ("redux.sync.and.u32 %r1, %r2, -1", "has .and, which"),
        ("prefetch.global.L1.L2 [%rd1]", "has .L2, which"),
        ("cvta.to.global.shared.u64 %rd1, %rd2", "has .shared, which"),
    ],
)
def test_words_of_instructions(words, wrong):
    """As ptxas takes them: in any order after the name, each once, and none that the instruction doesn't have."""
    registers = ".reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;"
    source = f".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() {{ {registers}\n{words};\nret; }}"
    if wrong is None:
        launch.load(source, language="cuda")
        return
    with pytest.raises(PTXSyntaxError, match=wrong):
        launch.load(source, language="cuda")
