"""Every way in which a kernel can go wrong, in both languages, and what the user is told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from vgpu import faults, reference
from vgpu.base.errors import (
    Deadlock,
    DeviceAssert,
    KernelTimeout,
    LaunchError,
    Misaligned,
    OutOfBounds,
    Unsupported,
    VirtualGPUError,
)
from vgpu.hardware.device import current as device_now
from vgpu.hardware.device import device
from vgpu.launch.launch import launch
from vgpu.standins import cupy as cp
from vgpu.standins import numba_cuda as cuda
from vgpu.storage import memory
from vgpu.tools.sanitize import sanitize

# Host arrays are what these tests are about, not what Numba would advise.
pytestmark = pytest.mark.filterwarnings("ignore:Host array used in CUDA kernel")


def array(n, dtype=np.float32) -> np.ndarray:
    data = memory.array(n, dtype)
    data[:] = 1
    return data


SCALE = """extern "C" __global__ void scale(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 2 * in[i];
}"""


@pytest.fixture(autouse=True)
def the_next_launch_works(compiled):
    """Whatever a test did, the virtual GPU goes on."""
    yield
    data, out = array(100), array(100)
    compiled.c(SCALE)(4, 32, data, out, 100)
    assert (out == 2).all()


# ---------------------------------------------------------------- memory

CONSTANT = """__constant__ __align__(16) unsigned int keys[64];
extern "C" __global__ void k(unsigned int* out) {{
    __shared__ __align__(16) unsigned int tile[64];
    unsigned int i = threadIdx.x, *place, near = __cvta_generic_to_shared(tile);
    asm volatile("mov.u64 %0, %1;" : "=l"(place) : "l"(keys + i));  // or the compiler makes each write a trap
    tile[i] = i;
    __syncthreads();
    {}
    out[i] = keys[i];
}}"""
WRITES = {
    "a store": "*(volatile unsigned int*)place = 7;",
    "st.global": """asm volatile("st.global.u32 [%0], %1;" :: "l"(place), "r"(7));""",
    "a store of bytes": "((volatile char*)place)[1] = 7;",
    "a wide store": "if (i % 4 == 0) *(uint4*)place = make_uint4(1, 2, 3, 4);",
    "one lane's store": "if (i == 9) *(volatile unsigned int*)place = 7;",
    "a store that begins in an array": "*(volatile unsigned int*)(i < 20 ? out + i : place) = 7;",
    "an atomic": "atomicAdd(place, 1u);",
    "a reduction": """asm volatile("red.global.add.u32 [%0], 1;" :: "l"(place));""",
    "a bulk copy": """if (i == 0) asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 64;"
        :: "l"(place), "r"(near));""",
    "a bulk reduction": """if (i == 0) asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], "
        "[%1], 64;" :: "l"(place), "r"(near));""",
}


@pytest.fixture
def hopper():
    before = device_now().name
    device("H100")
    yield
    device(before)


@pytest.mark.parametrize("name", WRITES)
def test_constant_memory_cannot_be_written(name, hopper):
    kernel, out = cp.RawKernel(CONSTANT.format(WRITES[name]), "k"), cp.zeros(64, "uint32")
    for counts in (False, True):
        prepared = kernel.prepare((out,), grid=1, block=64)
        with pytest.raises(OutOfBounds, match=r"write to constant memory: .* which kernels can only read") as caught:
            launch(prepared.kernel, 1, 64, prepared.params, prepared.arrays, observe=counts)
        assert "`keys`" in str(caught.value) and "`__device__`" in str(caught.value)
    with pytest.raises(OutOfBounds):
        reference.run(prepared.kernel, None, 1, 64, prepared.params)
    assert sanitize(kernel, 1, 64, (out,)).errors[0].what.startswith("thread")
    assert not kernel_constants(prepared).any()


OF_OTHERS = """extern "C" __global__ void k(const float* x, float* out) {{
    volatile float own[4];
    __shared__ __align__(16) float tile[32];
    unsigned i = threadIdx.x, near = __cvta_generic_to_shared(tile);
    own[i % 4] = tile[i % 32] = i;
    long long address = (long long)&own[0], other = __shfl_xor_sync(0xffffffff, address, 1);
    long long step = __shfl_sync(0xffffffff, other, 0) - __shfl_sync(0xffffffff, address, 0);
    __syncthreads();
    {}
}}"""
READS_OF_OTHERS = {
    "all lanes": "out[i] = *(volatile float*)other;",
    "one lane": "if (i == 5) out[i] = *(volatile float*)other;",
    "beside lanes that read an array": "out[i] = *(i == 7 ? (volatile float*)other : x + i);",
    "of another warp": "out[i] = *(volatile float*)(address + (i == 3 ? 32 * step : 0));",
    "stores": "*(volatile float*)other = 3; out[i] = own[0];",
    "a bulk copy": """if (i == 0) asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 16;"
        :: "l"(address), "r"(near)); out[i] = own[0];""",
}


@pytest.mark.parametrize("name", READS_OF_OTHERS)
def test_a_thread_cannot_reach_the_local_memory_of_another(name, hopper):
    """On a GPU the same address means another place for each thread, so nothing is handed on by it."""
    kernel, out = cp.RawKernel(OF_OTHERS.format(READS_OF_OTHERS[name]), "k"), cp.zeros(64, "float32")
    prepared = kernel.prepare((cp.zeros(64, "float32"), out), grid=1, block=64)
    for counts in (False, True):
        with pytest.raises(OutOfBounds, match=r"in the local memory of thread \(\d+\)\.\n"):
            launch(prepared.kernel, 1, 64, prepared.params, prepared.arrays, observe=counts)
    with pytest.raises(OutOfBounds):
        reference.run(prepared.kernel, None, 1, 64, prepared.params)


def kernel_constants(prepared) -> np.ndarray:
    return np.asarray(prepared.kernel.module.variables.allocations["keys"])


def test_a_device_variable_and_what_it_reads_from_a_constant_are_fine():
    source = """__constant__ int keys[3] = {5, 6, 7};
    __device__ int seen[3];
    extern "C" __global__ void k(int* out) { int i = threadIdx.x; seen[i] = keys[i]; out[i] = seen[i]; }"""
    out = cp.zeros(3, "int32")
    cp.RawKernel(source, "k")((1,), (3,), (out,))
    assert out.get().tolist() == [5, 6, 7]


def test_reading_past_the_end(compiled):
    data, out = array(100), array(200)
    with pytest.raises(OutOfBounds) as caught:
        compiled.c(SCALE)(4, 32, data, out, 128)
    error, text = caught.value, str(caught.value)
    assert (error.line, error.block, error.thread) == (4, (3, 0, 0), (4, 0, 0))
    assert error.address == data.ctypes.data + 400
    assert "thread (4) of block (3)" in text and "read" in text and "line 4" in text
    assert "at `argument 0[100]`, but `argument 0` has 100 elements" in text
    assert "out[i] = 2 * in[i];" in text and "fix:" in text, "it shows the line and says what usually fixes it"


def test_writing_past_the_end(compiled):
    data, out = array(200), array(100)
    with pytest.raises(OutOfBounds) as caught:
        compiled.c(SCALE)(4, 32, data, out, 128)
    assert "wrote" in str(caught.value) and "argument 1" in str(caught.value)
    assert caught.value.thread == (4, 0, 0)


@pytest.mark.parametrize(
    ("statement", "thread"), [("out[(int)threadIdx.x - 3] = 1;", 0), ("atomicAdd(&out[threadIdx.x * 5], 1);", 20)]
)
def test_writes_before_the_beginning_and_atomics_are_checked(compiled, statement, thread):
    kernel = compiled.c(f'extern "C" __global__ void k(int* out) {{ {statement} }}')
    with pytest.raises(OutOfBounds) as caught:
        kernel(1, 32, array(100, np.int32))
    assert caught.value.thread == (thread, 0, 0)


@pytest.mark.parametrize(
    ("body", "says", "fix"),
    [
        ("if (i < n) out[i + 1] = 1;", "wrote 1 byte at `out[64]`", "the grid has no more threads than there are elem"),
        ("out[2 * i] = 1;", "`out[64]`", "the grid has no more threads than there are elements"),
        (
            "if (i == 3) out[i * 1000000000] = 1;",
            "at `out[-1294967296]`, before its start",
            "32-bit integers above",
        ),
        ("out[i - 1] = 1;", "at `out[-1]`, before its start", "check the index of the first threads: it is negative"),
    ],
)
def test_the_fix_is_one_of_the_index_where_the_grid_is_not_too_large(body, says, fix):
    source = f'extern "C" __global__ void k(char* out, int n) {{ int i = threadIdx.x; {body} }}'
    out = cp.zeros(64, cp.int8)
    with pytest.raises(OutOfBounds) as caught:
        cp.RawKernel(source, "k")((1,), (64,), (out, np.int32(64)))
    assert says in str(caught.value) and fix in str(caught.value)


def test_only_the_second_block_is_wrong(compiled):
    data, out = array(40), array(64)
    with pytest.raises(OutOfBounds) as caught:
        compiled.c(SCALE)(2, 32, data, out, 64)
    assert (caught.value.block, caught.value.thread) == ((1, 0, 0), (8, 0, 0))


def test_the_same_error_whatever_the_threads(compiled):
    kernel = compiled.c("""extern "C" __global__ void wild(int* out) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i % 7 == 3) out[i * 100000] = 1;
    }""")
    found = set()
    for threads in (1, 2, 5):
        for _ in range(3):
            with pytest.raises(OutOfBounds) as caught:
                kernel(20, 64, array(10, np.int32), threads=threads)
            found.add((caught.value.block, caught.value.thread, caught.value.line))
    assert found == {((0, 0, 0), (3, 0, 0), 3)}


FAR_IN_C = """__device__ float inside(const float* x, int at) {
    return x[at];
}
extern "C" __global__ void k(float* out, float* x, int far) {
    int i = threadIdx.x;
    BODY
}"""


def far_from(array) -> int:
    """The index in an array of floats of an element of another one, which was there and is freed."""
    gone = cp.zeros(4096, "float32")
    return (gone.data.ptr - array.__cuda_array_interface__["data"][0]) // 4


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("out[i] = x[i + far];", "x"),
        ("out[i + far] = x[i];", "out"),
        ("x[i + far] += 1.0f;", "x"),
        ("out[((int*)x)[i] * 0 + i + far] = x[i];", "out"),
        ("if (x[i + far] <= 1) out[i] = 1;", "x"),
        ("for (int k = i; k < 32; k += 32) out[k + far] = x[k];", "out"),
        ("atomicAdd(&out[i + far], x[i]);", "out"),
        ("out[i] = inside(out, i + far);", ""),
    ],
)
def test_an_index_far_out_is_one_of_the_array_that_the_line_names(order, body, named):
    """Not of the array that lies nearest, nor of one that lay there and is freed."""
    out, x = [cp.zeros(100, "float32") for _ in range(2)][::order]
    far = far_from(x if named == "x" else out)
    with pytest.raises(OutOfBounds, match=r"thread \(0\)") as caught:
        cp.RawKernel(FAR_IN_C.replace("BODY", body), "k")((1,), (32,), (out, x, np.int32(far)))
    text = str(caught.value)
    assert f"at `{named}[{far}]`" in text if named else f"`x[{far}]`" not in text


def test_an_index_far_out_in_numba_is_one_of_the_array_that_the_line_names():
    @cuda.jit
    def shifted(out, x, far):
        i = cuda.grid(1)
        out[i] = x[i + far]

    @cuda.jit
    def added(out, x, far):
        i = cuda.grid(1)
        cuda.atomic.add(out, i + far, x[i])

    out, x = (cuda.device_array(100, np.float32) for _ in range(2))
    for arrays in ((out, x), (x, out)):
        for kernel, named, array in ((shifted, "x", arrays[1]), (added, "out", arrays[0])):
            # Numba takes a negative index for one from the end, which is 100 further on.
            far = far_from(array)
            far -= 100 * (far < 0)
            with pytest.raises(OutOfBounds, match=rf"at `{named}\["):
                kernel[1, 32](*arrays, far)


def test_what_an_array_of_addresses_points_to_may_be_freed():
    """`table[i]` is read well; what it points to is not there any more."""
    source = 'extern "C" __global__ void k(float** table, float* out) { out[0] = table[0][0]; }'
    gone, out = cp.zeros(64, "float32"), cp.zeros(1, "float32")
    table = cp.asarray(np.array([gone.data.ptr], np.uint64))
    del gone  # no array is made from here on, which could take its place
    with pytest.raises(OutOfBounds, match="freed already"):
        cp.RawKernel(source, "k")((1,), (1,), (table, out))


@pytest.mark.parametrize("space", ["shared", "local"])
def test_other_memories_have_ends_too(compiled, space):
    declare = "__shared__ int a[40];" if space == "shared" else "int a[40];"
    kernel = compiled.c(f"""extern "C" __global__ void over(int* out, int far) {{
        {declare}
        for (int k = 0; k < 40; ++k) a[(k * 7 + out[0]) % 40] = k;
        a[(int)threadIdx.x * far] = 5;
        out[threadIdx.x] = a[(threadIdx.x + out[1]) % 40];
    }}""")
    out = array(64, np.int32)
    kernel(1, 32, out, 1)
    for far, thread, byte in ((30, 2, 240), (-30, 1, -120)):
        with pytest.raises(OutOfBounds, match=f"at byte {byte} of the (block|thread)'s {space} memory") as caught:
            kernel(1, 32, array(64, np.int32), far)
        assert caught.value.thread == (thread, 0, 0) and caught.value.line == 4


def test_null_pointers(compiled):
    with pytest.raises(OutOfBounds, match="null"):
        compiled.c(SCALE)(1, 32, 0, array(32), 32)


def test_use_after_free(compiled):
    data = array(64)
    address = data.ctypes.data
    memory.owner(data).free()
    with pytest.raises(OutOfBounds, match="freed"):
        compiled.c(SCALE)(1, 32, address, array(64), 32)


def test_misaligned_vectors(compiled):
    kernel = compiled.c("""extern "C" __global__ void vectors(float* in, float4* out) {
        float4* p = (float4*)(in + 1);
        out[threadIdx.x] = p[threadIdx.x];
    }""")
    with pytest.raises(Misaligned) as caught:
        kernel(1, 8, array(100), array(100))
    assert caught.value.line == 3 and caught.value.thread == (0, 0, 0)
    assert "no multiple of 16 (it is off by 4)" in str(caught.value)


def test_a_line_that_does_not_mention_the_array_is_helped():
    """NVRTC makes one copy of the two statements, and gives the load the store's line."""
    source = """extern "C" __global__ void copy(const float* in, float* out) {
        float4 v = reinterpret_cast<const float4*>(in + 3)[threadIdx.x];
        reinterpret_cast<float4*>(out)[threadIdx.x] = v;
    }"""
    with pytest.raises(Misaligned, match="read 16 bytes of `in` at an address that is no multiple of 16"):
        cp.RawKernel(source, "copy")((1,), (8,), (cp.zeros(64, cp.float32), cp.zeros(64, cp.float32)))


