def place(i, threads):
    block = i // threads
    thread = i % threads
    return block, thread // 32, thread % 32
