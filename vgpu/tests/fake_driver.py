"""A CUDA driver for tests: as an object with ctypes' calling conventions, and as C to be built into a library."""

from __future__ import annotations

from collections.abc import Mapping

from vgpu.hardware import driver

WORDS = {100: b"no CUDA-capable device is detected", 214: b"uncorrectable ECC error encountered"}


def show_gpus(monkeypatch) -> None:
    """Forget for this test, and after it, that `driver` hid a GPU from the process."""
    for name in driver.HIDING:
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


class Driver:
    """A CUDA driver with one GPU, or one for each name and capability. `fails`: error codes of calls, by function."""

    def __init__(
        self, name=b"NVIDIA H200", capability=(9, 0), version=13000, devices=1, fails: Mapping[str, int] | None = None
    ):
        several = isinstance(name, tuple)
        self.names, self.capabilities = (name, capability) if several else ((name,), (capability,))
        self.version, self.devices = version, len(self.names) if several else devices
        self.fails, self.open = fails or {}, 0

    def __getattribute__(self, function):
        found = object.__getattribute__(self, function)
        if not function.startswith("cu"):
            return found
        return lambda *arguments: self.fails.get(function) or found(*arguments) or 0

    def cuInit(self, flags):
        pass

    def cuGetErrorString(self, code, words):
        words._obj.value = WORDS.get(code)
        return 0 if code in WORDS else 1

    def cuDriverGetVersion(self, version):
        version._obj.value = self.version

    def cuDeviceGetCount(self, count):
        count._obj.value = self.devices

    def cuDeviceGet(self, handle, ordinal):
        handle._obj.value = ordinal

    def cuDeviceGetName(self, buffer, length, handle):
        buffer.value = self.names[handle.value]

    def cuDeviceGetAttribute(self, value, attribute, handle):
        value._obj.value = self.capabilities[handle.value][attribute - 75]

    def cuDevicePrimaryCtxRetain(self, context, handle):
        self.open += 1

    def cuDevicePrimaryCtxRelease_v2(self, handle):
        self.open -= 1


C = """
#include <string.h>
int cuInit(unsigned flags) { return INIT; }
int cuGetErrorString(int code, const char** words) { *words = "no CUDA-capable device is detected"; return 0; }
int cuDriverGetVersion(int* version) { *version = VERSION; return 0; }
int cuDeviceGetCount(int* count) { *count = 1; return 0; }
int cuDeviceGet(int* handle, int ordinal) { *handle = 0; return 0; }
int cuDeviceGetName(char* name, int length, int handle) { strncpy(name, NAME, length); return 0; }
int cuDeviceGetAttribute(int* value, int attribute, int handle)
    { *value = attribute == 75 ? CAPABILITY / 10 : CAPABILITY % 10; return 0; }
int cuGetExportTable(const void** table, const void* id) { *table = 0; return 500; }  // NVRTC asks for one
"""
"""The same in C, for gcc -DINIT=0 -DVERSION=12040 -DNAME='"Tesla T4"' -DCAPABILITY=75: opening a GPU fails."""