def test_misaligned_local_memory(compiled):
    kernel = compiled.c("""extern "C" __global__ void k(const int* at, long long* out) {
        char bytes[64];
        for (int i = 0; i < 64; ++i) ((volatile char*)bytes)[i] = i;
        out[threadIdx.x] = *(volatile long long*)(bytes + at[threadIdx.x]);
    }""")
    at, out = array(32, np.int32), array(32, np.int64)
    at[:] = 8
    kernel(1, 32, at, out)
    assert int(out[0]) == 0x0F0E0D0C0B0A0908
    at[5] = 4
    with pytest.raises(Misaligned, match="such as a float2") as caught:
        kernel(1, 32, at, out)
    assert caught.value.line == 4 and caught.value.thread == (5, 0, 0)


# ---------------------------------------------------------------- launches


@pytest.mark.parametrize(
    ("grid", "block", "says"),
    [
        (1, 1025, "1024"),
        (1, (32, 33), "1024"),
        (1, (1, 1, 65), "64"),
        (0, 32, "at least 1"),
        (1, 0, "at least 1"),
        ((1, 70000), 32, "65535"),
        (2.0, 32, "whole numbers"),
        ((1, 1, 1, 1), 32, "dimensions"),
    ],
)
def test_impossible_sizes(compiled, grid, block, says):
    with pytest.raises(LaunchError, match=says):
        compiled.c(SCALE)(grid, block, array(32), array(32), 32)


