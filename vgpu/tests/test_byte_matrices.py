"""`ldmatrix` and `stmatrix` of elements of 8, 6 and 4 bits: which byte each lane gets, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from vgpu.base.errors import Misaligned, OutOfBounds, PartialWarp, Unsupported
from vgpu.ptx import PTXSyntaxError
from vgpu.tests.test_narrow_formats import checked

LANE = np.arange(32)
GROUP, MEMBER = LANE // 4, LANE % 4
# Lane i gives row i, in an order that is not that of memory.
KERNEL = """extern "C" __global__ void k(const unsigned* in, unsigned* out, int stride, int first) {
    __shared__ __align__(16) unsigned tile[512];
    for (int i = threadIdx.x; i < 512; i += 32) tile[i] = in[i];
    __syncthreads();
    unsigned at = (unsigned)__cvta_generic_to_shared(tile) + first + (threadIdx.x * 5 % 32) * stride;
    unsigned r[4] = {threadIdx.x * 4, threadIdx.x * 4 + 0x01010101, threadIdx.x * 7 + 0x03020100, threadIdx.x * 9};
    STATEMENT
    for (int i = 0; i < 4; i++) out[32 * i + threadIdx.x] = r[i];
    __syncthreads();
    for (int i = threadIdx.x; i < 512; i += 32) out[128 + i] = tile[i];
}"""


def run(engine, statement: str, data: np.ndarray, stride: int = 32, first: int = 0, **options):
    """What the lanes' registers and shared memory hold afterwards, and the counters."""
    out = np.zeros(640, np.uint32)
    kernel = engine.c(KERNEL.replace("STATEMENT", statement), arch="compute_120a")
    counters = kernel(1, 32, data, out, np.int32(stride), np.int32(first), **options)
    return out[:128].reshape(4, 32), out[128:].view(np.uint8), counters


def load(words: str, registers: int) -> str:
    names = ", ".join(f"%{i}" for i in range(registers))
    outputs = ", ".join(f'"=r"(r[{i}])' for i in range(registers))
    return (f'asm volatile("ldmatrix.sync.aligned.{words} {{{names}}}, [%{registers}];" : {outputs} : "r"(at) '
            ': "memory");')  # fmt: skip


def store(words: str, registers: int) -> str:
    names = ", ".join(f"%{i + 1}" for i in range(registers))
    inputs = ", ".join(f'"r"(r[{i}])' for i in range(registers))
    return f'asm volatile("stmatrix.sync.aligned.{words} [%0], {{{names}}};" :: "r"(at), {inputs} : "memory");'


def elements(rows: np.ndarray, bits: int) -> np.ndarray:
    """The 16 elements of each row of 16 bytes."""
    whole = [int.from_bytes(row.tobytes(), "little") for row in rows]
    return np.array([[number >> bits * i & (1 << bits) - 1 for i in range(16)] for number in whole], np.uint8)


FORMATS = [(".b8x16.b6x16_p32", 6), (".b8x16.b4x16_p64", 4)]
DATA = np.random.default_rng(3).integers(0, 2**32, 512, dtype=np.uint32)


@pytest.mark.parametrize("space", ["", ".shared", ".shared::cta"])
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize(("ending", "bits"), [(".b8", 8), *FORMATS])
def test_sixteen_by_sixteen(engine, ending, bits, count, space):
    """Lane 4g + t gets rows 4t to 4t + 3, of column g and (in its next register) of column g + 8."""
    statement = load(f"m16n16.x{count}.trans{space}{ending}", 2 * count)
    if not space:  # a generic address
        statement = statement.replace('"r"(at)', '"l"((char*)tile + first + (threadIdx.x * 5 % 32) * stride)')
    found, _, _ = run(engine, statement, DATA)
    rows = DATA.view(np.uint8).reshape(-1, 32)[LANE * 5 % 32, :16]
    for matrix in range(count):
        whole = elements(rows[16 * matrix : 16 * matrix + 16], bits)
        for more in (0, 1):
            expected = sum(whole[4 * MEMBER + i, GROUP + 8 * more].astype(np.uint32) << 8 * i for i in range(4))
            assert (found[2 * matrix + more] == expected).all()


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize(("ending", "bits"), FORMATS)
def test_eight_by_sixteen(engine, ending, bits, count):
    found, _, _ = run(engine, load(f"m8n16.x{count}.shared{ending}", count), DATA)
    rows = DATA.view(np.uint8).reshape(-1, 32)[LANE * 5 % 32, :16]
    for matrix in range(count):
        whole = elements(rows[8 * matrix : 8 * matrix + 8], bits)
        expected = sum(whole[GROUP, 4 * MEMBER + i].astype(np.uint32) << 8 * i for i in range(4))
        assert (found[matrix] == expected).all()
    assert count == 4 or (found[count:] != found[0]).any(), "other registers stay"


