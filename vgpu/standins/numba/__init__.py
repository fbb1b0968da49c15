"""Numba on the virtual GPU: what `vgpu.standins.numba_cuda`, the stand-in for `numba.cuda`, is made of."""
