def send_both(first, second, room, device, work, rounds):
    stream = cp.cuda.Stream(non_blocking=True)
    n = first.size
    room[:n] = first
    device[:n].set(room[:n], stream)
    room[n:] = second
    device[n:].set(room[n:], stream)
    work((16,), (256,), (device, np.int32(device.size), rounds), stream=stream)