def test_too_much_shared_memory(compiled):
    with pytest.raises(LaunchError, match="shared memory"):
        compiled.c(SCALE)(1, 32, array(32), array(32), 32, shared_bytes=1 << 20)
    with pytest.raises(LaunchError, match="negative"):
        compiled.c(SCALE)(1, 32, array(32), array(32), 32, shared_bytes=-4)


def test_missing_parameters(compiled):
    from vgpu.launch import launch

    kernel = compiled.c(SCALE).prepare((array(1), array(1), 1)).kernel
    with pytest.raises(LaunchError, match="3 parameters"):
        launch.launch(kernel, 1, 1, [b"12345678"])
    with pytest.raises(LaunchError, match="4 bytes"):
        launch.launch(kernel, 1, 1, [bytes(8), bytes(8), bytes(8)])


# ---------------------------------------------------------------- kernels that do not end


def test_an_endless_loop_of_barriers_ends_too(compiled):
    kernel = compiled.c("""extern "C" __global__ void meet(volatile int* flag) {
        while (flag[0] == 1)
            __syncthreads();
    }""")
    with pytest.raises(KernelTimeout) as caught:
        kernel(1, 64, array(2, np.int32), timeout=0.3)
    assert caught.value.line in (2, 3)


def test_an_endless_loop_names_its_line(compiled):
    kernel = compiled.c("""extern "C" __global__ void forever(volatile int* flag) {
        int k = 0;
        while (flag[0] == 1)
            ++k;
        flag[1] = k;
    }""")
    start = time.monotonic()
    with pytest.raises(KernelTimeout) as caught:
        kernel(1, 32, array(2, np.int32), timeout=0.3)
    assert caught.value.line in (3, 4)
    assert f"line {caught.value.line}" in str(caught.value)
    assert time.monotonic() - start < 30, "it gives up, and does not wait for the loop"


