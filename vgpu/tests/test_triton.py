"""Triton kernels on the virtual GPU: compared with PyTorch and NumPy, by both engines."""

import importlib.util
import math
import os
import sys

import numpy as np
import pytest

from vgpu import reference
from vgpu.base.errors import ArgumentError, DeviceAssert, LaunchError, OutOfBounds, Unsupported

HOW = "Triton is published for Linux: python -m pip install -c constraints.txt triton"
if importlib.util.find_spec("triton") is None:
    # Where Triton can be had, the workbook's own tests insist on it.
    assert not (os.environ.get("CI") and sys.platform == "linux"), HOW
    pytest.skip(HOW, allow_module_level=True)

import torch  # noqa: E402

from vgpu import record, trace  # noqa: E402
from vgpu.standins import cupy as cp  # noqa: E402
from vgpu.standins import numba_cuda as cuda  # noqa: E402
from vgpu.standins import triton as stand_in  # noqa: E402
from vgpu.tools.profile import profile  # noqa: E402

triton = stand_in.activate()

import triton.language as tl  # noqa: E402

from vgpu.standins.triton import bench  # noqa: E402
from vgpu.standins.triton.complaints import TritonCompileError  # noqa: E402
from vgpu.standins.triton.kernel import TritonKernel  # noqa: E402
from vgpu.tests import triton_kernels as kernels  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:tl.make_block_ptr is deprecated")


@pytest.fixture(params=["compiled", "reference"])
def run(request):
    """Launch a kernel by one engine: run(kernel, grid, *arguments, **meta)."""

    def go(kernel, grid, *args, **meta):
        if request.param == "compiled":
            kernel[grid](*args, **meta)
            return
        prepared = TritonKernel(kernel).prepare(args, grid, **meta)
        reference.run(
            prepared.kernel, None, prepared.grid, prepared.block, prepared.params, shared_bytes=prepared.shared_bytes
        )
        prepared.finish()

    return go


@pytest.fixture
def random():
    generator = torch.Generator().manual_seed(7)
    return lambda *shape, dtype=torch.float32: torch.randn(*shape, generator=generator).to(dtype)


def close(found, wanted, tolerance=1e-5):
    torch.testing.assert_close(found.float(), wanted.float(), rtol=tolerance, atol=tolerance)


# -- kernels --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 31, 1000, 1024, 2500])
def test_add(run, random, n):
    x, y, out = random(n), random(n), torch.full((n,), 7.0)
    run(kernels.add, (triton.cdiv(n, 1024),), x, y, out, n, BLOCK=1024)
    assert torch.equal(out, x + y)


