def choose(registers, floats, n, gpu):
    """The block size and the number of blocks to launch on gpu for n elements."""
    return 128, (n + 127) // 128
