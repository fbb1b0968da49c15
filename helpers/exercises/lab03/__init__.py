"""Lab 03, shared memory: turn, slide, walk and multiply through tiles, near the least bytes and without conflicts."""

ORDER = ("rotate", "pool", "follow", "gram")
