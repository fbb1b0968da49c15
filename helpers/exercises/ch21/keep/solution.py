def keep(moments, noise):
    best = max(moment["score"] for moment in moments)
    for moment in moments:
        if moment["score"] >= best - noise:
            return moment["step"]
