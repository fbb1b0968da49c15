def needed(writer, reader):
    return "new launch"
