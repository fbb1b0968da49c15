def finish(to_gpu, kernel, back, chunks):
    sent = worked = returned = 0
    for _ in range(chunks):
        sent += to_gpu
        worked = max(sent, worked) + kernel
        returned = max(worked, returned) + back
    return returned
