"""What the compiled engine does a shorter way where it can: the result is the same, to the bit."""

import numpy as np
import pytest

from vgpu.runtime import demand
from vgpu.standins import numba_cuda as cuda

ATOMICS = {
    "atomicAdd(&table[where], x)": "int", "atomicMin(&table[where], x)": "int", "atomicMax(&table[where], x)": "int",
    "atomicMin(&table[where], x) ": "unsigned", "atomicMax(&table[where], x) ": "unsigned",
    "atomicAnd(&table[where], x)": "unsigned", "atomicOr(&table[where], x)": "unsigned",
    "atomicXor(&table[where], x)": "unsigned", "atomicExch(&table[where], x)": "unsigned",
    "atomicInc(&table[where], x)": "unsigned", "atomicDec(&table[where], x)": "unsigned",
    "atomicCAS(&table[where], x & 3, x)": "unsigned", "atomicAdd(&table[where], x * 0.3f)": "float",
    "atomicAdd(&table[where], x * 0.3)": "double", "atomicAdd(&table[where], x)  ": "unsigned long long",
}  # fmt: skip
SHARED = """
extern "C" __global__ void k(const int* values, KIND* olds, KIND* out, int spread) {
    __shared__ KIND table[16];
    int t = threadIdx.x;
    if (t < 16) table[t] = t;
    __syncthreads();
    if (t % 5 != 3) {
        int x = values[t], where = (t * 7) % spread;
        olds[t] = OPERATION;
    }
    __syncthreads();
    if (t < 16) out[t] = table[t];
}
"""


@pytest.mark.parametrize("spread", [1, 3, 16])
@pytest.mark.parametrize("operation", ATOMICS)
def test_atomics_on_shared_memory_take_their_turns_in_lane_order(operation, spread, compiled, interpreted):
    kind = ATOMICS[operation]
    source = SHARED.replace("KIND", kind).replace("OPERATION", operation.strip())
    dtype = {"int": "i4", "unsigned": "u4", "float": "f4", "double": "f8", "unsigned long long": "u8"}[kind]
    values = np.random.default_rng(3).integers(0, 9, 80).astype(np.int32)
    found = []
    for engine in (compiled, interpreted):
        olds, out = np.zeros(80, dtype), np.zeros(16, dtype)
        engine.c(source, "k")(1, 80, values, olds, out, spread)
        found.append(olds.tobytes() + out.tobytes())
    assert found[0] == found[1]


TICKETS = """
extern "C" __global__ void k(KIND* counter, KIND* tickets, int last) {
    int t = threadIdx.x;
    if (t <= last && t % 3 != 1) tickets[t] = atomicAdd(counter, (KIND)(t + 1));
}
"""


@pytest.mark.parametrize("last", [0, 2, 31, 63])
@pytest.mark.parametrize("kind", ["int", "unsigned long long"])
def test_additions_to_one_address_give_each_lane_what_it_would_have_seen(engine, kind, last):
    dtype = {"int": np.int32, "unsigned long long": np.uint64}[kind]
    counter, tickets = np.array([5], dtype), np.full(64, 77, dtype)
    engine.c(TICKETS.replace("KIND", kind), "k")(1, 64, counter, tickets, last)
    expected, total = np.full(64, 77, dtype), 5
    for t in range(last + 1):
        if t % 3 != 1:
            expected[t], total = total, total + t + 1
    assert counter[0] == total
    np.testing.assert_array_equal(tickets, expected)


DIRECTED = """
extern "C" __global__ void k(const float* x, float* out) {
    int t = threadIdx.x;
    float a = x[t], b = x[t + 32], c = x[t + 64];
    out[t] = __fmaf_rd(a, b, c);
    out[t + 32] = __fmaf_rd(b, c, a);
    out[t + 64] = __fmaf_rd(c, a, b);
    out[t + 96] = __fmaf_rd(a, 3.0f, c);
}
"""


