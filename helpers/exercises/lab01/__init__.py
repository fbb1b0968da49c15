"""Lab 01, maps: which thread has which element, with guards, in two dimensions, and by any launch."""

ORDER = ("steps", "mirror", "configure", "normalise")
