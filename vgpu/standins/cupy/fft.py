"""`cupy.fft`: NumPy's Fourier transforms on device memory."""

from __future__ import annotations

import numpy as np

from vgpu.standins.cupy.forward import ForwardedFunction
from vgpu.standins.cupy.missing import getter
from vgpu.standins.cupy.tables import words

NAMES = words(
    """
    fft fft2 fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn rfft rfft2 rfftn
    """
)

for _name in NAMES:
    globals()[_name] = ForwardedFunction(f"fft.{_name}", getattr(np.fft, _name), first_is_array=True)
for _name in ("fftfreq", "rfftfreq"):
    globals()[_name] = ForwardedFunction(f"fft.{_name}", getattr(np.fft, _name))

__getattr__ = getter("fft.", {"config": "the transforms as they are: there are no plans to configure"})
