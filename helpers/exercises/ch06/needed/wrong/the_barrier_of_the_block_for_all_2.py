def needed(writer, reader):
    return "__syncthreads"
