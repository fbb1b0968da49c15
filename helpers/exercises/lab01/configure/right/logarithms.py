def configure(rows, columns):
    w = int(2 ** np.ceil(np.log2(min(columns, 32))))
    h = int(256 / w)
    return (int(np.ceil(columns / w)), int(min(65535, np.ceil(rows / h)))), (w, h)