def test_some_threads_never_reach_the_barrier(compiled):
    kernel = compiled.c("""extern "C" __global__ void stuck(int* out) {
        if (threadIdx.x < 16) {
            __syncthreads();
            out[0] = 1;
        } else {
            out[1] = 2;
            __syncthreads();
        }
    }""")
    with pytest.raises(Deadlock) as caught:
        kernel(1, 32, array(4, np.int32), timeout=5)
    for first, line in ((0, 3), (16, 7)):
        assert f"16 threads, the first ({first}), wait at line {line}: __syncthreads();" in str(caught.value)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (faults.Fault("unfinished", 3, detail=(7, 10), seconds=2.0), "within 2 s: 3 of its 10 blocks had begun"),
        (
            faults.Fault("all wait", 4, detail=(((4, ()),), 6)),
            "  3 of the 10 blocks have ended.\n  6 blocks cannot start before others end",
        ),
    ],
)
def test_blocks_that_ended_and_that_never_began_are_counted(compiled, fault, words):
    kernel = compiled.c(SCALE).prepare((array(1), array(1), 1)).kernel
    assert words in str(faults.error(kernel, kernel.compiled()[0], fault, (10, 1, 1), (32, 1, 1), ()))


@pytest.mark.parametrize(
    "body",
    [
        "while (f[0]) { f[1] = 0; } f[1] = 7;",
        "int n = f[0], x = 1; for (int i = 0; i < n; i++) x = x * 48271 ^ i; f[1] = n ? x : 7;",
    ],
)
def test_ctrl_c_stops_a_kernel(tmp_path, root, body):
    """A signal during a launch raises KeyboardInterrupt with the line, and the process can launch again.

    The launches before were short ones of the same shape, so that this one begins in the caller's thread.
    """
    script = tmp_path / "interrupted.py"
    script.write_text(
        f"body = {body!r}\n"
        + textwrap.dedent("""
        import struct
        import numpy as np
        from vgpu.launch import launch
        from vgpu.storage import memory
        from vgpu.compile import cuda_c_to_ptx

        source = 'extern "C" __global__ void spin(volatile int* f) { ' + body + " }"
        kernel = launch.load(cuda_c_to_ptx(source).ptx, language="cuda")["spin"]
        flag = memory.array(2, np.int32)
        flag[:] = 0
        pointer = struct.pack("<Q", flag.ctypes.data)
        for _ in range(2):
            launch.launch(kernel, 64, 32, [pointer])
        flag[:] = 2**31 - 1
        print("ready", flush=True)
        try:
            launch.launch(kernel, 64, 32, [pointer], timeout=60)
        except KeyboardInterrupt as stop:
            flag[0] = 0
            launch.launch(kernel, 1, 32, [pointer])
            print("stopped", flag[1], *stop.__notes__, flush=True)
        """)
    )
    process = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    try:
        assert process.stdout.readline() == "ready\n", process.stderr.read()
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert out.startswith("stopped 7 The kernel spin was interrupted: thread (0) of block"), (out, err)
    assert "at line 1" in out


