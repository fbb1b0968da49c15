"""The virtual GPU's counters beside Nsight Compute's: `python -m tests.gpu.ncu` on a machine with a GPU and `ncu`.

Every case is launched once on the GPU under `ncu`, and once on the virtual GPU. The table is printed, and written to
`tests/gpu/ncu.json` with the device, the versions and the date, so that it can be read where there is no GPU.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

TARGET = Path(__file__).with_name("ncu.json")
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
    return {key: int(found[key]) for key in COMPARED}


def nsight_names() -> dict[str, str]:
    """The counters that are compared, by Nsight Compute's names."""
    from vgpu.launch.counters import COUNTERS

    return {c.nsight: c.key for c in COUNTERS if c.key in COMPARED and c.nsight}


def read(text: str) -> list[dict[str, int]]:
    """The metrics of each launch in `ncu --csv --page raw`: a row of names, a row of units, a row a launch.

    Raises ValueError where the text has no such table: `ncu` says why in it.
    """
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        raise ValueError("ncu gave no table; it said:\n" + text[-2000:])
    rows = list(csv.DictReader(lines[start:]))
    names = nsight_names()
    missing = sorted(set(names) - set(rows[0]))
    if missing:
        raise ValueError(f"ncu does not know {', '.join(missing)}; see `ncu --query-metrics`")
    launches = [row for row in rows if row["ID"].strip()]
    return [{key: int(float(row[name].replace(",", ""))) for name, key in names.items()} for row in launches]


def compare(measured: list[dict[str, int]]) -> list[dict]:
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


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.gpu.ncu", description=__doc__)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    if parser.parse_args().child:
        on_the_gpu()
        return 0
    metrics = ",".join(nsight_names())
    command = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--kernel-name", "k", "--metrics", metrics,
               sys.executable, "-m", "tests.gpu.ncu", "--child"]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    rows = compare(read(done.stdout + done.stderr))
    version = subprocess.run(["ncu", "--version"], capture_output=True, text=True).stdout.strip().splitlines()[-1]
    import cupy

    properties = cupy.cuda.runtime.getDeviceProperties(0)
    report = {
        "device": properties["name"].decode(), "ncu": version, "cupy": cupy.__version__,
        "date": datetime.date.today().isoformat(), "rows": rows,
    }  # fmt: skip
    TARGET.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    differing = [row for row in rows if row["counted"] != row["measured"]]
    for row in differing:
        print(f"{row['case']:28} {row['counter']:26} counted {row['counted']:>9,} measured {row['measured']:>9,}")
    print(f"{len(rows)} counters of {len(CASES)} launches compared, {len(differing)} differ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
