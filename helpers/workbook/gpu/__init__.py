"""`warpbook gpu`: what only a machine with an NVIDIA GPU can show, in one file of results."""