# ---------------------------------------------------------------- asserts, traps and what is missing


def test_asserts_name_their_condition(compiled):
    kernel = compiled.c("""extern "C" __global__ void check(const int* in) {
    int v = in[threadIdx.x];
    assert(v > 0);
}""")
    data = array(32, np.int32)
    kernel(1, 32, data)
    data[5] = -1
    with pytest.raises(DeviceAssert) as caught:
        kernel(1, 32, data)
    assert "v > 0" in str(caught.value)
    assert caught.value.line == 3 and caught.value.thread == (5, 0, 0)


TRAP = 'extern "C" __global__ void stop(int n) { if (threadIdx.x == n) __trap(); }'


def test_traps(compiled):
    kernel = compiled.c(TRAP)
    kernel(1, 32, 99)
    with pytest.raises(DeviceAssert) as caught:
        kernel(1, 32, 7)
    assert caught.value.thread == (7, 0, 0)


def test_what_is_missing_says_so(compiled):
    kernel = compiled.c(
        """
        extern "C" __device__ int elsewhere(int);
        extern "C" __global__ void calls(int* out) { out[0] = elsewhere(1); }""",
        options=("--relocatable-device-code=true",),
    )
    with pytest.raises(Unsupported, match="in the same source"):
        kernel(1, 1, array(2, np.int32))


