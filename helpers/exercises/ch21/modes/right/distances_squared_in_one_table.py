def coverage(points, modes, reach, least):
    def near(point, mode):
        return sum((a - b) ** 2 for a, b in zip(point, mode)) < reach**2

    table = [[near(point, mode) for mode in modes] for point in points]
    reached = sum(sum(column) >= least for column in zip(*table))
    return reached, sum(map(any, table)) / len(points)
