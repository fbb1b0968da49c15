"""The virtual GPU's memory: allocations, the kernels' heap, textures, and where a kernel's variables lie."""
