def count_graphs(shapes):
    first, graphs = shapes[0], [shapes[0]]
    for shape in shapes:
        fits = any(all(has in (None, size) for has, size in zip(graph, shape, strict=True)) for graph in graphs)
        if not fits:
            newest = [
                None if size != start or has is None else start
                for has, size, start in zip(graphs[-1], shape, first, strict=True)
            ]
            graphs.append(newest)
    return len(graphs)