def test_every_error_is_a_virtual_gpu_error_and_a_familiar_one():
    assert issubclass(OutOfBounds, VirtualGPUError) and issubclass(OutOfBounds, IndexError)
    assert issubclass(KernelTimeout, TimeoutError) and issubclass(DeviceAssert, AssertionError)
    assert issubclass(Unsupported, NotImplementedError) and issubclass(LaunchError, RuntimeError)


# ---------------------------------------------------------------- the same in Python


def scale(data, out):
    i = cuda.grid(1)
    out[i] = 2 * data[i]


FIRST = scale.__code__.co_firstlineno


def test_python_kernels_report_their_own_line_and_names(compiled):
    with pytest.raises(OutOfBounds) as caught:
        compiled.py(scale)(2, 64, np.ones(100, np.float32), np.zeros(200, np.float32))
    error, text = caught.value, str(caught.value)
    assert (error.line, error.block, error.thread) == (FIRST + 2, (1, 0, 0), (36, 0, 0))
    assert "`data`" in text or "data" in text
    assert "100" in text and "out[i] = 2 * data[i]" in text


def test_python_writes_past_the_end(compiled):
    with pytest.raises(OutOfBounds, match="out") as caught:
        compiled.py(scale)(2, 64, np.ones(200, np.float32), np.zeros(100, np.float32))
    assert "wrote" in str(caught.value)