@pytest.mark.parametrize("count", [1, 2, 4])
def test_sixteen_by_eight_stored(engine, count):
    """Lane 4g + t has columns 2t and 2t + 1 of rows g (lower bytes) and g + 8, as products leave them."""
    found, memory, _ = run(engine, store(f"m16n8.x{count}.trans.shared.b8", count), DATA)
    expected = DATA.view(np.uint8).copy().reshape(-1, 32)
    for matrix in range(count):
        for i in range(4):
            row = (8 * matrix + 2 * MEMBER + i % 2) * 5 % 32
            expected[row, GROUP + 8 * (i // 2)] = found[matrix] >> np.uint32(8 * i) & np.uint32(255)
    assert (memory.reshape(-1, 32) == expected).all()


def test_what_is_stored_is_loaded(engine):
    """A load of 16 × 16 gives what a product's rows need from what a store of two times 16 × 8 left."""
    statement = store("m16n8.x2.trans.shared.b8", 2) + load("m16n16.x1.trans.shared.b8", 2).replace("r[", "q[")
    statement = "unsigned q[2];" + statement + "r[2] = q[0]; r[3] = q[1];"
    found, _, _ = run(engine, statement, DATA)
    whole = np.zeros((16, 16), np.uint8)
    for matrix in range(2):
        for i in range(4):
            whole[GROUP + 8 * (i // 2), 8 * matrix + 2 * MEMBER + i % 2] = found[matrix] >> np.uint32(8 * i)
    for more in (0, 1):
        row = np.ascontiguousarray(whole[8 * more : 8 * more + 8]).view(np.uint32).ravel()
        assert (found[2 + more] == row).all()


@pytest.mark.parametrize(
    ("statement", "requests", "wavefronts"),
    [
        (load("m16n16.x1.trans.shared.b8", 2), "matrix_load_requests", 2),
        (load("m16n16.x2.trans.shared.b8", 4), "matrix_load_requests", 4),
        (load("m8n16.x1.shared.b8x16.b4x16_p64", 1), "matrix_load_requests", 1),
        (store("m16n8.x4.trans.shared.b8", 4), "matrix_store_requests", 4),
    ],
)
def test_counters(compiled, statement, requests, wavefronts):
    """Eight rows of 16 bytes are a wavefront, if they lie side by side."""
    line = 1 + KERNEL.splitlines().index("    STATEMENT")
    _, _, counters = run(compiled, statement, DATA, stride=16, observe=True)
    here = counters.lines[line]
    kind = "load" if "load" in requests else "store"
    assert here[requests] == 1 and here[f"shared_{kind}_wavefronts"] == wavefronts


@pytest.mark.parametrize(
    ("stride", "first", "error"), [(24, 0, Misaligned), (16, 4, Misaligned), (128, 0, OutOfBounds)]
)
@pytest.mark.parametrize("statement", [load("m16n16.x2.trans.shared.b8", 4), store("m16n8.x4.trans.shared.b8", 4)])
def test_wrong_places(engine, statement, stride, first, error):
    with pytest.raises(error):
        run(engine, statement, DATA, stride, first)


def test_lanes_without_a_row_may_point_anywhere(engine):
    statement = "if (threadIdx.x >= 16) at = 0x7FFFFFF1;" + load("m16n16.x1.trans.shared.b8", 2)
    found, _, _ = run(engine, statement, DATA)
    assert (found[0] != 0).any()


def test_part_of_a_warp(engine):
    with pytest.raises(PartialWarp):
        run(engine, "if (threadIdx.x < 16) " + load("m16n16.x1.trans.shared.b8", 2), DATA)


@pytest.mark.parametrize(
    "body",
    [
        "ldmatrix.sync.aligned.m8n8.x1.shared.b8 {%r0}, [%r8]",
        "ldmatrix.sync.aligned.m16n16.x4.trans.shared.b8 {%r0, %r1, %r2, %r3}, [%r8]",
        "ldmatrix.sync.aligned.m16n16.x1.shared.b8 {%r0, %r1}, [%r8]",
        "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r0}, [%r8]",
        "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b16 {%r0, %r1}, [%r8]",
        "ldmatrix.sync.aligned.m8n16.x1.trans.shared.b8x16.b4x16_p64 {%r0}, [%r8]",
        "ldmatrix.sync.aligned.m8n16.x1.shared.b8 {%r0}, [%r8]",
        "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16 {%r0}, [%r8]",
        "ldmatrix.sync.aligned.m8n16.shared.b8x16.b4x16_p64 {%r0}, [%r8]",
        "ldmatrix.sync.aligned.m8n8.x1.x2.shared.b16 {%r0}, [%r8]",
        "ldmatrix.sync.aligned.m8n8.x1.global.b16 {%r0}, [%r8]",
        "stmatrix.sync.aligned.m16n8.x1.shared.b8 [%r8], {%r0}",
        "stmatrix.sync.aligned.m16n8.x1.trans.shared.b16 [%r8], {%r0}",
        "stmatrix.sync.aligned.m16n8.x2.trans.shared.b8 [%r8], {%r0}",
        "stmatrix.sync.aligned.m16n16.x1.trans.shared.b8 [%r8], {%r0, %r1}",
        "movmatrix.sync.aligned.m8n8.b16 %r0, %r1",
    ],
)
def test_forms_that_the_manual_has_not_are_refused(body):
    with pytest.raises((PTXSyntaxError, Unsupported)):
        checked("sm_100a", body + ";")


@pytest.mark.parametrize("body", ["ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64 {%r0}, [%r8];",
                                  "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r8], {%r0};"])  # fmt: skip
def test_targets(body):
    checked("sm_120a", body)
    with pytest.raises(PTXSyntaxError, match=r"needs \.target sm_100a"):
        checked("sm_90a", body)
