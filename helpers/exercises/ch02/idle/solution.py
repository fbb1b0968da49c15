def idle(n, threads):
    blocks = (n + threads - 1) // threads
    warps_of_a_block = (threads + 31) // 32
    return blocks * warps_of_a_block * 32 - n
