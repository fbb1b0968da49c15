"""Occupancy against NVIDIA's own calculator, and against sums done by hand."""

import pytest

from vgpu.hardware.gpus import GPUS
from vgpu.hardware.occupancy import occupancy

# Blocks an SM holds, by cudaOccMaxActiveBlocksPerMultiprocessor of cuda_occupancy.h (nvidia-cuda-runtime
# 13.4.92, compiled and run on the CPU, with the opt-in shared-memory limit and the largest carve-out).
NVIDIA = [
    # GPU, registers a thread, shared bytes a block, threads a block, blocks an SM
    ("A100", 32, 0, 256, 8),
    ("A100", 33, 0, 256, 6),
    ("A100", 64, 0, 1024, 1),
    ("A100", 65, 0, 1024, 0),
    ("A100", 255, 0, 256, 1),
    ("A100", 255, 0, 288, 0),
    ("A100", 40, 0, 96, 16),
    ("A100", 16, 49152, 128, 3),
    ("A100", 16, 166912, 128, 1),
    ("A100", 16, 166913, 128, 0),
    ("A100", 16, 0, 32, 32),
    ("A100", 128, 8192, 512, 1),
    ("RTX 3090", 32, 0, 1024, 1),
    ("RTX 3090", 40, 0, 256, 6),
    ("RTX 3090", 32, 33792, 128, 2),
    ("RTX 4090", 32, 0, 64, 24),
    ("RTX 4090", 48, 16384, 192, 5),
    ("T4", 32, 0, 1024, 1),
    ("T4", 64, 0, 256, 4),
    ("T4", 72, 0, 128, 7),
    ("T4", 24, 16384, 128, 4),
    ("T4", 24, 16385, 64, 3),
    ("V100", 32, 12288, 256, 8),
    ("V100", 33, 0, 224, 6),
    ("H100", 168, 0, 384, 1),
    ("H100", 90, 102400, 256, 2),
    ("H100", 32, 232448, 128, 1),
    ("H200", 56, 1, 800, 1),
    ("B200", 96, 4096, 160, 4),
    ("RTX 5090", 40, 101376, 512, 1),
    ("L4", 65, 100, 33, 14),
]


@pytest.mark.parametrize("gpu, registers, shared, threads, blocks", NVIDIA)
def test_agrees_with_nvidias_calculator(gpu, registers, shared, threads, blocks):
    assert occupancy(registers, shared, threads, GPUS[gpu]).blocks_per_sm == blocks


def test_full_occupancy_by_hand():
    # A100: 64 warps an SM. 256 threads are 8 warps, so 8 blocks; 32 registers x 32 lanes = 1024 a warp,
    # 16 warps in a quarter of 16384 registers, 64 in the SM: both resources stop at the same 8 blocks.
    held = occupancy(32, 0, 256, GPUS["A100"])
    assert (held.blocks_per_sm, held.warps_per_sm, held.fraction) == (8, 64, 1.0)
    assert held.limiter == "warps and registers"
    assert held.registers_per_block == 8 * 1024


def test_one_register_more_by_hand():
    # 33 x 32 = 1056 rounds up to 1280 a warp: 12 warps a quarter, 48 an SM, 6 blocks of 8 warps.
    held = occupancy(33, 0, 256, GPUS["A100"])
    assert (held.blocks_per_sm, held.fraction, held.limiter) == (6, 0.75, "registers")


def test_shared_memory_by_hand():
    # 16 KiB and the driver's 1 KiB are 17408 bytes: 9 of them in 164 KiB on an A100, where the warps
    # would allow 16 blocks of 128 threads.
    held = occupancy(16, 16 * 1024, 128, GPUS["A100"])
    assert held.shared_bytes_per_block == 17 * 1024
    assert (held.blocks_per_sm, held.limiter) == (9, "shared memory")
    # A T4 keeps nothing for itself: 64 KiB hold 4.
    assert occupancy(16, 16 * 1024, 128, GPUS["T4"]).limits["shared memory"] == 4


def test_small_blocks_are_limited_by_blocks():
    held = occupancy(16, 0, 32, GPUS["A100"])
    assert (held.warps_per_sm, held.limiter) == (32, "blocks")
    assert "shared memory" in held.limits  # the driver's 1 KiB a block
    assert "shared memory" not in occupancy(16, 0, 32, GPUS["T4"]).limits


def test_what_cannot_be_launched_has_no_blocks():
    assert occupancy(256, 0, 32, GPUS["A100"]).limiter == "registers"
    held = occupancy(32, 200 * 1024, 32, GPUS["A100"])
    assert (held.blocks_per_sm, held.limiter) == (0, "shared memory")


@pytest.mark.parametrize("threads", [0, -1, 1025])
def test_impossible_blocks_are_refused(threads):
    with pytest.raises(ValueError, match="a block has 1 to 1024"):
        occupancy(32, 0, threads, GPUS["A100"])


def test_negative_counts_are_refused():
    with pytest.raises(ValueError, match="negative"):
        occupancy(-1, 0, 32, GPUS["A100"])


def test_repr_and_html():
    held = occupancy(33, 0, 256, GPUS["A100"])
    assert repr(held) == "Occupancy(75.0% on A100: 6 blocks, 48 of 64 warps an SM; limited by registers)"
    assert "occupancy 75.0%, 48 of 64 warps an SM" in held._repr_html_()
    assert 'scope="row">registers</th><td>6</td><td>limits' in held._repr_html_()
