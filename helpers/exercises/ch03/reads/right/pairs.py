def constant_reads(which):
    return len({(thread // 32, entry) for thread, entry in enumerate(which)})
