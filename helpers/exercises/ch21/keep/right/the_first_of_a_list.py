def keep(moments, noise):
    scores = [moment["score"] for moment in moments]
    good = [at for at, score in enumerate(scores) if score >= max(scores) - noise]
    return moments[good[0]]["step"]
