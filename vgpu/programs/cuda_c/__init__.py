"""Whole CUDA C++ programs: the host's part is compiled by this machine's C++ compiler, the kernels by NVRTC."""
