def branches(x, y, z, out):
    """Smooth x and y, add them, smooth the sum; smooth z 8 times, add it; copy to out."""
    one, two, three = cuda.stream(), cuda.stream(), cuda.stream()
    blocks = (x.shape[1] + 127) // 128
    a, b, c = (cuda.to_device(part, stream=one) for part in (x, y, z))
    smooth_by_thread[blocks, 128, one](a, 1); smooth_by_thread[blocks, 128, one](b, 1)
    add_by_thread[blocks, 128, one](a, b); smooth_by_thread[blocks, 128, one](a, 1)
    smooth_by_thread[blocks, 128, one](c, 8); add_by_thread[blocks, 128, one](a, c)
    a.copy_to_host(out, stream=one)