@pytest.mark.parametrize(("rows", "columns"), [(3, 1), (2, 100), (2, 1000)])
def test_softmax(run, random, rows, columns):
    x, out = random(rows, columns), torch.empty(rows, columns)
    run(kernels.softmax, (rows,), out, x, columns, x.stride(0), BLOCK=triton.next_power_of_2(columns))
    close(out, torch.softmax(x, dim=1), 1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_layer_norm(run, random, dtype):
    rows, columns = 2, 300
    x, weight, bias = random(rows, columns, dtype=dtype), random(columns), random(columns)
    out, mean, scale = torch.empty_like(x), torch.empty(rows), torch.empty(rows)
    run(kernels.layer_norm, (rows,), x, weight, bias, out, mean, scale, columns, 1e-5, BLOCK=128)
    wanted = torch.nn.functional.layer_norm(x.float(), (columns,), weight, bias, eps=1e-5)
    close(out, wanted.to(dtype), 1e-5 if dtype == torch.float32 else 2e-2)
    close(mean, x.float().mean(dim=1))
    close(scale, 1 / (x.float().var(dim=1, correction=0) + 1e-5).sqrt())


def test_layer_norm_backward(run, random):
    rows, columns = 3, 100
    x, weight, bias, dout = random(rows, columns), random(columns), random(columns), random(rows, columns)
    for leaf in (x, weight, bias):
        leaf.requires_grad_()
    torch.nn.functional.layer_norm(x, (columns,), weight, bias, eps=1e-5).backward(dout)
    dx, dweight, dbias = torch.empty(rows, columns), torch.zeros(columns), torch.zeros(columns)
    with torch.no_grad():
        mean, scale = x.mean(dim=1), 1 / (x.var(dim=1, correction=0) + 1e-5).sqrt()
    run(
        kernels.layer_norm_backward, (rows,), dx, dout, dweight, dbias, x.detach(), weight.detach(), mean, scale,
        columns, BLOCK=128,
    )  # fmt: skip
    close(dx, x.grad)
    close(dweight, weight.grad)
    close(dbias, bias.grad)


def test_total(run, random):
    x, out = random(3000), torch.zeros(1)
    run(kernels.total, (3,), x, out, 3000, BLOCK=1024)
    close(out[0], x.double().sum(), 1e-4)


def test_dropout_is_seeded(run, random):
    x = random(1000)
    outs = [torch.empty(1000) for _ in range(3)]
    for out, seed in zip(outs, (1, 1, 2), strict=True):
        run(kernels.dropout, (4,), x, out, 1000, 0.25, seed, BLOCK=256)
    assert torch.equal(outs[0], outs[1]) and not torch.equal(outs[0], outs[2])
    kept = outs[0] != 0
    close(outs[0][kept], x[kept] / 0.75, 1e-6)
    assert 0.70 < kept.float().mean() < 0.80


def philox(seed: int, offset: int, rounds: int = 10) -> int:
    """The first word of Philox-4x32 for the counter (offset, 0, 0, 0), as in Salmon et al., SC 2011."""
    c, key = [offset, 0, 0, 0], [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(rounds):
        low, high = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(high >> 32) ^ c[1] ^ key[0], high & 0xFFFFFFFF, (low >> 32) ^ c[3] ^ key[1], low & 0xFFFFFFFF]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c[0]


@triton.jit
def random_words(out_ptr, seed, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.randint(seed, at))


def test_random_words_are_philox(run):
    out = torch.empty(64, dtype=torch.int32)
    run(random_words, (1,), out, 1234567, BLOCK=64)
    assert [int(word) & 0xFFFFFFFF for word in out] == [philox(1234567, at) for at in range(64)]


@pytest.mark.parametrize("how", ["histogram", "histogram_of_block"])
def test_histogram(run, how):
    x = torch.randint(0, 64, (1500,), dtype=torch.int32, generator=torch.Generator().manual_seed(1))
    bins = torch.zeros(64, dtype=torch.int32)
    more = {} if how == "histogram" else {"BINS": 64}
    run(getattr(kernels, how), (6,), x, bins, 1500, BLOCK=256, **more)
    assert torch.equal(bins, torch.bincount(x, minlength=64).int())


def test_cumulative_sum(run, random):
    x, out = random(2, 1000), torch.empty(2, 1000)
    run(kernels.cumulate, (2,), x, out, 1000, BLOCK=1024)
    close(out, x.cumsum(dim=1), 1e-4)


def test_argmax(run, random):
    x = random(2, 500)
    value, index = torch.empty(2), torch.empty(2, dtype=torch.int64)
    run(kernels.best, (2,), x, value, index, 500, BLOCK=512)
    assert torch.equal(value, x.max(dim=1).values) and torch.equal(index, x.argmax(dim=1))


def test_sort(run, random):
    x, out = random(256), torch.empty(256)
    run(kernels.sort_rows, (1,), x, out, BLOCK=256)
    assert torch.equal(out, x.sort().values)


OLDEST = triton.__version__.startswith(stand_in.RELEASES[0])


@pytest.mark.skipif(not hasattr(tl, "advance"), reason="Triton 3.9 has no block pointers")
@pytest.mark.parametrize(("rows", "columns"), [(32, 32), (40, 70)])
def test_transpose(run, random, rows, columns):
    x, out = random(rows, columns), torch.zeros(columns, rows)
    run(kernels.transpose, (triton.cdiv(rows, 32), triton.cdiv(columns, 32)), x, out, rows, columns, TILE=32)
    assert torch.equal(out, x.T)


def test_convolution(run, random):
    x, taps, out = random(600), random(5), torch.empty(600)
    run(kernels.convolve, (3,), x, taps, out, 600, TAPS=5, BLOCK=256)
    wanted = torch.nn.functional.conv1d(x.view(1, 1, -1), taps.view(1, 1, -1), padding=2)
    close(out, wanted.view(-1))


def test_while_loops(run):
    x = torch.arange(1, 20, dtype=torch.int32)
    out = torch.zeros_like(x)
    run(kernels.collatz, (19,), x, out, 19)
    assert out.tolist() == [0, 1, 7, 2, 5, 8, 16, 3, 19, 6, 14, 9, 9, 17, 17, 4, 12, 20, 20]


def test_atomics(run):
    owner, winner = torch.zeros(1, dtype=torch.int32), torch.tensor([-1, -1, -1], dtype=torch.int32)
    run(kernels.claim, (5,), owner, winner)
    assert 1 <= owner[0] <= 5 and winner.tolist() == [owner[0] - 1, 4, 7]


def test_mathematics(run):
    x = torch.linspace(0.1, 4.0, 100)
    out = torch.empty(17, 100)
    run(kernels.mathematics, (1,), x, out, 100, BLOCK=128)
    wanted = torch.stack([
        x.exp(), x.log(), x.sin(), x.cos(), x.sqrt(), x.rsqrt(), x.sigmoid(), x.erf(), x.tanh(), x**1.5,
        torch.atan2(x, torch.tensor(2.0)), x.floor(), x.log1p(), x.exp2(), x.log2(), x.expm1(), x.lgamma(),
    ])  # fmt: skip
    close(out, wanted, 2e-5)


def test_conversions(run, random):
    x = random(128)
    outs = [torch.empty(128, dtype=d) for d in (torch.float16, torch.bfloat16, torch.float8_e5m2, torch.float64)]
    run(kernels.convert, (1,), x, *outs, BLOCK=128)
    for out in (outs[0], outs[1], outs[3]):
        assert torch.equal(out, x.to(out.dtype))
    close(outs[2], x.to(torch.float8_e5m2), 0.15)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_halves(run, random, dtype):
    x, y, out = random(256, dtype=dtype), random(256, dtype=dtype), torch.empty(256, dtype=dtype)
    run(kernels.halves, (1,), x, y, out, BLOCK=256)
    fused = (x.double() * y.double() + x.double()).to(dtype)
    assert torch.equal(out, torch.maximum(fused, y) - x)


def test_calls_of_other_kernels(run, random):
    x, out = random(300), torch.empty(300)
    run(kernels.calls, (2,), x, out, 300, BLOCK=256)
    close(out, torch.nn.functional.silu(x), 1e-6)


@pytest.mark.parametrize("n", [256, 300])
def test_heuristics(run, random, n):
    x, out = random(n), torch.empty(n)
    run(kernels.scale, (triton.cdiv(n, 128),), x, out, n, 2.5, BLOCK=128)
    assert torch.equal(out, x * 2.5)


# -- what is seen of a launch ---------------------------------------------------------------------------


def line_of(kernel, text: str) -> int:
    """The line of the file on which a kernel's source has `text`."""
    return kernel.starting_line_number + next(i for i, line in enumerate(kernel.raw_src) if text in line)


def test_counts_stand_beside_the_user_lines(random):
    n = 4096
    x, y, out = random(n), random(n), torch.empty(n)
    grid = lambda meta: (triton.cdiv(n, meta["BLOCK"]),)
    found = profile(kernels.add, grid, None, (x, y, out, n), BLOCK=1024, num_warps=8)
    assert torch.equal(out, x + y)
    assert found.counters.grid == (4, 1, 1) and found.counters.block == (256, 1, 1)
    by_line = {line.number: line for line in found.lines}
    load = by_line[line_of(kernels.add, "x = tl.load")]
    assert "tl.load(x_ptr" in load.source
    # 16 bytes a lane, 512 a request: one for each of the 8 warps of the 4 programs.
    assert load["global_load_requests"] == 32 and load["global_load_sectors"] == 32 * 16
    store = by_line[line_of(kernels.add, "tl.store")]
    assert store["global_store_requests"] == 32 and store["global_store_sectors"] == 32 * 16
    assert found["global_load_sectors"] == 2 * n * 4 // 32
    assert found.registers > 0 and found.model.seconds > 0


def test_a_reduction_meets_in_shared_memory(random):
    x, out = random(1024), torch.zeros(1)
    found = profile(kernels.total, 1, None, (x, out, 1024), BLOCK=1024, num_warps=4)
    line = next(line for line in found.lines if line.number == line_of(kernels.total, "tl.sum"))
    # Lines of Triton's own library count for the user's line that calls them.
    # One store of each of the 4 warps, one of their sum, and one of the sum of those.
    # From Triton 3.8 on all warps load the sums of the 4 instead of one.
    stores, loads = (5, 5) if OLDEST else (4, 4)
    assert line["shared_store_requests"] == stores and line["shared_load_requests"] == loads
    assert line["global_atomic_requests"] == 1 and found.dynamic_shared_bytes == 16


def test_accesses_of_one_program(random):
    x, y, out = random(2048), random(2048), torch.full((2048,), 3.0)
    found = trace(kernels.add, (2,), None, (x, y, out, 2048), block_index=(1, 0, 0), BLOCK=1024, num_warps=8)
    loads = found.on(line_of(kernels.add, "x = tl.load"))
    assert [access.array for access in loads] == ["x_ptr"] * 8 and {access.nbytes for access in loads} == {16}
    assert loads[1].addresses == tuple(4096 + 512 + 16 * lane for lane in range(32))
    assert (out == 3.0).all(), "a trace changes nothing"


def test_steps_of_one_program():
    x, out = torch.arange(1, 20, dtype=torch.int32), torch.zeros(19, dtype=torch.int32)
    found = record(kernels.collatz, (19,), None, (x, out, 19), (2, 0, 0), warp=0)
    last = found.values(found.steps[-1].number)
    assert last["at"].values == (2,) * 32 and out.tolist() == [0] * 19
    loaded = next(step for step in found.steps if step.touched and step.touched[0].access.array == "x_ptr")
    assert loaded.written[0].name == "x" and loaded.written[0].values == (3,) * 32
    (stored,) = [step.touched[0] for step in found.steps if step.touched and step.touched[0].access.op == "store"]
    assert stored.access.array == "out_ptr" and 7 in stored.after and set(stored.after) <= {7, None}
    # Seven steps take 3 to 1, and each goes round the loop's last line once.
    assert (
        len([step for step in found.at_line(line_of(kernels.collatz, "steps += 1")) if "add" in step.instruction]) == 7
    )


def test_device_arrays_are_passed_without_a_copy():
    x, y, out = cp.arange(700, dtype="f4"), cuda.to_device(np.ones(700, np.float32)), cp.zeros(700, "f4")
    kernels.add[(1,)](x, y, out, 700, BLOCK=1024)
    assert (out.get() == np.arange(700) + 1).all()
    kernels.add[(1,)](x_ptr=x[100:], y_ptr=y, out_ptr=out, n=10, BLOCK=1024)
    assert (out.get()[:11] == [*range(101, 111), 11]).all()


def test_views_share_one_copy_of_their_storage():
    whole = torch.arange(64.0)
    kernels.add[(1,)](whole[:16], whole[16:32], whole[48:], 16, BLOCK=16)
    assert torch.equal(whole[48:], torch.arange(16.0) + torch.arange(16, 32))
    assert torch.equal(whole[:48], torch.arange(48.0)), "nothing else is written"


def test_inputs_over_read_only_memory():
    frozen = np.arange(16, dtype=np.float32)
    frozen.flags.writeable = False
    with pytest.warns(UserWarning, match="not writable"):
        x = torch.from_numpy(frozen)
    out = torch.empty(16)
    kernels.add[(1,)](x, x, out, 16, BLOCK=16)
    assert torch.equal(out, 2 * torch.arange(16.0))


def test_what_is_printed(capsys):
    kernels.narrate[(2,)](torch.tensor([4, 5], dtype=torch.int32), LIMIT=9, num_warps=1)
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["pid (0, 0, 0) idx () x =: 4"] * 32 + ["pid (1, 0, 0) idx () x =: 5"] * 32


def test_a_failed_assertion(capsys):
    x = torch.tensor([4, 50], dtype=torch.int32)
    with pytest.raises(DeviceAssert, match=r"`x is too large` failed in program \(1\)") as error:
        kernels.narrate[(2,)](x, LIMIT=9, debug=True)
    assert error.value.line == line_of(kernels.narrate, "tl.device_assert")


def test_a_forgotten_mask_is_named():
    with pytest.raises(OutOfBounds) as error:
        kernels.unmasked[(4,)](torch.zeros(900), torch.zeros(1024), BLOCK=256)
    told = str(error.value)
    assert error.value.line == line_of(kernels.unmasked, "tl.store") and error.value.block == (3, 0, 0)
    assert "`x_ptr[900]`" in told and "program (3)" in told and "mask=offsets < n" in told


# -- choosing -------------------------------------------------------------------------------------------


def test_heuristics_are_profiled(random):
    x, out = random(256), torch.empty(256)
    found = profile(kernels.scale, 2, None, (x, out, 256, 2.0), BLOCK=128)
    assert torch.equal(out, 2 * x) and found["global_load_sectors"] == 32


candidates = [triton.Config({"BLOCK": block}, num_warps=1) for block in (32, 2048, 64)]


@triton.autotune(candidates, key=["n"])
@triton.jit
def tuned(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n) + 1.0, mask=at < n)


