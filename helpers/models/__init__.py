"""Models that no run is needed for: layouts, number formats, caches, DRAM, windows, pipelines and growth."""
