"""Numba on the virtual GPU: what `helpers.vgpu.numba_cuda`, the stand-in for `numba.cuda`, is made of."""
