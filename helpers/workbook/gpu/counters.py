"""The virtual GPU's counters beside Nsight Compute's.

Every case is launched once on the GPU under `ncu`, which runs this file, and once on the virtual GPU.
"""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from helpers.workbook.gpu.outcome import NotRun, Outcome

# What counts the same things on both; instructions are PTX here and machine code there, so they are not compared.
COMPARED = (
    "global_load_requests", "global_load_sectors", "global_store_requests", "global_store_sectors",
    "global_atomic_requests", "global_atomic_sectors", "shared_load_requests", "shared_load_wavefronts",
    "shared_load_conflicts", "shared_store_requests", "shared_store_wavefronts", "shared_store_conflicts",
    "local_load_sectors", "local_store_sectors",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One launch: the body of a kernel `k(const T* in, T* out, int n)`, the element type, grid, block, elements."""

    name: str
    body: str
    kind: str = "float"
    grid: tuple[int, ...] = (8,)
    block: tuple[int, ...] = (256,)
    n: int = 1 << 16

    @property
    def source(self) -> str:
        t = self.kind
        return f'extern "C" __global__ void k(const {t}* in, {t}* out, int n) {{\n{self.body}\n}}\n'

    def arguments(self, asarray: Callable) -> tuple:
        import numpy as np

        dtype = {"float": np.float32, "double": np.float64, "int": np.int32, "char": np.int8, "float4": np.float32}
        width = 4 if self.kind == "float4" else 1
        data = (np.arange(self.n * width) % 61).astype(dtype[self.kind])
        return asarray(data), asarray(np.zeros_like(data)), np.int32(self.n)


_I = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
_T = "int t = threadIdx.x;"


def _copy(stride: int, offset: int) -> str:
    return f"{_I} out[i] = in[i * {stride} + {offset}];"


def _banks(stride: int) -> str:
    return f"""__shared__ float s[8192]; {_T} s[t * {stride} % 8192] = in[t]; __syncthreads();
out[blockIdx.x * blockDim.x + t] = s[t * {stride} % 8192];"""


def _transpose(width: int) -> str:
    return f"""__shared__ float s[32][{width}]; int x = threadIdx.x, y = threadIdx.y, side = 128;
int column = blockIdx.x * 32 + x, row = blockIdx.y * 32 + y; s[y][x] = in[row * side + column]; __syncthreads();
out[(blockIdx.x * 32 + y) * side + blockIdx.y * 32 + x] = s[x][y];"""


CASES = (
    *(Case(f"copy, stride {s}", _copy(s, 0)) for s in (1, 2, 3, 4, 8, 31)),
    *(Case(f"copy, offset {o}", _copy(1, o)) for o in (1, 7, 8)),
    Case("copy of bytes", _copy(1, 0), "char"),
    Case("copy of doubles", _copy(1, 0), "double"),
    Case("copy of doubles, stride 2", _copy(2, 0), "double"),
    Case("copy of float4", _copy(1, 0), "float4", n=1 << 14),
    Case("copy of float4, stride 2", _copy(2, 0), "float4", n=1 << 14),
    Case("copy by half of each warp", f"{_I} if (i % 32 < 16) out[i] = in[i];"),
    Case("gather", f"{_I} out[i] = in[(i * 40503u) % n];"),
    Case("scatter", f"{_I} out[(i * 40503u) % n] = in[i];"),
    Case("broadcast", f"{_I} out[i] = in[blockIdx.x];"),
    *(Case(f"shared, stride {s}", _banks(s)) for s in (1, 2, 4, 8, 16, 32)),
    Case("transpose", _transpose(32), grid=(4, 4), block=(32, 32)),
    Case("transpose, padded", _transpose(33), grid=(4, 4), block=(32, 32)),
    Case("shared float4", f"""__shared__ float4 s[256]; {_T} s[t] = in[t]; __syncthreads();
out[blockIdx.x * 256 + t] = s[255 - t];""", "float4", n=1 << 14),
    Case("shared double", f"""__shared__ double s[256]; {_T} s[t] = in[t]; __syncthreads();
out[blockIdx.x * 256 + t] = s[255 - t];""", "double"),
    Case("histogram, global", f"{_I} atomicAdd(&out[in[i]], 1);", "int"),
    Case("block reduction", f"""__shared__ float s[256]; {_T} s[t] = in[blockIdx.x * 256 + t]; __syncthreads();
for (int half = 128; half > 0; half /= 2) {{ if (t < half) s[t] += s[t + half]; __syncthreads(); }}
if (t == 0) out[blockIdx.x] = s[0];"""),
    Case("local array", f"""{_I} float a[64]; for (int j = 0; j < 64; j++) a[j] = in[i + j];
float sum = 0; for (int j = 0; j < 64; j++) sum += a[(j * 7 + (int)in[i]) & 63]; out[i] = sum;"""),
)  # fmt: skip


def on_the_gpu() -> None:
    """Launch every case once, in order; this is what runs under `ncu`."""
    import cupy

    for case in CASES:
        kernel = cupy.RawKernel(case.source, "k")
        kernel(case.grid, case.block, case.arguments(cupy.asarray))
    cupy.cuda.runtime.deviceSynchronize()


def counted(case: Case) -> dict[str, int]:
    """The counters of one case on the virtual GPU."""
    from vgpu.standins import cupy as cp
    from vgpu.tools.profile import profile

    kernel = cp.RawKernel(case.source, "k")
    found = profile(kernel, case.grid, case.block, case.arguments(cp.asarray))
    return {key: int(found[key] or 0) for key in COMPARED}


# -- Nsight Compute -------------------------------------------------------------------------------------

PLACES = ("/usr/local/cuda/bin", "/opt/nvidia/nsight-compute")
"""Where `ncu` may be if it isn't on the PATH: CUDA's packages and Nsight Compute's installer put it there."""
LOCKED = "ERR_NVGPUCTRPERM"
HOW_TO_UNLOCK = (
    f"profiling is locked on this machine ({LOCKED}). Only root may use the counters; its administrator can allow "
    f"others to: https://developer.nvidia.com/{LOCKED}"
)
LONGEST = 900  # seconds


def nsight_names() -> dict[str, tuple[str, ...]]:
    """For each counter that is compared the metrics of Nsight Compute that it is the sum of.

    Nsight Compute counts atomics without a result, which don't wait for memory, as reductions (`op_red`).
    """
    from vgpu.launch.counters import COUNTERS

    names = {each.key: (each.nsight,) for each in COUNTERS if each.key in COMPARED and each.nsight}
    return {key: (*own, *(each.replace("op_atom", "op_red") for each in own if "op_atom" in each))
            for key, own in names.items()}  # fmt: skip


def find_ncu(places: Sequence[str] = PLACES) -> str | None:
    """The path of `ncu`, of several installed ones the newest; None where there is none."""
    found = [path for place in places for path in (Path(place, "ncu"), *sorted(Path(place).glob("*/ncu"))[::-1])]
    return shutil.which("ncu") or next((str(path) for path in found if path.is_file()), None)


def read(text: str) -> list[dict[str, int | None]]:
    """The counters of each launch in `ncu --csv --page raw`: a row of names, a row of units, a row a launch.

    A metric that this GPU or this `ncu` doesn't have is None. Raises NotRun where the text has no such table: `ncu`
    says why in it.
    """
    lines = text.splitlines()
    start = next((number for number, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        raise NotRun(why_no_table(lines))
    rows = csv.DictReader(line for line in lines[start:] if line.startswith('"'))
    return [
        {key: _sum(row, names) for key, names in nsight_names().items()} for row in rows if row["ID"].strip()
    ]  # fmt: skip


def _sum(row: Mapping[str, str], names: Sequence[str]) -> int | None:
    try:
        return sum(int(float(row[name].replace(",", ""))) for name in names)
    except (KeyError, ValueError):  # "(!) n/a"
        return None


def why_no_table(lines: Sequence[str]) -> str:
    """What `ncu` says where it has nothing to show."""
    if any(LOCKED in line for line in lines):
        return HOW_TO_UNLOCK
    said = [line for line in lines if line.startswith("==ERROR==")] or [line for line in lines if line.strip()]
    return f"ncu gave no table; it said: {said[-1] if said else 'nothing'}"


def compare(measured: Sequence[Mapping[str, int | None]]) -> list[dict]:
    """One row a case and counter that either side does not leave at 0."""
    if len(measured) != len(CASES):
        raise ValueError(f"ncu saw {len(measured)} launches of {len(CASES)}")
    found = []
    for case, there in zip(CASES, measured, strict=True):
        here = counted(case)
        for key in COMPARED:
            if here[key] or there[key]:
                found.append({"case": case.name, "counter": key, "counted": here[key], "measured": there[key]})
    return found


def run(root: Path) -> Outcome:
    """Launch every case under `ncu`, and compare."""
    ncu = find_ncu()
    if ncu is None:
        raise NotRun("ncu isn't installed; it comes with the CUDA Toolkit, and as the package nsight-compute")
    metrics = ",".join(name for names in nsight_names().values() for name in names)
    command = [ncu, "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", "--kernel-name", "k",
               "--metrics", metrics, sys.executable, "-m", "helpers.workbook.gpu.counters"]  # fmt: skip
    # In some locales numbers are written 1.024, which another locale reads as 1.
    done = subprocess.run(
        command, cwd=root, env={**os.environ, "LC_ALL": "C"}, capture_output=True, text=True, timeout=LONGEST
    )
    rows = compare(read(done.stdout + "\n" + done.stderr))
    version = subprocess.run([ncu, "--version"], capture_output=True, text=True).stdout.strip().splitlines()
    both = [row for row in rows if row["measured"] is not None]
    differ = sum(row["counted"] != row["measured"] for row in both)
    summary = f"{len(both)} counters of {len(CASES)} launches compared, {differ} differ"
    if len(both) < len(rows):
        summary += f"; ncu has no value for {len(rows) - len(both)} more"
    return Outcome(summary, (), {"ncu": version[-1] if version else "", "rows": rows})


if __name__ == "__main__":
    on_the_gpu()
