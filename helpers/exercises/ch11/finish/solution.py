def finish(to_gpu, kernel, back, chunks):
    slowest = max(to_gpu, kernel, back)
    return to_gpu + kernel + back + (chunks - 1) * slowest
