"""The explorers of an SM: blocks, waves, the scheduler's timeline, and active lanes."""

from itertools import chain

import numpy as np
import pytest

from helpers import Launch, cp, cuda, occupancy, plots, profile, record, widgets
from helpers.models.warp_scheduler import schedule
from helpers.pictures.figures import LARGEST_SVG
from helpers.pictures.plots.issue import issue_strip, slots
from helpers.workbook.run import unnamed_pictures
from tests.pictures.widgets.choose import choose
from vgpu.base.errors import OutOfBounds
from vgpu.hardware.gpus import GPUS

HEAVY = r"""
extern "C" __global__ void heavy(const float* x, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v[COUNT], sum = 0;
    for (int k = 0; k < COUNT; ++k) v[k] = x[k * 32 + i];
    for (int k = 0; k < COUNT; ++k) sum += v[k];
    for (int k = 0; k < COUNT; ++k) out[k * 32 + i] = v[k] - sum;
}
"""


@cuda.jit
def scale(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 2 * x[i]


def heavy(count: int):
    return cp.RawKernel(HEAVY, "heavy", (f"-DCOUNT={count}",))


def arrays():
    return cp.zeros(2048, np.float32), cp.zeros(2048, np.float32)


KERNELS = {"numba": lambda: scale, "cuda": lambda: heavy(40)}


@pytest.mark.parametrize("language", KERNELS)
def test_it_says_what_a_profile_says_on_every_gpu(language):
    kernel, args = KERNELS[language](), arrays()
    explorer = widgets.slots(kernel, args, block=32)
    counted = profile(kernel, 1, 32, args)
    for name in GPUS:
        explorer.controls["gpu"].value = name
        held = counted.on(name).occupancy
        assert explorer.shown.alt.startswith(f"{counted.on(name).registers} registers a thread (compiler")
        assert f"{held.warps_per_sm} of {held.max_warps_per_sm} warps" in explorer.shown.alt
        assert explorer.shown.alt.endswith(f"limited by {held.limiter}.")


def test_each_block_has_its_number_and_each_bar_what_is_used_of_it():
    gpu = GPUS["A100"]
    held = occupancy(33, 8192, 256, gpu)
    said = [text.get_text() for text in plots.sm_slots(held, gpu).figure.axes[0].texts]
    assert [word for word in said if word.isdigit()] == [*map(str, range(held.blocks_per_sm))] * 3
    used = held.blocks_per_sm * held.registers_per_block
    assert {f"{held.warps_per_sm} of 64", f"{used:,} of 65,536", f"{held.blocks_per_sm} of 32"} <= set(said)


@pytest.mark.parametrize("blocks", [1, 109, 864, 865, 20_000])
def test_each_wave_is_as_full_as_its_blocks_make_it(blocks):
    gpu = GPUS["A100"]
    held = occupancy(32, 0, 256, gpu)
    axes = plots.waves(blocks, held, gpu).figure.axes[0]
    boxes = chain.from_iterable(bars.get_paths() for bars in axes.collections if len(bars.get_facecolor()))
    wide, high = np.transpose([box.get_extents().size for box in boxes])
    slots = 108 * held.blocks_per_sm
    waves = -(-blocks // slots)
    assert (wide * high / 0.84 * held.blocks_per_sm).sum() == pytest.approx(blocks - max(0, waves - 12) * slots)
    assert axes.get_yticklabels()[-1].get_text() == f"wave {waves}"


def test_a_stand_in_for_an_older_architecture_is_named():
    explorer = widgets.slots(scale, arrays(), gpu="V100")
    assert "(compiler, assembled for sm_75)" in explorer.shown.alt


def test_registers_and_shared_memory_can_be_chosen():
    explorer = widgets.slots(scale, arrays())
    explorer.controls["registers"].value = 33
    held = occupancy(33, 0, 256, GPUS["A100"])
    assert explorer.shown.alt == (
        f"33 registers a thread (by hand): an SM of A100 holds {held.blocks_per_sm} blocks of 256 threads: "
        "48 of 64 warps, occupancy 75%, limited by registers."
    )
    assert choose(explorer, shared=48 * 1024).endswith("24 of 64 warps, occupancy 38%, limited by shared memory.")


def test_it_works_without_a_kernel_and_with_several():
    assert widgets.slots(registers=64, block=1024).shown.alt.endswith("limited by registers.")
    explorer = widgets.slots({"few": heavy(4), "many": heavy(60)}, arrays())
    few = explorer.shown.alt
    explorer.controls["version"].value = "many"
    assert few.startswith("few, ") and explorer.shown.alt.startswith("many, ")


def test_a_block_that_fits_nowhere_is_told_so():
    explorer = widgets.slots(registers=96, block=1024)
    assert explorer.shown.alt.endswith(
        "not even one block of 1,024 threads fits on an SM of A100: registers; a launch fails."
    )


@pytest.mark.parametrize(("blocks", "said"), [
    (1, "1 block on A100, 864 blocks at once, run in 1 wave; the last has 1 of 864 slots taken, and under 1%"),
    (864, "864 blocks on A100, 864 blocks at once, run in 1 wave; the last has 864 of 864 slots taken, and 100%"),
    (865, "865 blocks on A100, 864 blocks at once, run in 2 waves; the last has 1 of 864 slots taken, and 50%"),
])  # fmt: skip
def test_waves_are_counted(blocks, said):
    explorer = widgets.waves(scale, arrays(), start=blocks)
    assert explorer.shown.alt == f"{said} of all slots are used (modelled: equal blocks)."


def test_a_grid_of_no_fitting_block_has_no_waves():
    many = heavy(60)
    assert "a launch fails" in widgets.waves(many, arrays(), block=1024).shown


@cuda.jit
def twice(x, out):
    i = cuda.grid(1)
    out[i] = 2 * x[i]


SUMS = r"""
extern "C" __global__ void sums(const float* x, float* out) {
    float a = x[threadIdx.x], b = a + 1;
    #pragma unroll 1
    for (int k = 0; k < 100; ++k) { a = a * b + k; b = b * a - k; }
    out[threadIdx.x] = a + b;
}
"""


def launches():
    x, out = cp.zeros(64, np.float32), cp.zeros(64, np.float32)
    kernels = {"twice": twice, "sums": cp.RawKernel(SUMS, "sums")}
    return {name: Launch(kernel, 1, 64, (x, out)) for name, kernel in kernels.items()}


@pytest.mark.parametrize("name", ["twice", "sums"])
@pytest.mark.parametrize("warps", [1, 5, 16])
def test_it_says_what_the_timeline_says(name, warps):
    launch = launches()[name]
    explorer = widgets.scheduler(launch, warps=warps, gpu="H100")
    found = schedule(launch, warps, "H100")
    assert explorer.shown.alt == (
        f"with {warps} warp{'s' * (warps > 1)} a scheduler of H100 keeps memory busy {found.memory_busy:.0%} of the "
        f"time and issues in {found.issue_busy:.0%} of the clocks (modelled)."
    )
    assert len(explorer.shown.image) < LARGEST_SVG


def test_controls_choose_version_warps_and_gpu():
    explorer = widgets.scheduler(launches())
    assert explorer.shown.alt.startswith("twice: with 1 warp a scheduler of A100")
    choose(explorer, version="sums", warps=8, gpu=explorer.controls["gpu"].options[0])
    assert explorer.shown.alt.startswith("sums: with 8 warps a scheduler of T4")


def test_more_warps_than_a_scheduler_holds_are_refused_in_words():
    with pytest.raises(ValueError, match="warps goes from 1 to 8; 9 lies outside"):
        widgets.scheduler(launches()["twice"], gpu="T4", warps=9)


def test_a_gpu_with_a_smaller_scheduler_takes_as_many_warps_as_it_holds():
    explorer = widgets.scheduler(launches()["twice"], warps=16)
    explorer.controls["gpu"].value = "T4"
    assert explorer.controls["warps"].max == 8 and "with 8 warps a scheduler of T4" in explorer.shown.alt
    assert "with 16 warps a scheduler of A100" in choose(explorer, gpu="A100", warps=16)


ARMS = r"""
extern "C" __global__ void arms(const float* x, float* out, int side) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    if (i / side % 2 == 0) {
        for (int k = 0; k < 20; ++k) v = v * 0.5f + 1.0f;
    } else {
        for (int k = 0; k < 20; ++k) v = v * v - 0.5f;
    }
    out[i] = v;
}
"""


@cuda.jit
def numba_arms(x, out, side):
    i = cuda.grid(1)
    v = x[i]
    if i // side % 2 == 0:
        for _ in range(20):
            v = v * np.float32(0.5) + np.float32(1)
    else:
        for _ in range(20):
            v = v * v - np.float32(0.5)
    out[i] = v


LANE_KERNELS = {"cuda": lambda: cp.RawKernel(ARMS, "arms"), "numba": lambda: numba_arms}
X, OUT = np.linspace(-2, 2, 128).astype(np.float32), np.zeros(128, np.float32)


@pytest.mark.parametrize("language", LANE_KERNELS)
def test_it_says_what_a_profile_of_the_same_warp_counts(language):
    kernel, x, out = LANE_KERNELS[language](), cp.asarray(X), cp.asarray(OUT)
    for side in (1, 32):
        counted = profile(kernel, 1, 32, (x, out, np.int32(side)))
        taken = slots(record(kernel, 1, 32, (x, out, np.int32(side))).of(0))
        assert (taken.instructions, taken.useful) == (counted["instructions"], counted["thread_instructions"])
        assert taken.issued == 32 * taken.instructions


@pytest.mark.parametrize("language", LANE_KERNELS)
def test_controls_of_warp_and_data_move_the_meter(language):
    x, out = cp.asarray(X), cp.asarray(OUT)
    explorer = widgets.lanes(LANE_KERNELS[language](), 1, 128, lambda side: (x, out, np.int32(side)), side=[1, 16, 32])
    assert list(explorer.controls) == ["side", "warp"]
    said = {}
    for side in (1, 16, 32):
        said[side] = choose(explorer, side=side)
        assert f'aria-label="{explorer.shown.alt}"' in explorer.view.value
    assert said[1].startswith("side 1: Warp 0 of ") and "(100 %)" not in said[1]
    assert said[1].split(": ", 1)[1] == said[16].split(": ", 1)[1]
    assert "(100 %) are useful: 32 of 32 lanes per instruction." in said[32]
    assert "Warp 3 of" in choose(explorer, warp=3)


def test_a_plain_tuple_of_arguments_needs_no_control():
    explorer = widgets.lanes(numba_arms, 1, 32, (cp.asarray(X), cp.asarray(OUT), np.int32(1)))
    assert explorer.controls == {} and explorer.shown.alt.startswith("Warp 0 of numba_arms issues ")
    bundle = explorer._repr_mimebundle_()
    assert "<img" in bundle["text/html"] and unnamed_pictures(bundle["text/html"]) == []


def test_a_kernel_is_run_once_for_each_set_of_arguments():
    asked = []

    def arguments(side):
        asked.append(side)
        return cp.asarray(X), cp.asarray(OUT), np.int32(side)

    explorer = widgets.lanes(numba_arms, 1, 64, arguments, side=(1, 2))
    for warp in (1, 0, 1):
        explorer.controls["warp"].value = warp
    explorer.controls["side"].value = 2
    explorer.controls["side"].value = 1
    assert asked == [1, 2]


def test_an_error_of_the_kernel_is_shown_in_words():
    explorer = widgets.lanes(numba_arms, 1, 128, (cp.asarray(X), cp.zeros(8, dtype="float32"), np.int32(1)))
    assert isinstance(explorer.shown, str) and "thread" in explorer.shown
    with pytest.raises(OutOfBounds):
        record(numba_arms, 1, 128, (cp.asarray(X), cp.zeros(8, dtype="float32"), np.int32(1)))


def test_a_warp_without_steps_is_an_error_in_words():
    recording = record(numba_arms, 1, 32, (cp.asarray(X), cp.asarray(OUT), np.int32(1)))
    with pytest.raises(ValueError, match="no steps of warp 1; it has 1 warp"):
        issue_strip(recording, 1)


def test_a_long_warp_is_drawn_in_part_and_counted_whole():
    @cuda.jit
    def endless(x, n):
        v = x[0]
        for _ in range(n):
            v = v * np.float32(0.5)
            cuda.syncwarp()
        x[0] = v

    recording = record(endless, 1, 32, (cp.ones(1, dtype="float32"), 300))
    drawing = issue_strip(recording)
    assert "the first 700 drawn" in drawing.svg and f"issues {len(recording.steps):,} instructions" in drawing.finding
