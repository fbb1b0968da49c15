def choose(registers, floats, n, gpu):
    """The block size and the number of blocks to launch on gpu for n elements."""
    return 256, (n + 255) // 256
