def needed(writer, reader):
    if writer[0] != reader[0]:
        return "new launch"
    if writer[1] >> 5 != reader[1] >> 5:
        return "__syncthreads"
    return "__syncwarp" if writer[1] != reader[1] else "nothing"
