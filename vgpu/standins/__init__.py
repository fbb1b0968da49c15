"""What stands in for a GPU's libraries: CuPy, Numba CUDA and Triton on the virtual GPU, and twins of real kernels."""
