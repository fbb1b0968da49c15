"""Outside kernels on the virtual GPU: a manifest of published programs, and a page of what became of each."""
