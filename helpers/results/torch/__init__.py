"""What PyTorch's own tools saw of a program: operators, memory, allocations."""

import os

# Kineto, the library behind PyTorch's profiler, writes its steps to stderr, and a notebook would show them as an error.
os.environ.setdefault("KINETO_LOG_LEVEL", "99")
