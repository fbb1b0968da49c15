def send_both(first, second, room, device, work, rounds):
    stream = cp.cuda.Stream(non_blocking=True)
    for start, part in ((0, first), (first.size, second)):
        held = slice(start, start + part.size)
        room[held] = part
        device[held].set(room[held], stream)
    work((16,), (256,), (device, np.int32(device.size), rounds), stream=stream)
