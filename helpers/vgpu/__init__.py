"""The virtual GPU: kernels compiled by NVIDIA's compilers to PTX, run warp by warp on this machine's CPU.

`compile` (CUDA C and Python to PTX) → `ptx` (text to dataclasses) → `lower` (one flat body, segments, what is the same
for all lanes, LLVM IR) → `runtime` (the code all kernels share, and machine code of it all) → `launch` (checks, then a
grid of blocks over worker threads; counts) → `faults` (what went wrong, in words). `isa` is the table of instructions
that `lower` and the slow `reference` interpreter both read; `storage` the device memory, its heap and its textures;
`operations` what the host asks for and in which stream; `standins` the faces that learners see: CuPy, Numba CUDA and
Triton. `base` is what all of these stand on.
"""
