def needed(writer, reader):
    return "nothing" if writer == reader else "new launch"
