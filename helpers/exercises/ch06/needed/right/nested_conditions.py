def needed(writer, reader):
    (block, thread), (other_block, other_thread) = writer, reader
    if block == other_block:
        if thread == other_thread:
            return "nothing"
        return "__syncwarp" if thread // 32 == other_thread // 32 else "__syncthreads"
    return "new launch"