def test_autotuning_goes_by_modelled_times(random):
    n = 1 << 16
    x, out = random(n), torch.empty(n)
    grid = lambda meta: (triton.cdiv(n, meta["BLOCK"]),)
    tuned[grid](x, out, n)
    assert torch.equal(out, x + 1.0)
    times = {config.kwargs["BLOCK"]: times for config, times in tuned.configs_timings.items()}
    assert tuned.best_config.kwargs["BLOCK"] == min(times, key=times.get)
    for block, (time, *others) in times.items():
        modelled = profile(tuned.fn, grid, None, (x, out, n), BLOCK=block, num_warps=1).model.seconds
        assert time == pytest.approx(1000 * modelled) and others == [time, time]
    assert profile(tuned, grid, None, (x, out, n)).counters.grid == (n // tuned.best_config.kwargs["BLOCK"], 1, 1)


def test_a_configuration_that_does_not_fit_is_passed_over(random):
    big = triton.Config({"BLOCK": 1024}, num_warps=64)
    fits = triton.Config({"BLOCK": 256}, num_warps=2)
    kernel = triton.autotune([big, fits], key=["n"])(tuned.fn)
    x, out = random(500), torch.empty(500)
    kernel[lambda meta: (triton.cdiv(500, meta["BLOCK"]),)](x, out, 500)
    assert torch.equal(out, x + 1.0) and kernel.best_config is fits


def test_do_bench_gives_the_modelled_time_in_the_form_asked_for(random):
    n = 1 << 12
    x, out = random(n), torch.empty(n)
    grid = (n // 64,)
    once = 1000 * profile(tuned.fn, grid, None, (x, out, n), BLOCK=64, num_warps=1).model.seconds

    def twice():
        for _ in range(2):
            tuned.fn[grid](x, out, n, BLOCK=64, num_warps=1)

    time_of, runs = triton.testing.do_bench, []
    assert time_of(twice) == pytest.approx(2 * once) and torch.equal(out, x + 1.0)
    time = time_of(lambda: runs.append(twice()), warmup=1000, rep=1000)
    assert len(runs) == 1
    assert time_of(twice, quantiles=[0.5, 0.2, 0.8]) == [time] * 3 and time_of(twice, quantiles=[0.5]) == time
    assert time_of(twice, return_mode="all") == [time] and time_of(twice, return_mode="max") == time
    assert triton.testing.do_bench_cudagraph(twice, rep=5, quantiles=[0.5, 0.9]) == [time] * 2


def test_do_bench_leaves_out_what_autotune_tries(random):
    n = 1 << 12
    x, out = random(n), torch.empty(n)
    kernel = triton.autotune([triton.Config({"BLOCK": block}, num_warps=1) for block in (64, 128)], key=["n"])(tuned.fn)
    launch = lambda: kernel[lambda meta: (n // meta["BLOCK"],)](x, out, n)
    first = triton.testing.do_bench(launch)
    assert first == triton.testing.do_bench(launch) == min(times[0] for times in kernel.configs_timings.values())


def test_a_configuration_whose_assertion_fails_is_passed_over(random):
    @triton.jit
    def small(x_ptr, out_ptr, BLOCK: tl.constexpr):
        tl.static_assert(BLOCK <= 64, "it is for one row")
        at = tl.arange(0, BLOCK)
        tl.store(out_ptr + at, tl.load(x_ptr + at))

    configurations = [triton.Config({"BLOCK": block}) for block in (128, 64)]
    kernel = triton.autotune(configurations, key=[])(small)
    x, out = random(64), torch.empty(64)
    kernel[(1,)](x, out)
    assert torch.equal(out, x) and kernel.best_config.kwargs == {"BLOCK": 64}
    with pytest.raises(TritonCompileError, match="static_assert` does not hold: it is for one row"):
        small[(1,)](x, out, BLOCK=128)


def test_do_bench_clears_gradients_and_counts_other_libraries_kernels():
    from vgpu import cp

    weight = torch.ones(4, requires_grad=True)
    weight.sum().backward()
    add = cp.RawKernel('extern "C" __global__ void f(float* x) { x[threadIdx.x] += 1; }', "f")
    x = cp.zeros(32, cp.float32)
    time = triton.testing.do_bench(lambda: add((1,), (32,), (x,)), grad_to_none=[weight])
    assert time == pytest.approx(1000 * profile(add, 1, 32, (x,)).model.seconds) and weight.grad is None


def test_do_bench_has_no_time_for_what_launches_no_kernel():
    x = torch.ones(4)
    bench._warn.cache_clear()
    with pytest.warns(UserWarning, match="no kernel was launched") as warned:
        times = triton.testing.do_bench(lambda: x + x, quantiles=[0.5, 0.2, 0.8])
    assert len(times) == 3 and all(map(math.isnan, times))
    assert warned[0].filename == __file__


def test_events_measure_this_computer():
    interface = triton.runtime.driver.active.get_device_interface()
    first, second = interface.Event(enable_timing=True), interface.Event(enable_timing=True)
    first.record()
    with pytest.raises(RuntimeError, match="record"):
        first.elapsed_time(second)
    second.record()
    assert first.elapsed_time(second) >= 0


# -- the driver -----------------------------------------------------------------------------------------


def test_the_modelled_gpu_is_compiled_for():
    from vgpu import device

    driver = triton.runtime.driver.active
    try:
        for name, capability in (("A100", 80), ("RTX 3090", 86), ("H100", 90), ("B200", 100)):
            device(name)
            assert driver.get_current_target().arch == capability
            assert driver.utils.get_device_properties()["max_shared_mem"] == device.current().shared_optin_limit
            out = torch.empty(4)
            kernels.add[(1,)](torch.ones(4), torch.ones(4), out, 4, BLOCK=16)
            assert (out == 2).all()
    finally:
        device.reset()


def test_a_compiled_kernel_knows_its_registers():
    found = kernels.add.warmup(torch.float32, torch.float32, torch.float32, 4, BLOCK=1024, grid=(1,))
    found._init_handles()
    assert found.n_regs == profile(kernels.add, 1, None, (torch.zeros(4),) * 3 + (4,), BLOCK=1024).registers
    assert found.n_spills == 0 and found.metadata.num_warps == 4


def test_the_front_door_gives_triton_itself():
    import vgpu

    assert vgpu.triton is triton and sys.modules["triton"] is triton


@pytest.mark.parametrize(
    ("call", "error", "told"),
    [
        (lambda x: kernels.add[(1,)](x.numpy(), x, x, 4, BLOCK=16), TypeError, "torch.from_numpy"),
        (lambda x: kernels.add[(1,)](x, x, x, np.int32(4), BLOCK=16), TypeError, r"n.item\(\)"),
        (lambda x: kernels.add[(1,)](x.to("meta"), x, x, 4, BLOCK=16), LaunchError, "on meta"),
        (lambda x: kernels.add[(9, 70000)](x, x, x, 4, BLOCK=16), LaunchError, "at most 65535"),
        (lambda x: profile(kernels.add, 1, 256, (x, x, x, 4), BLOCK=16), ArgumentError, "None for the block"),
        (lambda x: profile(kernels.add, 1, None, (x, x, x, 4), BLOCK=16, warps=4), ArgumentError, "warps"),
        (lambda x: profile(kernels.add, 0, None, (x, x, x, 4), BLOCK=16), LaunchError, "grid is empty"),
    ],
)
def test_what_is_refused(call, error, told):
    with pytest.raises(error, match=told):
        call(torch.zeros(4))


def test_an_empty_grid_does_nothing():
    x = torch.zeros(4)
    kernels.add[(0,)](x, x, x, 4, BLOCK=16)
    assert (x == 0).all()


@pytest.mark.parametrize(("platform", "told"), [("linux", "pip install"), ("win32", "Windows"), ("darwin", "macOS")])
def test_without_triton_the_remedy_is_told(platform, told):
    assert told in stand_in.missing(platform)


def test_another_release_is_refused(monkeypatch):
    monkeypatch.setattr(triton, "__version__", "9.1.0")
    with pytest.raises(Unsupported, match=r"9\.1\.0"):
        stand_in.installed()


def test_the_architecture_can_be_overridden(monkeypatch):
    monkeypatch.setattr(triton.knobs.runtime, "override_arch", "sm90")
    assert triton.runtime.driver.active.get_current_target().arch == 90
