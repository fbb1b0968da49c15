def blocks(n, threads):
    return (n + threads - 1) // threads
