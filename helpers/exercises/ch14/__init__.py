"""Chapter 14, kernel fusion: bytes of chains, fused kernels forward and backward, and when to leave kernels apart."""

ORDER = ("chain", "dropout", "kernels", "combine", "rms_norm", "consumers", "swiglu_backward")
