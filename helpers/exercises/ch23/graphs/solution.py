def count_graphs(shapes):
    first = shapes[0]
    varying, graphs = set(), 1
    for shape in shapes[1:]:
        new = {at for at, size in enumerate(shape) if size != first[at]}
        if not new <= varying:
            varying |= new
            graphs += 1
    return graphs
