"""Tools for whoever writes Warpbook: pictures of the READMEs, validation of the time model, benchmarks."""
