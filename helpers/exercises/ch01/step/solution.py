def finished(kernels, launch, waits):
    host, gpu = 0, 0
    for number, kernel in enumerate(kernels):
        host = host + launch
        gpu = max(gpu, host) + kernel
        if number in waits:
            host = gpu
    return gpu