def test_arithmetic_in_a_function_of_its_own_gives_the_same(compiled, interpreted):
    x = np.random.default_rng(5).standard_normal(96).astype(np.float32)
    x[:4] = np.inf, -0.0, np.float32(1e-45), np.float32(3e38)
    found = []
    for engine in (compiled, interpreted):
        out = np.zeros(128, np.float32)
        kernel = engine.c(DIRECTED, "k")
        kernel(1, 32, x, out)
        found.append(out)
    np.testing.assert_array_equal(found[0].view(np.uint32), found[1].view(np.uint32))
    exact = x[32:64].astype(np.float64) * x[64:96] + x[:32]
    finite = np.isfinite(found[0][32:64])
    assert np.all(found[0][32:64][finite] <= exact[finite])


TABLES = """
extern "C" __global__ void k(const unsigned* x, unsigned* out) {
    int t = threadIdx.x;
    unsigned a = x[t], b = x[t + 32], c = x[t + 64];
    LINES
}
"""


def test_constants_that_choose_the_instructions_stay_constants(engine):
    tables = [0x96, 0xE8, 0x1B, 0x6D, 0x69]
    lines = "\n".join(
        f'asm("lop3.b32 %0, %1, %2, %3, {table};" : "=r"(out[t + {32 * i}]) : "r"(a), "r"(b), "r"(c));'
        for i, table in enumerate(tables)
    )
    x = np.random.default_rng(6).integers(0, 1 << 32, 96, dtype=np.uint64).astype(np.uint32)
    out = np.zeros(32 * len(tables), np.uint32)
    engine.c(TABLES.replace("LINES", lines), "k")(1, 32, x, out)
    bits = [(x[i * 32 : i * 32 + 32, None] >> np.arange(32, dtype=np.uint32)) & 1 for i in range(3)]
    index = bits[0] * 4 + bits[1] * 2 + bits[2]
    for i, table in enumerate(tables):
        wanted = (((table >> index) & 1).astype(np.uint64) << np.arange(32, dtype=np.uint64)).sum(1)
        np.testing.assert_array_equal(out[32 * i : 32 * i + 32], wanted.astype(np.uint32))


def test_a_kernel_defined_again_keeps_its_machine_code():
    addresses = set()
    for line in range(3):
        scope = {"cuda": cuda}
        text = (
            "\n" * line + "@cuda.jit\ndef f(x):\n    i = cuda.grid(1)\n    if i < x.size:\n        x[i] = x[i] + 11\n"
        )
        exec(compile(text, f"cell_{line}.py", "exec"), scope)
        array = cuda.to_device(np.zeros(40, np.int32))
        scope["f"][2, 32](array)
        assert array.copy_to_host().tolist() == [11] * 40
        prepared = scope["f"].prepare((array,))
        lowered, address = prepared.kernel.compiled()
        addresses.add(address)
        # The lines that counters and errors name are those of the new definition.
        assert lowered.sites[0].instruction.location.line == line + 5
    assert len(addresses) == 1


RUNTIME = """
define internal i32 @inner(i32 %x) alwaysinline {
  %r = call i32 @llvm.ctpop.i32(i32 %x)
  ret i32 %r
}
define internal i32 @shared_one(i32 %x) noinline {
  %r = call i32 @inner(i32 %x)
  ret i32 %r
}
define i32 @first(i32 %x) {
  %r = call i32 @shared_one(i32 %x)
  ret i32 %r
}
define i32 @second(i32 %x) {
  %r = call i32 @shared_one(i32 %x)
  %s = call i32 @inner(i32 %r)
  ret i32 %s
}
"""


def test_each_function_of_the_runtime_is_a_module_of_its_own():
    functions = demand.Functions(RUNTIME)
    first, second = functions.module("first"), functions.module("second")
    assert "declare i32 @shared_one" in first and "define i32 @first" in first
    # What is not inlined is declared, what is always inlined is in every module that calls it.
    assert "@inner" not in first and "@second" not in first
    assert "declare i32 @shared_one" in second and "define internal i32 @inner" in second
    assert "define i32 @shared_one" in functions.module("shared_one") and functions.module("unknown") == ""


def test_a_runtime_that_cannot_be_taken_apart_is_refused():
    with pytest.raises(ValueError, match="two functions inner"):
        demand.Functions(RUNTIME + RUNTIME)
    with pytest.raises(ValueError, match="outside functions"):
        demand.Functions("@table = global i32 0\n" + RUNTIME)
