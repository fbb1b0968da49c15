"""How fast the virtual GPU is: kernels to measure, and `python -m vgpu.bench`."""
