"""C's printf, as kernels use it."""

import math
import struct

import numpy as np
import pytest

from vgpu.base.printf import argument_bytes, argument_count, render
from vgpu.tests.corpus.row import HEAD


@pytest.mark.parametrize(
    ("fmt", "arguments", "text"),
    [
        ("plain 100%%\n", "", "plain 100%\n"),
        ("%d|%5d|%-5d|%05d|%+d|% d", ("<6i", -3, 42, 42, -42, 7, 7), "-3|   42|42   |-0042|+7| 7"),
        ("%u %x %X %#x %o %#o", ("<6I", 2**32 - 1, 255, 255, 255, 8, 8), "4294967295 ff FF 0xff 10 010"),
        ("%.3d|%8.4d|%.0d|", ("<3i", 7, -7, 0), "007|   -0007||"),
        ("%hhd %hd", ("<2i", 300, 70000), "44 4464"),
        ("%lld %llu", ("<qQ", -(2**40), 2**63), "-1099511627776 9223372036854775808"),
        ("%d %lld", ("<i4xq", 1, 2), "1 2"),
        ("%f|%.2f|%10.3f|%-10.1f|%+f", ("<5d", 1.5, 2.345, -1, 2, 0), "1.500000|2.35|    -1.000|2.0       |+0.000000"),
        ("%e %g %G %g", ("<4d", 12345.678, 1e-10, 1e20, 100), "1.234568e+04 1e-10 1E+20 100"),
        ("%f %5.1f %e", ("<3d", math.inf, -math.inf, math.nan), "inf  -inf nan"),
        ("%c%c", ("<2i", 72, 105), "Hi"),
        ("%*d|%-*d|%.*f", ("<4ii4xd", 5, 42, 4, 7, 2, 3.14159), "   42|7   |3.14"),
        ("%p", ("<Q", 0), "(nil)"),
        ("%k %d", ("<i", 5), "%k 5"),
    ],
)
def test_conversions(fmt, arguments, text):
    buffer = struct.pack(*arguments) if arguments else b""
    assert argument_bytes(fmt.encode()) == len(buffer)
    assert render(fmt.encode(), buffer) == text


def test_strings_are_fetched_by_address():
    buffer = struct.pack("<3Q", 1000, 0, 2000)
    texts = {1000: b"one", 2000: b"abcdef"}
    assert render(b"%5s|%s|%.3s", buffer, texts.__getitem__) == "  one|(null)|abc"


def test_arguments_are_counted_stars_included():
    assert argument_count(b"%d %*d %% %s") == 4


# ---------------------------------------------------------------- in kernels


def test_printf_reads_only_what_the_kernel_may_read(engine, capsys):
    """A kernel may hand on any number as a pointer to text, and texts without an end."""
    kernel = engine.c(r"""
        extern "C" __global__ void odd(const char* x) {
            printf("%s|%s|", (const char*)8, x + 3);
        }""")
    kernel(1, 1, np.frombuffer(b"abcdefgh", np.uint8).copy())
    assert capsys.readouterr().out == "(no readable string)|defgh|"


def test_printf(engine, capsys):
    kernel = engine.c(r"""
        extern "C" __global__ void speak(float x, const int* v) {
            if (threadIdx.x < 2) printf("thread %d of %d: %5.2f|%-6s|%c|%x|%lld|100%%\n", threadIdx.x, blockDim.x,
                                        x, threadIdx.x ? "one" : "zero", 'a' + threadIdx.x, v[0], 1ll << 40);
            if (threadIdx.x == 31) printf("end\n");
        }""")
    kernel(1, 32, 3.14159, np.array([255], np.int32))
    assert capsys.readouterr().out == (
        "thread 0 of 32:  3.14|zero  |a|ff|1099511627776|100%\n"
        "thread 1 of 32:  3.14|one   |b|ff|1099511627776|100%\n"
        "end\n"
    )


def test_printf_in_recursion(compiled, capsys):
    source = f"""__device__ void count(int n) {{ if (n == 0) return; printf("%d ", n); count(n - 1); }}
        {HEAD} if (i == 1) count(4); }}"""
    compiled.c(source, "k")(1, 32, np.zeros(1, np.int32), np.zeros(1, np.int32))
    assert capsys.readouterr().out == "4 3 2 1 "
