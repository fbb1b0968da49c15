"""Right answers to lab08.branches by routes other than the solution's."""

KEY = "lab08.branches"

ROWS = [
    # which way, the solution cell
    (
        "device_array and copy_to_device",
        """def branches(x, y, z, out):
    one, two, three = cuda.stream(), cuda.stream(), cuda.stream()
    blocks = -(-x.shape[1] // 128)
    a, b, c = (cuda.device_array(x.shape, x.dtype) for _ in range(3))
    yd, zd = cuda.event(timing=False), cuda.event(timing=False)
    c.copy_to_device(z, stream=three)
    smooth_by_thread[blocks, 128, three](c, 8)
    zd.record(three)
    b.copy_to_device(y, stream=two)
    smooth_by_thread[blocks, 128, two](b, 1)
    yd.record(two)
    a.copy_to_device(x, stream=one)
    smooth_by_thread[blocks, 128, one](a, 1)
    one_wait = yd.wait(one)
    add_by_thread[blocks, 128, one](a, b)
    smooth_by_thread[blocks, 128, one](a, 1)
    zd.wait(one)
    add_by_thread[blocks, 128, one](a, c)
    a.copy_to_host(out, stream=one)
""",
    ),
    (
        "join in three (z stream)",
        """def branches(x, y, z, out):
    one, two, three = cuda.stream(), cuda.stream(), cuda.stream()
    blocks = -(-x.shape[1] // 128)
    done = cuda.event()
    yd = cuda.event()
    c = cuda.to_device(z, stream=three)
    smooth_by_thread[blocks, 128, three](c, 8)
    a = cuda.to_device(x, stream=one)
    smooth_by_thread[blocks, 128, one](a, 1)
    b = cuda.to_device(y, stream=two)
    smooth_by_thread[blocks, 128, two](b, 1)
    yd.record(two)
    yd.wait(one)
    add_by_thread[blocks, 128, one](a, b)
    smooth_by_thread[blocks, 128, one](a, 1)
    done.record(one)
    done.wait(three)
    add_by_thread[blocks, 128, three](c, a)
    c.copy_to_host(out, stream=three)
""",
    ),
    (
        "sum in two",
        """def branches(x, y, z, out):
    one, two, three = cuda.stream(), cuda.stream(), cuda.stream()
    blocks = -(-x.shape[1] // 128)
    xd, zd = cuda.event(), cuda.event()
    c = cuda.to_device(z, stream=three)
    smooth_by_thread[blocks, 128, three](c, 8)
    zd.record(stream=three)
    b = cuda.to_device(y, stream=two)
    a = cuda.to_device(x, stream=one)
    smooth_by_thread[blocks, 128, one](a, 1)
    xd.record(stream=one)
    smooth_by_thread[blocks, 128, two](b, 1)
    xd.wait(stream=two)
    add_by_thread[blocks, 128, two](b, a)
    smooth_by_thread[blocks, 128, two](b, 1)
    zd.wait(stream=two)
    add_by_thread[blocks, 128, two](b, c)
    b.copy_to_host(out, stream=two)
""",
    ),
    (
        "all copies first",
        """def branches(x, y, z, out):
    one, two, three = cuda.stream(), cuda.stream(), cuda.stream()
    blocks = -(-x.shape[1] // 128)
    yd, zd = cuda.event(), cuda.event()
    c = cuda.to_device(z, stream=three)
    a = cuda.to_device(x, stream=one)
    b = cuda.to_device(y, stream=two)
    smooth_by_thread[blocks, 128, three](c, 8)
    zd.record(three)
    smooth_by_thread[blocks, 128, one](a, 1)
    smooth_by_thread[blocks, 128, two](b, 1)
    yd.record(two)
    yd.wait(one)
    add_by_thread[blocks, 128, one](a, b)
    smooth_by_thread[blocks, 128, one](a, 1)
    zd.wait(one)
    add_by_thread[blocks, 128, one](a, c)
    a.copy_to_host(out, stream=one)
""",
    ),
]
