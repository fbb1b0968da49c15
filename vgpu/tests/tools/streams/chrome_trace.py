"""Traces as PyTorch's profiler writes them, by hand: the text's form, and what stands in each record."""

from __future__ import annotations

import json

from vgpu.tools.streams.exported import DEFAULT_STREAM, PROGRAM

HOST = 4711  # the process, and its one thread
BASE = 4416191370241.0  # microseconds, as large as in true traces


def event(category, name, start, length, pid, tid, **args):
    """One record; what is None is left out."""
    args = {key.replace("_", " ") if key.startswith("graph") else key: value for key, value in args.items()}
    found = {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": BASE + start, "dur": length}
    found["args"] = {key: value for key, value in args.items() if value is not None}
    return {key: value for key, value in found.items() if value is not None}


def call(name, start, length, correlation=None, category="cuda_runtime"):
    return event(category, name, start, length, HOST, HOST, cbid=211, correlation=correlation)


def kernel(name, start, length, stream, correlation=None, grid=(64, 1, 1), block=(256, 1, 1), device=0, **more):
    sizes = {"grid": grid and list(grid), "block": block and list(block)}
    return event("kernel", name, start, length, device, stream, queued=0, device=device, context=1, stream=stream,
                 correlation=correlation, **sizes, **more)  # fmt: skip


def copy(way, start, length, stream, nbytes, correlation=None, device=0):
    name = f"Memcpy {way}" if "(" in way else f"Memcpy {way} (Device -> Device)"
    return event("gpu_memcpy", name, start, length, device, stream, device=device, context=1, stream=stream,
                 correlation=correlation, bytes=nbytes)  # fmt: skip


def memset(start, length, stream, nbytes, correlation=None, device=0):
    return event("gpu_memset", "Memset (Device)", start, length, device, stream, device=device, context=1,
                 stream=stream, correlation=correlation, bytes=nbytes)  # fmt: skip


def sync(name, start, length, stream, correlation, device=0):
    return event("cuda_sync", name, start, length, device, max(stream, 1), cuda_sync_kind=name, stream=stream,
                 correlation=correlation, device=device, context=1)  # fmt: skip


def mark(name, start, length):
    return event("user_annotation", name, start, length, HOST, HOST)


def recorded(*events, program=(0, 1000), stream=7):
    """The records of a whole recording: the marks, and the memset that tells the default stream, around `events`."""
    return [
        {"ph": "M", "name": "process_name", "ts": BASE, "pid": HOST, "tid": 0, "args": {"name": "python"}},
        mark(DEFAULT_STREAM, -200, 50),
        call("cudaMemsetAsync", -190, 10, 1),
        memset(-150, 1, stream, 4, 1),
        call("cudaDeviceSynchronize", -140, 30, 2),
        mark(PROGRAM, *program),
        *events,
        call("cudaDeviceSynchronize", program[0] + program[1] + 5, 3, 999_999),
        {"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": BASE + 2000},
    ]


def text(events) -> str:
    """The whole trace."""
    return json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB"}],
                       "displayTimeUnit": "ms", "baseTimeNanoseconds": 1790857026000000000,
                       "traceEvents": events, "traceName": "trace.json"})  # fmt: skip
