"""PyTorch with CUDA for tests without: its profiler hands out the trace it was given, and `log` keeps the calls."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace


class FakeTorch(SimpleNamespace):
    """What `streams.measured` asks of PyTorch. `fails` is what the profiler's start raises, if anything."""

    def __init__(self, trace: str, device: int = 0, fails: Exception | None = None):
        self.log: list = []
        log = self.log

        class Profile:
            def __init__(self, activities, experimental_config=None):
                log.append(("profile", [*activities], experimental_config))

            def start(self):
                if fails is not None:
                    raise fails
                log.append("start")

            def stop(self):
                log.append("stop")

            def export_chrome_trace(self, path):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(trace)

        @contextlib.contextmanager
        def mark(name):
            log.append(name)
            yield
            log.append("end")

        super().__init__(
            __version__="2.13.0",
            version=SimpleNamespace(cuda="13.0"),
            empty=lambda *size, device: SimpleNamespace(zero_=lambda: log.append("zero")),
            cuda=SimpleNamespace(
                is_available=lambda: True,
                current_device=lambda: device,
                get_device_name=lambda index: "NVIDIA A100-SXM4-80GB",
                get_device_capability=lambda index: (8, 0),
                synchronize=lambda: log.append("wait"),
                default_stream=lambda: "the default stream",
                stream=contextlib.nullcontext,
            ),
            profiler=SimpleNamespace(
                ProfilerActivity=SimpleNamespace(CPU="CPU", CUDA="CUDA"),
                profile=Profile,
                record_function=mark,
                supported_activities=lambda: {"CPU", "CUDA"},
            ),
            autograd=SimpleNamespace(profiler=SimpleNamespace(_is_profiler_enabled=False)),
            _C=SimpleNamespace(_profiler=SimpleNamespace(_ExperimentalConfig=lambda **options: options)),
        )
