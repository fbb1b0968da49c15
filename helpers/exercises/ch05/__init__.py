"""Chapter 05, shared memory: turn, slide and multiply through a tile, without conflicts and for every shape."""

ORDER = ("turned", "wavefronts", "transpose", "stencil", "matmul")
