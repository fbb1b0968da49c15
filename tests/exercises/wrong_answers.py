"""Wrong answers to every exercise, and the name of the mistake that each must be told: a module a chapter in `wrong/`.

A module has `ROWS` of (key, what is wrong, source, name of the mistake), and `HEADS`, which gives the kernels in
CUDA C their first lines by key.
"""

import importlib.util
from pathlib import Path

SHORT = {
    "INDEX": "int i = blockIdx.x * blockDim.x + threadIdx.x;",
    "XY": "int x = blockIdx.x * blockDim.x + threadIdx.x; int y = blockIdx.y * blockDim.y + threadIdx.y;",
}


def _module(path: Path):
    spec = importlib.util.spec_from_file_location(f"wrong_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_MODULES = [_module(path) for path in sorted(Path(__file__).with_name("wrong").glob("*.py"))]
ROWS = [row for module in _MODULES for row in module.ROWS]
HEADS = {key: head for module in _MODULES for key, head in getattr(module, "HEADS", {}).items()}


def source(key: str, language: str, text: str) -> str:
    """The whole source of a row: heads and decorators added. A source that brings its own head stays as it is."""
    if language == "cuda" and key in HEADS and "__global__" not in text:
        for name, long in SHORT.items():
            text = text.replace(name, long)
        return f'extern "C" __global__ void {HEADS[key]}\n{text}\n'
    return f"@cuda.jit\n{text}\n" if language == "numba" and "@cuda.jit" not in text else text + "\n"
