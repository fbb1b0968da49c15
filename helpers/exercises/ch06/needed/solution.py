def needed(writer, reader):
    if writer == reader:
        return "nothing"
    if writer[0] != reader[0]:
        return "new launch"
    if writer[1] // 32 == reader[1] // 32:
        return "__syncwarp"
    return "__syncthreads"
