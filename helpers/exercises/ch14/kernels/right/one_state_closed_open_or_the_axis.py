def kernels(kinds):
    count, state = 0, "closed"
    for kind in kinds:
        if kind == "matmul":
            count, state = count + 1, "closed"
        elif state == "closed":
            count, state = count + 1, "open" if kind == "pointwise" else kind
        elif kind != "pointwise":
            if state not in ("open", kind):
                count += 1
            state = kind
    return count
