import math


def take_back(log, tolerance):
    kept = [log[0]]
    back = []
    for entry in log[1:]:
        name, seconds, loss = entry
        same = math.fabs(loss - kept[0][2]) <= tolerance * math.fabs(kept[0][2])
        (kept if same and seconds < kept[-1][1] else back).append(entry)
    return [name for name, _, _ in back]
