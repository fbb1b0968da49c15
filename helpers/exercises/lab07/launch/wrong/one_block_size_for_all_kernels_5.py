def choose(registers, floats, n, gpu):
    """The block size and the number of blocks to launch on gpu for n elements."""
    return 1024, (n + 1023) // 1024
