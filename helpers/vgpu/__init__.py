"""The virtual GPU: kernels compiled by NVIDIA's compilers to PTX, run warp by warp on this machine's CPU.

`compile` (CUDA C and Numba to PTX) → `ptx` (text to dataclasses) → `lower` (one flat body, segments, what is the same
for all lanes, LLVM IR) → `jit` (machine code) → `launch` (checks, then a `grid` of blocks over `worker` threads) →
`counters`, `faults`. `isa` is the table of instructions that `lower` and the slow `reference` interpreter both read,
`runtime` the code all kernels share, `memory` the device memory, `textures` the books of textures and surfaces,
`schedule` the order of blocks, warps and lanes, `operations` what the host asks for and in which stream, `graphs`
what streams capture, `sanitize` finds races and other classic mistakes. `numba_cuda` (made of what is in `numba`),
`cupy` and `triton` are the faces that learners see.
"""
