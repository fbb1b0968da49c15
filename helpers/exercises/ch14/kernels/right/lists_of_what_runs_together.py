def kernels(kinds):
    groups = []
    for kind in kinds:
        if kind == "matmul":
            groups.append(["matmul"])
            continue
        last = groups[-1] if groups else ["matmul"]
        axes = {each for each in last if each != "pointwise"}
        if "matmul" in axes or (kind != "pointwise" and axes and kind not in axes):
            groups.append([kind])
        else:
            last.append(kind)
    return len(groups)
