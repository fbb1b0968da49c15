def count_graphs(shapes):
    return len(set(shapes))
