"""One corpus of kernels, each with what it is for and what NumPy says it leaves; `harness` runs them in every way."""