def test_python_loops_that_do_not_end(compiled):
    def forever(data):
        i = cuda.grid(1)
        while data[i] > 0:
            data[i] += 1.0

    first = forever.__code__.co_firstlineno
    with pytest.raises(KernelTimeout) as caught:
        compiled.py(forever)(1, 32, np.ones(32, np.float32), timeout=0.3)
    assert caught.value.line in (first + 2, first + 3)


def test_python_barriers_that_do_not_meet(compiled):
    def stuck(data):
        i = cuda.threadIdx.x
        if i < 8:
            data[i] = 1
            cuda.syncthreads()
        else:
            data[i] = 2
            cuda.syncthreads()

    first = stuck.__code__.co_firstlineno
    with pytest.raises(Deadlock) as caught:
        compiled.py(stuck)(1, 32, np.ones(32, np.float32), timeout=5)
    assert f"line {first + 4}" in str(caught.value) and f"line {first + 7}" in str(caught.value)


def test_python_launches_are_checked(compiled):
    with pytest.raises(LaunchError, match="1024"):
        compiled.py(scale)(1, 2048, np.ones(32, np.float32), np.ones(32, np.float32))


# ---------------------------------------------------------------- the reference interpreter agrees


@pytest.mark.parametrize(
    ("source", "arguments", "error", "line", "thread"),
    [
        (SCALE, lambda: (array(20), array(64), 64), OutOfBounds, 4, (20, 0, 0)),
        (
            'extern "C" __global__ void v(float* p) { *(float2*)(p + 1) = make_float2(1, 2); }',
            lambda: (array(8),),
            Misaligned,
            1,
            (0, 0, 0),
        ),
        (TRAP, lambda: (3,), DeviceAssert, 1, (3, 0, 0)),
    ],
)  # fmt: skip
def test_both_engines_find_the_same_fault(engine, source, arguments, error, line, thread):
    with pytest.raises(error) as caught:
        engine.c(source)(1, 32, *arguments())
    assert (caught.value.line, caught.value.thread) == (line, thread)


def test_the_reference_stops_endless_loops_and_finds_deadlocks(interpreted):
    spin = interpreted.c('extern "C" __global__ void spin(volatile int* p) { while (p[0]) p[1]++; }')
    with pytest.raises(KernelTimeout):
        spin(1, 32, array(2, np.int32), max_steps=4_000)
    stuck = interpreted.c("""extern "C" __global__ void stuck(int* out) {
        if (threadIdx.x < 16) { __syncthreads(); out[0] = 1; }
        else { out[1] = 2; __syncthreads(); }
    }""")
    with pytest.raises(Deadlock, match="line 2 and line 3"):
        stuck(1, 32, array(4, np.int32))


def test_threads_are_named_in_as_many_dimensions_as_the_launch_has(compiled):
    kernel = compiled.c("""extern "C" __global__ void k(float* x) { x[threadIdx.y * 16 + threadIdx.x] = 1; }""")
    x = array(240, np.float32)
    with pytest.raises(OutOfBounds, match=r"thread \(0, 15\) of block \(0\) wrote"):
        kernel(1, (16, 16), x)
    kernel = compiled.c("""extern "C" __global__ void k(float* x) {
        if (blockIdx.y == 2 && threadIdx.x == 1 && threadIdx.y == 2 && threadIdx.z == 3) x[999] = 1;
    }""")
    with pytest.raises(OutOfBounds, match=r"thread \(1, 2, 3\) of block \(0, 2\) wrote"):
        kernel((2, 3), (2, 3, 4), x)
