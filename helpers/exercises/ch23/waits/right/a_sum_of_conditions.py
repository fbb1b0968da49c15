def waits(operations):
    def waiting(kind, memory, asynchronous):
        copy = kind in {"H2D", "D2H"}
        return kind == "synchronise" or (copy and not (asynchronous and memory == "pinned"))

    return sum(waiting(*operation) for operation in operations)
