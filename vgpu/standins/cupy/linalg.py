"""`cupy.linalg`: NumPy's linear algebra on device memory."""

from __future__ import annotations

import numpy as np

from vgpu.standins.cupy.forward import ForwardedFunction
from vgpu.standins.cupy.missing import getter
from vgpu.standins.cupy.tables import words

NAMES = words(
    """
    cholesky cond cross det eig eigh eigvals eigvalsh inv lstsq matmul matrix_norm matrix_power
    matrix_rank matrix_transpose norm pinv qr slogdet solve svd tensorinv tensorsolve
    """
)

LinAlgError = np.linalg.LinAlgError
for _name in NAMES:
    globals()[_name] = ForwardedFunction(f"linalg.{_name}", getattr(np.linalg, _name), first_is_array=True)

__getattr__ = getter("linalg.", {})
