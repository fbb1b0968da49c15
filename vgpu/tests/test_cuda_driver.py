"""`cuda.bindings.driver` as programs see it: it answers what the GPU is, and says what needs a driver."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """\
import cuda.bindings.driver as cuda
from cuda.bindings import runtime

print(cuda.cuInit(0)[0].name, cuda.cuDeviceGetCount()[1], int(cuda.CUstream(7)), end=" ")
print(cuda.cuDeviceGetName(20, 0)[1].decode())
major = cuda.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
print(cuda.cuDeviceGetAttribute(major, cuda.cuDeviceGet(0)[1])[1], cuda.cuCtxSynchronize()[0].name)
error = cuda.CUresult.CUDA_ERROR_OUT_OF_MEMORY
print(cuda.cuGetErrorName(error)[1], cuda.cuGetErrorString(error), cuda.cuGetErrorName(12345)[0].name)
print(runtime.cudaGetErrorName(700)[1], runtime.cudaGetErrorString(700)[1])
cuda.cuMemAlloc(100)
"""


def test_what_a_program_asks_the_driver(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "vgpu", "run", "--gpu", "H100", "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines() == [
        "CUDA_SUCCESS 1 7 H100",
        "9 CUDA_SUCCESS",
        "b'CUDA_ERROR_OUT_OF_MEMORY' (<CUresult.CUDA_SUCCESS: 0>, b'out of memory') CUDA_ERROR_INVALID_VALUE",
        "b'cudaErrorIllegalAddress' b'an illegal memory access was encountered'",
    ]
    assert "cuMemAlloc needs a driver" in done.stderr and done.returncode != 0
