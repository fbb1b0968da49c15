"""What waits for what in a warp: against chains written down by hand, in both languages."""

import numpy as np
import pytest

from vgpu import cp, cuda, profile
from vgpu.tools.steps import dependencies
from vgpu.tools.steps.dependencies import ChainTooLong, chain

BODIES = {
    # body, loads, waits
    "one": ("out[i] = x[i];", 1, 1),
    "pair": ("float a = x[i], b = x[i + n]; out[i] = a + b;", 2, 1),
    "stored between": ("out[i] = x[i]; out[i + n] = x[i + n];", 2, 2),
    "stored after": ("float a = x[i], b = x[i + n]; out[i] = a; out[i + n] = b;", 2, 1),
    "an address from memory": ("out[i] = x[(int)x[i]];", 2, 2),
    "through shared memory": ("__shared__ float s[32]; s[i] = x[i]; out[i] = s[i];", 1, 1),
    "no load": ("out[i] = i;", 0, 0),
}


def of(body: str, n: int = 32):
    source = f'extern "C" __global__ void k(const float* x, float* out, int n) {{ int i = threadIdx.x; {body} }}'
    x, out = cp.zeros(2 * n, np.float32), cp.zeros(2 * n, np.float32)
    return chain(cp.RawKernel(source, "k"), 1, 32, (x, out, np.int32(n))), out


@pytest.mark.parametrize("what", BODIES)
def test_loads_and_waits_are_those_counted_by_hand(what):
    body, loads, waits = BODIES[what]
    found, _ = of(body)
    assert (found.loads, found.waits) == (loads, waits)
    assert found.abreast == (loads / waits if waits else 0)


def test_copies_parameters_and_addresses_are_no_instructions():
    found, _ = of("out[i] = x[i];")
    assert {link.opcode for link in found.links}.isdisjoint({"mov", "cvta"})
    (load,) = (link for link in found.links if link.op == "load")
    (store,) = (link for link in found.links if link.op == "store")
    assert (load.space, load.sectors, store.sectors) == ("global", 4, 4)
    assert found.links.index(load) in store.needs


def test_sectors_are_those_of_the_lanes_addresses():
    found, _ = of("out[i] = x[(i * 8) % n];")
    assert [link.sectors for link in found.links if link.op == "load"] == [4]
    found, _ = of("out[i] = x[0];")
    assert [link.sectors for link in found.links if link.op == "load"] == [1]


def test_a_profile_has_the_chain_of_the_watched_warp():
    kernel = cp.RawKernel('extern "C" __global__ void k(const float* x, float* out) { out[0] = x[0]; }', "k")
    args = (cp.zeros(1, np.float32), cp.zeros(1, np.float32))
    assert profile(kernel, 1, 32, args, watched=(0, 0)).chain == chain(kernel, 1, 32, args)
    assert profile(kernel, 1, 32, args).chain is None


def test_the_kernels_arrays_are_put_back():
    _, out = of("out[i] = 7;")
    assert not out.any()


@cuda.jit
def late(x, out):
    i, n = cuda.grid(1), cuda.gridsize(1)
    for k in range(i, i + 4 * n, n):
        out[k] = 2 * x[k]


@cuda.jit
def early(x, out):
    i, n = cuda.grid(1), cuda.gridsize(1)
    a, b, c, d = x[i], x[i + n], x[i + 2 * n], x[i + 3 * n]
    out[i], out[i + n], out[i + 2 * n], out[i + 3 * n] = 2 * a, 2 * b, 2 * c, 2 * d


def test_order_decides_in_numba_too():
    x, out = cp.zeros(256, np.float32), cp.zeros(256, np.float32)
    assert [(c.loads, c.waits) for c in (chain(kernel, 1, 64, (x, out), warp=1) for kernel in (late, early))] == [
        (4, 4),
        (4, 1),
    ]


def test_a_warp_outside_the_block_and_one_that_runs_too_long_are_refused(monkeypatch):
    x, out = cp.zeros(256, np.float32), cp.zeros(256, np.float32)
    with pytest.raises(IndexError):
        chain(early, 1, 64, (x, out), warp=2)
    monkeypatch.setattr(dependencies, "MOST", 10)
    with pytest.raises(ChainTooLong, match="more than 10 instructions"):
        chain(early, 1, 64, (x, out))


@cuda.jit
def collatz(x, out):
    i, steps = cuda.grid(1), 0
    n = x[i]
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    out[i] = steps


def test_a_warp_takes_the_same_way_in_compiled_code_and_under_the_interpreter():
    """Also one whose lanes leave a loop of 1,800 instructions one by one."""
    from vgpu.launch.launch import dry_run
    from vgpu.tools.steps.trace import run_block

    prepared = collatz.prepare((cp.arange(1, 65, dtype="int32"), cp.zeros(64, np.int32)), grid=1, block=64)
    interpreted = []
    run_block(
        prepared, (1, 1, 1), (64, 1, 1), (0, 0, 0), 0,
        on_step=lambda step: step.warp == 1 and interpreted.append((step.instruction.opcode, step.line)),
    )  # fmt: skip
    counted = dry_run(prepared, (1, 1, 1), (64, 1, 1), watched=(0, 1))
    followed = [(step.instruction.opcode, step.line) for step in counted.path.steps()]
    assert followed == interpreted and len(followed) == counted.by_warp.instructions[0, 1] > 1800


WORDS = r"""
#define COPY(to, from) asm volatile("cp.async.ca.shared.global [%0], [%1], 4; cp.async.commit_group;" \
    :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
#define WAIT(n) asm volatile("cp.async.wait_group %0;" :: "n"(n) : "memory");
#define KEEP(a) asm volatile("{ .reg .pred p; setp.eq.u32 p, %1, 999; @p mov.f32 %0, 0f00000000; }" \
    : "+f"(a) : "r"(i));
"""
ROADS = {
    # what a thread does, loads, waits
    "a copy that is waited for": ("COPY(s + i, x + i) WAIT(0) out[i] = s[i];", 1, 1),
    "two copies, waited for together": ("COPY(s + i, x + i) COPY(s + i + 32, x + i + 32) WAIT(0)", 2, 1),
    "two copies, one after the other": ("COPY(s + i, x + i) WAIT(0) COPY(s + i, x + i + 32) WAIT(0)", 2, 2),
    "a copy that is not waited for": ("COPY(s + i, x + i) WAIT(1)", 1, 0),
    "an atomic that reads": ("out[i] = atomicAdd(out + i, 0.f);", 0, 1),
    "an atomic that adds what was loaded": ("out[i] = atomicAdd(out + i, x[i]);", 1, 2),
    "a register that nobody overwrites": ("float a = x[i]; if (i < n - 9) KEEP(a) out[i] = a;", 1, 1),
    "a register that some overwrite": ("float a = x[i]; if (i < n - 5) a = 3; KEEP(a) out[i] = a;", 1, 1),
}


@pytest.mark.parametrize("what", ROADS)
def test_waits_are_seen_by_every_road(what):
    body, loads, waits = ROADS[what]
    found, _ = of("__shared__ float s[64];" + WORDS + body)
    assert (found.loads, found.waits) == (loads, waits)
